"""Chats in which a model calls a tool with a tag for each value."""

import asyncio

from heddle_engine.base_loader import BaseLoader
from heddle_engine.engine import Engine
from heddle_engine.settings import Settings
from heddle_engine.text.sandbox import Sandbox
from tests.training.jobs_support import cpu_bases

PROPERTIES = {"days": {"type": "integer"}, "city": {"type": "string"}}
PARAMETERS = {"type": "object", "properties": PROPERTIES}
TOOL = {"type": "function", "function": {"name": "forecast", "parameters": PARAMETERS}}
ANSWER = """<tool_call>
<function=forecast>
<parameter=days>
3
</parameter>
<parameter=city>
7
</parameter>
</function>
</tool_call>"""


async def ask(folder):
    engine = Engine(Settings(), Sandbox())
    engine._bases = BaseLoader(cpu_bases())
    return await engine.chat(
        {
            "base": {"name": "hybrid", "path": str(folder)},
            "messages": [{"role": "user", "content": "Will it rain?"}],
            "tools": [TOOL],
            "structured_output": {"param": "structured_outputs", "kind": "choice", "options": [ANSWER]},
            "sampling": {"max_tokens": 200, "temperature": 0},
            "n": 1,
        },
        lambda *_: None,
    )


def test_the_schema_of_the_tool_tells_the_types_of_values(model_folders):
    [choice] = asyncio.run(ask(model_folders("qwen3_5")))["choices"]
    [call] = choice["tool_calls"]
    assert (call["name"], call["arguments"]) == ("forecast", '{"days": 3, "city": "7"}')
    assert choice["finish_reason"] == "tool_calls"
