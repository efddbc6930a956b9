"""An answer that no frame can hold ends while it grows; one that is streamed is in none as a whole."""

import asyncio
import json

import pytest

from heddle_engine.base_loader import BaseLoader
from heddle_engine.engine import Engine
from heddle_engine.errors import EngineError
from heddle_engine.protocol import MAX_FRAME_BYTES
from heddle_engine.serving import chat
from heddle_engine.settings import Settings
from heddle_engine.text.sandbox import Sandbox
from tests.training.jobs_support import cpu_bases


@pytest.fixture
def answers(model_folders):
    """`answers(*changes)` asks for as many chats at once, and returns their results or errors."""
    base = {"name": "tiny", "path": str(model_folders("qwen3"))}
    sampling = {"max_tokens": 20, "temperature": 0, "ignore_eos": True, "top_logprobs": 5}
    asked = {"base": base, "adapter": None, "prompt": "the rain", "sampling": sampling, "n": 4}

    async def all_of(*changes):
        engine = Engine(Settings(), Sandbox())
        engine._bases = BaseLoader(cpu_bases())
        chats = (engine.chat({**asked, **change}, lambda *_: None) for change in changes)
        return await asyncio.gather(*chats, return_exceptions=True)

    return lambda *changes: asyncio.run(all_of(*changes))


def test_an_answer_that_fits_no_frame_ends_as_soon_as_that_is_certain(answers, monkeypatch):
    """Tokens with alternatives take many times the memory of their JSON, and nothing could be sent of them."""
    monkeypatch.setattr(chat, "_MOST_ENTRIES", 200)
    large, small, streamed = answers({}, {"n": 1}, {"stream": True})
    assert isinstance(large, EngineError)
    assert (large.kind, large.message[:46]) == ("invalid", "The answer is too large: it has more than 200 ")
    # Of 80 tokens with 5 alternatives each.
    assert 30 <= large.usage["completion_tokens"] <= 40
    assert small["completion_tokens"] == 20
    assert streamed["completion_tokens"] == 80


def test_no_answer_is_refused_that_might_fit(answers):
    [result] = answers({})
    smallest = json.dumps({"id": 5, "logprob": 0.0, "bytes": []}, separators=(",", ":"))
    assert (len(smallest) + 1) * chat._MOST_ENTRIES <= MAX_FRAME_BYTES < (len(smallest) + 2) * chat._MOST_ENTRIES
    assert result["choices"][0]["tokens"][0]["top"][0].keys() == json.loads(smallest).keys()
