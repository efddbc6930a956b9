"""Chats in which a model calls a tool: Qwen3.5 with a tag for each value, Qwen3-Next as JSON, maybe after reasoning."""

import asyncio
import shutil

import pytest
from tokenizers import Tokenizer

from heddle_engine.base_loader import BaseLoader
from heddle_engine.engine import Engine
from heddle_engine.serving.chat import prompt_ids
from heddle_engine.settings import Settings
from heddle_engine.text.sandbox import Sandbox
from tests.training.jobs_support import cpu_bases

PROPERTIES = {"days": {"type": "integer"}, "city": {"type": "string"}}
PARAMETERS = {"type": "object", "properties": PROPERTIES}
TOOL = {"type": "function", "function": {"name": "forecast", "parameters": PARAMETERS}}
TAGGED = """<tool_call>
<function=forecast>
<parameter=days>
3
</parameter>
<parameter=city>
7
</parameter>
</function>
</tool_call>"""
AS_JSON = '<tool_call>\n{"name": "forecast", "arguments": {"days": 3}}\n</tool_call>'


@pytest.fixture
def thinking(model_folders, tmp_path):
    """A Qwen3-Next whose template begins each answer with reasoning, as that of Thinking does."""
    folder = shutil.copytree(model_folders("qwen3_next"), tmp_path / "thinking")
    tokenizer = (folder / "tokenizer.json").read_text()
    (folder / "tokenizer.json").write_text(tokenizer.replace("<extra_0>", "</think>"))
    template = (folder / "chat_template.jinja").read_text()
    begun = template.replace("<|im_start|>assistant\n{% endif", "<|im_start|>assistant\n<think>\n{#</think>#}{% endif")
    assert begun != template
    (folder / "chat_template.jinja").write_text(begun)
    return folder


async def ask(folder, answer, **sampling):
    engine = Engine(Settings(), Sandbox())
    engine._bases = BaseLoader(cpu_bases())
    return await engine.chat(
        {
            "base": {"name": "hybrid", "path": str(folder)},
            "messages": [{"role": "user", "content": "Will it rain?"}],
            "tools": [TOOL],
            "structured_output": {"param": "structured_outputs", "kind": "choice", "options": [answer]},
            "sampling": {"max_tokens": 200, "temperature": 0, **sampling},
            "n": 1,
        },
        lambda *_: None,
    )


def test_the_schema_of_the_tool_tells_the_types_of_values(model_folders):
    [choice] = asyncio.run(ask(model_folders("qwen3_5"), TAGGED))["choices"]
    [call] = choice["tool_calls"]
    assert (call["name"], call["arguments"]) == ("forecast", '{"days": 3, "city": "7"}')
    assert choice["finish_reason"] == "tool_calls"


def test_a_call_that_is_written_as_json_keeps_its_arguments(model_folders):
    [choice] = asyncio.run(ask(model_folders("qwen3_next"), AS_JSON))["choices"]
    assert [(call["name"], call["arguments"]) for call in choice["tool_calls"]] == [("forecast", '{"days": 3}')]
    assert choice["reasoning"] is None


def test_what_a_template_begins_as_reasoning_is_reasoning_up_to_its_end(thinking):
    end = Tokenizer.from_file(str(thinking / "tokenizer.json")).token_to_id("</think>")
    [endless] = asyncio.run(ask(thinking, AS_JSON, max_tokens=20, logit_bias={str(end): -100}))["choices"]
    assert (bool(endless["reasoning"]), endless["content"], endless["finish_reason"]) == (True, "", "length")
    [brief] = asyncio.run(ask(thinking, AS_JSON, logit_bias={str(end): 100}))["choices"]
    assert [(call["name"], call["arguments"]) for call in brief["tool_calls"]] == [("forecast", '{"days": 3}')]
    assert (brief["tokens"][0]["id"], brief["content"]) == (end, None)


def test_only_reasoning_that_the_template_begins_is_ended_before_a_call_that_must_be_made(thinking, tmp_path):
    """A user may write of the mark where the template begins none."""
    silent = shutil.copytree(thinking, tmp_path / "silent")
    template = (silent / "chat_template.jinja").read_text()
    (silent / "chat_template.jinja").write_text(template.replace("<think>\n{#</think>#}", "{#</think>#}"))
    messages = [{"role": "user", "content": "What does <think> mean?"}]
    params = {"messages": messages, "tools": [TOOL], "tool_choice": "required"}
    for folder, reasoning in ((thinking, "<think>\n</think>\n\n"), (silent, "")):
        base = cpu_bases().resolve({"name": folder.name, "path": str(folder)})
        text = base.tokenizer.decode(prompt_ids(base, params))
        assert text.endswith(f'<|im_start|>assistant\n{reasoning}<tool_call>\n{{"name":')


def test_a_call_without_the_marks_around_it_is_one_where_the_template_teaches_tags(model_folders, tmp_path):
    """Qwen3-Coder forgets the mark before a call now and then, which vLLM takes for a call all the same."""
    folder = shutil.copytree(model_folders("qwen3_next"), tmp_path / "coder")
    template = folder / "chat_template.jinja"
    template.write_text("{#- <function=#}" + template.read_text())
    bare = TAGGED.removeprefix("<tool_call>\n")
    [choice] = asyncio.run(ask(folder, bare))["choices"]
    [call] = choice["tool_calls"]
    assert (call["name"], call["arguments"]) == ("forecast", '{"days": 3, "city": "7"}')
    assert (choice["content"], choice["finish_reason"]) == (None, "tool_calls")
    [other] = asyncio.run(ask(model_folders("qwen3_next"), bare))["choices"]
    assert (other["content"], other["tool_calls"]) == (bare, [])
