"""Answers of a random model that must follow a schema, a pattern, a grammar or a list (inference-api 3)."""

import json
import re
import shutil

import jsonschema
import pytest
import torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

SEEDS = 6

POINT = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 6},
        "kind": {"enum": ["circle", 'a "quoted" one', None, 3]},
        "sizes": {"type": "array", "items": {"type": "integer", "minimum": -5, "maximum": 99}, "maxItems": 3},
    },
    "required": ["name", "kind"],
    "additionalProperties": False,
}


@pytest.fixture
def answers(client, chat):
    """`answers(…)` asks for several answers and returns their contents and finish reasons."""

    def ask(sampling=(), **output):
        params = chat(
            sampling={"max_tokens": 400, "temperature": 1.0, "seed": "7", **dict(sampling)},
            structured_output={"param": "structured_outputs", **output},
            n=SEEDS,
        )
        _, result = client.call("chat", params)
        assert "choices" in result, result
        return [(choice["content"], choice["finish_reason"]) for choice in result["choices"]]

    return ask


SAMPLINGS = [
    {},
    {"temperature": 0},
    {"top_k": 1},
    {"top_p": 0.3, "min_p": 0.1},
    {"repetition_penalty": 3.0, "frequency_penalty": 2.0},
    {"ignore_eos": True},
    {"min_tokens": 300},
]


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=json.dumps)
def test_every_answer_is_of_the_schema(answers, sampling):
    for content, reason in answers(sampling, kind="json", schema=POINT):
        jsonschema.validate(json.loads(content), POINT)
        assert reason == "stop"


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=json.dumps)
def test_every_answer_is_one_of_the_choices(answers, sampling):
    options = ["yes", "no", 'neither "nor"\n']
    told = answers(sampling, kind="choice", options=options)
    assert {reason for _, reason in told} == {"stop"}
    assert {content for content, _ in told} <= set(options)


def test_every_answer_matches_the_pattern(answers):
    pattern = r"[A-Z][a-z]{2,5} [0-9]{4}-(0[1-9]|1[0-2])"
    told = answers(kind="regex", text=pattern)
    assert all(re.fullmatch(pattern, content) for content, _ in told)
    assert len({content for content, _ in told}) > 1


@pytest.mark.parametrize(
    "grammar",
    ['root ::= digit ("+" digit){3}\ndigit ::= [0-9]', 'start: D ("+" D) ~ 3\nD: /[0-9]/'],
    ids=["gbnf", "lark"],
)
def test_every_answer_is_of_the_grammar(answers, grammar):
    for content, _ in answers(kind="grammar", text=grammar):
        assert re.fullmatch(r"[0-9](\+[0-9]){3}", content)


def test_the_logprobs_are_those_of_the_free_model(client, chat, base):
    params = chat(
        sampling={"max_tokens": 60, "temperature": 1.0, "seed": "3"},
        structured_output={"param": "p", "kind": "regex", "text": "[a-d]{12}"},
    )
    _, result = client.call("chat", params)
    tokens = result["choices"][0]["tokens"]
    prompt, answer = result["prompt_token_ids"], [token["id"] for token in tokens]
    model = AutoModelForCausalLM.from_pretrained(base["path"], dtype=torch.float32)
    with torch.inference_mode():
        logprobs = model(torch.tensor([prompt + answer])).logits[0, len(prompt) - 1 : -1].log_softmax(-1)
    expected = logprobs.gather(1, torch.tensor(answer)[:, None])[:, 0].tolist()
    assert [token["logprob"] for token in tokens] == pytest.approx(expected, abs=1e-4)


def test_others_in_the_batch_are_as_free_as_alone(client, chat):
    free = chat(content="the rain in spain", sampling={"max_tokens": 40, "temperature": 1.0, "seed": "11"})
    held = chat(sampling={"max_tokens": 200}, structured_output={"param": "p", "kind": "json", "schema": POINT})
    _, alone = client.call("chat", free)
    begun = [client.send("chat", params) for params in (held, free)]
    finished = {}
    while len(finished) < len(begun):
        frame = client.receive()
        finished[frame["id"]] = frame["result"]
    together = finished[begun[1]]
    assert [t["id"] for t in together["choices"][0]["tokens"]] == [t["id"] for t in alone["choices"][0]["tokens"]]
    jsonschema.validate(json.loads(finished[begun[0]]["choices"][0]["content"]), POINT)


def test_a_streamed_answer_is_of_the_schema(client, chat):
    params = chat(
        sampling={"max_tokens": 400, "temperature": 1.0},
        structured_output={"param": "p", "kind": "json", "schema": POINT},
        stream=True,
    )
    events, result = client.call("chat", params)
    content = "".join(data["content"] for event, data in events if event == "delta")
    jsonschema.validate(json.loads(content), POINT)
    assert result["choices"][0]["finish_reason"] == "stop"


def test_an_answer_that_is_cut_off_says_so(client, chat):
    output = {"param": "p", "kind": "json", "schema": {"type": "string", "minLength": 50}}
    _, result = client.call("chat", chat(sampling={"max_tokens": 5}, structured_output=output))
    assert result["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ({"kind": "json", "schema": {"type": "nope"}}, "Invalid type: nope"),
        ({"kind": "json", "schema": {"not": {}}}, 'Unimplemented keys: ["not"]'),
        ({"kind": "json", "schema": {"$ref": "http://127.0.0.1/x"}}, "http://127.0.0.1/x"),
        ({"kind": "json", "schema": {"type": "integer", "minimum": 3, "maximum": 2}}, "minimum"),
        ({"kind": "regex", "text": "(a"}, "unclosed group"),
        ({"kind": "regex", "text": "(a{1000}){1000}"}, "too many"),
        ({"kind": "regex", "text": "\ud83d"}, "surrogates not allowed"),
        ({"kind": "grammar", "text": "nonsense here"}, "line 1"),
        ({"kind": "grammar", "text": "start: other"}, "other"),
    ],
    ids=json.dumps,
)
def test_a_form_that_cannot_be_followed_is_refused_before_the_answer_begins(client, chat, output, words):
    output = {"param": "guided_any", **output}
    _, error = client.call("chat", chat(structured_output=output))
    assert (error["kind"], error["param"]) == ("invalid", "guided_any")
    assert error["message"].startswith("The answer cannot be held to guided_any: ")
    assert words in error["message"]
    assert len(error["message"]) < 700
    assert "backtrace" not in error["message"]


def tool(name, properties, **more):
    parameters = {"properties": properties, "required": list(properties), "additionalProperties": False, **more}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [
    tool("walk", {"steps": {"type": "integer", "minimum": 0, "maximum": 9}}),
    # A grammar cannot follow `not`, so checking it is left to the tool.
    tool('say "it"', {"word": {"$ref": "#/$defs/word"}}, **{"$defs": {"word": {"enum": ["hi", "}"]}}, "not": {}}),
    tool("stop", {}, type="object"),
    {"type": "function", "function": {"name": "bare"}},
    {"type": "function", "function": {"name": "odd", "parameters": ["no schema"]}},
]
NAMES = [each["function"]["name"] for each in TOOLS]
TEMPLATES = {"hermes": "<tool_call>", "mistral": "[TOOL_CALLS]", "llama3": '<|python_tag|> "parameters"'}


@pytest.mark.parametrize("kind", TEMPLATES)
@pytest.mark.parametrize("choice", ["required", *NAMES[:3]])
def test_a_call_that_must_be_made_can_be_read_and_fits_its_tool(client, chat, model_folders, tmp_path, kind, choice):
    folder = shutil.copytree(model_folders("qwen3"), tmp_path / "model")
    messages = "{% for message in messages %}{{ message.content }}{% endfor %}"
    (folder / "chat_template.jinja").write_text("{#" + TEMPLATES[kind] + "#}" + messages)
    params = chat(
        base={"name": kind, "path": str(folder)},
        tools=TOOLS if choice == "required" else TOOLS[:3],
        tool_choice=choice if choice == "required" else {"name": choice},
        sampling={"max_tokens": 150, "temperature": 1.0, "seed": "5"},
        n=2 * SEEDS,
    )
    _, result = client.call("chat", params)
    assert "choices" in result, result
    named = set()
    # Answers cut off by their length are left out: a random model may call on and on, or never end an open object.
    for answer in (choice for choice in result["choices"] if choice["finish_reason"] != "length"):
        assert (answer["content"], answer["finish_reason"]) == (None, "tool_calls")
        for call in answer["tool_calls"]:
            given = TOOLS[NAMES.index(call["name"])]["function"].get("parameters")
            parameters = given if isinstance(given, dict) else {}
            jsonschema.validate(json.loads(call["arguments"]), {**parameters, "type": "object", "not": False})
            named.add(call["name"])
    assert len(named) > 1 if choice == "required" else named == {choice}


def test_a_call_that_must_be_made_does_not_begin_with_reasoning(client, chat, model_folders, tmp_path):
    folder = shutil.copytree(model_folders("qwen3"), tmp_path / "model")
    (folder / "chat_template.jinja").write_text("{#<think></think><tool_call>#}{{ messages[0].content }}")
    tokenizer = (folder / "tokenizer.json").read_text()
    (folder / "tokenizer.json").write_text(tokenizer.replace("<extra_0>", "<think>"))
    think = Tokenizer.from_file(str(folder / "tokenizer.json")).token_to_id("<think>")
    params = chat(base={"name": "thinking", "path": str(folder)}, tools=TOOLS[:1])
    params["sampling"] = {"max_tokens": 150, "temperature": 0, "logit_bias": {str(think): 100}}
    _, result = client.call("chat", {**params, "tool_choice": "required"})
    assert [call["name"] for call in result["choices"][0]["tool_calls"]] == ["walk"]
    held = {"kind": "choice", "options": ["yes"], "param": "p"}
    _, result = client.call("chat", {**params, "structured_output": held})
    assert result["choices"][0]["tokens"][0]["id"] == think, "an answer may begin with it"
