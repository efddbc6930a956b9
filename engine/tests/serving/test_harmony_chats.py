"""Chats with a model whose answers are in the harmony format."""

import asyncio
import json
import re

import jsonschema
import pytest

from heddle_engine.base_loader import BaseLoader
from heddle_engine.engine import Engine
from heddle_engine.serving.generation import End
from heddle_engine.serving.output import ChoiceText
from heddle_engine.serving.sampling import SamplingParams
from heddle_engine.settings import Settings
from heddle_engine.text.harmony import HarmonyParser
from heddle_engine.text.sandbox import Sandbox
from heddle_engine.text.tokenizer import TextTokenizer
from tests.models import HARMONY_SPECIALS, SHAPE, byte_tokenizer
from tests.training.jobs_support import cpu_bases

PARAMETERS = {
    "type": "object",
    "properties": {"a": {"type": "integer", "minimum": 0, "maximum": 99}, "word": {"enum": ["hi", "<"]}},
    "required": ["a"],
    "additionalProperties": False,
}
TOOLS = [{"type": "function", "function": {"name": name, "parameters": PARAMETERS}} for name in ("add", "math-sub")]
END_OF_MESSAGE, OF_FINAL = map(byte_tokenizer(SHAPE["vocab_size"], HARMONY_SPECIALS).token_to_id, ("<|end|>", "f"))
LIKELY = {str(END_OF_MESSAGE): 3, str(OF_FINAL): 2}
DRAWN = {"max_tokens": 300, "temperature": 1.0, "seed": "5", "logit_bias": LIKELY}
"""Arbitrary tokens; the reasoning, which nothing else holds, ends before long, and some answers have none."""


def test_the_marks_of_messages_are_read_though_text_leaves_special_tokens_out(model_folders):
    tokenizer = TextTokenizer(model_folders("gpt_oss"))
    answer = "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>final<|message|>4<|return|>"
    text = ChoiceText(tokenizer, SamplingParams.from_wire({}, 320), HarmonyParser(tools=False))
    ids = tokenizer.encode(answer)
    for place, token_id in enumerate(ids):
        text.feed(token_id, End("stop") if place == len(ids) - 1 else None)
    assert (text.reasoning, text.content) == ("Hm", "4")


async def ask(folder, emit=lambda *_: None, **more):
    engine = Engine(Settings(), Sandbox())
    engine._bases = BaseLoader(cpu_bases())
    messages = [{"role": "user", "content": "2 + 2?"}]
    base, sampling = {"name": "oss", "path": str(folder)}, {"max_tokens": 8, "temperature": 0}
    chat = {"base": base, "messages": messages, "sampling": sampling, "n": 1, **more}
    return await engine.chat(chat, emit)


def test_a_chat_is_answered(model_folders):
    result = asyncio.run(ask(model_folders("gpt_oss"), tools=TOOLS))
    [choice] = result["choices"]
    assert (len(choice["tokens"]), choice["finish_reason"]) == (8, "length")


def drawn(folder, **more):
    """Answers of a random model; some reason first."""
    choices = asyncio.run(ask(folder, sampling=DRAWN, n=8, **more))["choices"]
    reasoned = [choice["reasoning"] is not None for choice in choices]
    assert any(reasoned)
    assert not all(reasoned)
    return choices


@pytest.mark.parametrize("choice", ["required", "add"])
def test_a_call_that_must_be_made_fits_its_tool(choice, model_folders):
    named = {"tool_choice": choice if choice == "required" else {"name": choice}}
    called = set()
    for answer in drawn(model_folders("gpt_oss"), tools=TOOLS, **named):
        [call] = answer["tool_calls"]
        jsonschema.validate(json.loads(call["arguments"]), PARAMETERS)
        assert (answer["content"], answer["finish_reason"]) == (None, "tool_calls")
        called.add(call["name"])
    assert called == ({"add", "math-sub"} if choice == "required" else {"add"})


FORMS = {
    "a schema": (
        {"kind": "json", "schema": PARAMETERS},
        lambda said: jsonschema.validate(json.loads(said), PARAMETERS),
    ),
    "a pattern": ({"kind": "regex", "text": "[a-d]{4}"}, lambda said: re.fullmatch("[a-d]{4}", said)[0]),
    "choices": ({"kind": "choice", "options": ["yes", "no"]}, ["yes", "no"].index),
    "a grammar": ({"kind": "grammar", "text": 'root ::= "a" "b"'}, ["ab"].index),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_content_has_the_form_that_is_asked_for(form, model_folders):
    output, check = FORMS[form]
    output = {"param": "structured_outputs", **output}
    for answer in drawn(model_folders("gpt_oss"), structured_output=output, tools=TOOLS):
        check(answer["content"])
        assert (answer["tool_calls"], answer["finish_reason"]) == ([], "stop")


@pytest.mark.parametrize(
    "more",
    [
        {"tools": TOOLS, "tool_choice": "required"},
        {"structured_output": {"param": "response_format", "kind": "json", "schema": PARAMETERS}},
    ],
    ids=["call", "form"],
)
def test_a_stream_says_the_same(more, model_folders):
    folder, events = model_folders("gpt_oss"), []
    whole = drawn(folder, **more)
    asyncio.run(ask(folder, lambda *event: events.append(event), sampling=DRAWN, n=8, stream=True, **more))
    deltas = [data for event, data in events if event == "delta"]
    for choice in whole:
        own = [delta for delta in deltas if delta["index"] == choice["index"]]
        said, thought = ("".join(delta[part] for delta in own) for part in ("content", "reasoning"))
        assert (said or None, thought or None) == (choice["content"], choice["reasoning"])
        calls = [(call["name"], call["arguments"]) for delta in own for call in delta["tool_calls"]]
        assert calls == [(call["name"], call["arguments"]) for call in choice["tool_calls"]]


def test_an_answer_that_goes_on_with_a_message_has_no_header(model_folders):
    messages = [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "It is "}]
    output = {"param": "structured_outputs", "kind": "choice", "options": ["4", "5"]}
    going_on = {"messages": messages, "add_generation_prompt": False, "continue_final_message": True}
    [choice] = asyncio.run(ask(model_folders("gpt_oss"), structured_output=output, **going_on))["choices"]
    assert (choice["content"] in ("4", "5"), len(choice["tokens"])) == (True, 2)


def test_a_stop_string_ends_an_answer_that_is_held(model_folders):
    output = {"param": "structured_outputs", "kind": "regex", "text": "ab;c"}
    sampling = {**DRAWN, "stop": [";"]}
    choices = asyncio.run(ask(model_folders("gpt_oss"), structured_output=output, sampling=sampling, n=8))["choices"]
    stopped = {choice["content"] for choice in choices if not choice["reasoning"]}
    assert stopped == {"ab"}
