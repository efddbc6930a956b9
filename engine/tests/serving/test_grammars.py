"""How many compiled grammars stay in memory."""

import asyncio
import gc

from heddle_engine.serving.grammars import Grammars
from heddle_engine.text.grammar import GrammarMatcher, GrammarSource
from heddle_engine.text.sandbox import Sandbox
from tests.training.jobs_support import cpu_bases


def num_matchers():
    gc.collect()
    return sum(isinstance(each, GrammarMatcher) for each in gc.get_objects())


def test_of_many_short_grammars_128_stay(model_folders):
    """A pattern, or a list of choices, may be another with each request."""
    base = cpu_bases().resolve({"name": "test", "path": str(model_folders("qwen3"))})

    async def ask_for(count):
        grammars = Grammars(Sandbox(beside_serving=False))
        for number in range(count):
            await grammars.matcher(base, "", GrammarSource("regex", f"a{number}", "guided_regex"))
        return grammars

    before = num_matchers()
    grammars = asyncio.run(ask_for(200))
    assert num_matchers() - before == 128
    assert grammars.num_compiling == 0
