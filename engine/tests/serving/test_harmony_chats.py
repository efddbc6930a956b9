"""Chats with a model whose answers are in the harmony format."""

import asyncio

import pytest

from heddle_engine.base_loader import BaseLoader
from heddle_engine.engine import Engine
from heddle_engine.errors import EngineError
from heddle_engine.serving.generation import End
from heddle_engine.serving.output import ChoiceText
from heddle_engine.serving.sampling import SamplingParams
from heddle_engine.settings import Settings
from heddle_engine.text.harmony import HarmonyParser
from heddle_engine.text.sandbox import Sandbox
from heddle_engine.text.tokenizer import TextTokenizer
from tests.training.jobs_support import cpu_bases

TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
SCHEMA = {"param": "response_format", "kind": "json", "schema": {"type": "object"}}


def test_the_marks_of_messages_are_read_though_text_leaves_special_tokens_out(model_folders):
    tokenizer = TextTokenizer(model_folders("gpt_oss"))
    answer = "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>final<|message|>4<|return|>"
    text = ChoiceText(tokenizer, SamplingParams.from_wire({}, 320), HarmonyParser(tools=False))
    ids = tokenizer.encode(answer)
    for place, token_id in enumerate(ids):
        text.feed(token_id, End("stop") if place == len(ids) - 1 else None)
    assert (text.reasoning, text.content) == ("Hm", "4")


async def ask(folder, **more):
    engine = Engine(Settings(), Sandbox())
    engine._bases = BaseLoader(cpu_bases())
    messages = [{"role": "user", "content": "2 + 2?"}]
    base, sampling = {"name": "oss", "path": str(folder)}, {"max_tokens": 8, "temperature": 0}
    chat = {"base": base, "messages": messages, "sampling": sampling, "n": 1, **more}
    return await engine.chat(chat, lambda *_: None)


def test_a_chat_is_answered(model_folders):
    result = asyncio.run(ask(model_folders("gpt_oss"), tools=[TOOL]))
    [choice] = result["choices"]
    assert (len(choice["tokens"]), choice["finish_reason"]) == (8, "length")


@pytest.mark.parametrize(
    ("param", "more"),
    [
        ("tool_choice", {"tools": [TOOL], "tool_choice": "required"}),
        ("tool_choice", {"tools": [TOOL], "tool_choice": {"name": "add"}}),
        ("response_format", {"structured_output": SCHEMA}),
    ],
)
def test_what_asks_for_a_grammar_is_refused(param, more, model_folders):
    with pytest.raises(EngineError, match="The answers of oss are in the harmony format") as caught:
        asyncio.run(ask(model_folders("gpt_oss"), **more))
    assert (caught.value.kind, caught.value.param) == ("invalid", param)
