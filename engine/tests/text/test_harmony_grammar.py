"""Which answers in the harmony format the grammars of forms and calls take."""

import json

import pytest

from heddle_engine.errors import EngineError
from heddle_engine.text.grammar import GrammarCompiler
from heddle_engine.text.grammar_text import grammar_text
from heddle_engine.text.harmony import place_at_end
from heddle_engine.text.harmony_grammar import form_grammar, harmony_call_grammar
from heddle_engine.text.sandbox import Sandbox
from heddle_engine.text.tokenizer import TextTokenizer
from tests.models import HARMONY_SPECIALS, SHAPE, byte_tokenizer

VOCAB = SHAPE["vocab_size"]
REASONING = "<|channel|>analysis<|message|>Two and\ntwö.<|end|><|start|>assistant"
FINAL = "<|channel|>final<|message|>"
PARAMETERS = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}
TOOLS = [{"type": "function", "function": {"name": name, "parameters": PARAMETERS}} for name in ("add", "math.sub")]
FORMS = {
    "json": '{"enum": [4]}',
    "regex": "[4-5]",
    "choice": '["4", "four"]',
    "grammar": 'root ::= "4"',
    "grammar, Lark": "start: D\nD: /4/\n%ignore / /",
}


@pytest.fixture(scope="module", params=["<|return|>", "<|return|> and <|call|>"])
def tokenizer(tmp_path_factory, request):
    """As in tests of the model, and as the hub has it, where a call ends the turn by itself."""
    folder = tmp_path_factory.mktemp("harmony")
    tokenizer = byte_tokenizer(VOCAB, HARMONY_SPECIALS)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text('{"eos_token": "<|return|>"}')
    ends = [tokenizer.token_to_id(text) for text in request.param.split(" and ")]
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": ends}))
    return TextTokenizer(folder)


@pytest.fixture
def takes(tokenizer):
    """`takes(grammar, answer)`: whether every token of the answer may come, and nothing but an end of turn then."""
    compiler = GrammarCompiler(tokenizer, VOCAB)

    def asked(grammar, answer):
        matcher = compiler.compile(grammar, "p")
        for token_id in tokenizer.encode(answer):
            if not matcher.allowed()[token_id]:
                return False
            matcher.accept(token_id)
        return tokenizer.eos_ids.issuperset(matcher.allowed().nonzero()[0].tolist())

    return asked


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_the_last_message(takes, form):
    grammar = grammar_text(form.partition(",")[0], FORMS[form], form_grammar("header"))
    assert takes(grammar, f"{FINAL}4<|return|>")
    assert takes(grammar, f"{REASONING}{FINAL}4<|return|>")
    assert takes(grammar, "<|channel|>final <|constrain|>json<|message|>4<|return|>")
    refused = ["4", f"{FINAL}3", f"{FINAL}4<|call|>", f"{FINAL}<|return|>", f"{REASONING}4", f"{REASONING}<|return|>"]
    refused += ["<|channel|>commentary<|message|>4", "<|channel|>analysis<|message|>4<|return|>", f"{FINAL}4<|end|>"]
    assert [answer for answer in refused if takes(grammar, answer)] == []


CALLS = {
    "as templates write it": ' to=functions.add<|channel|>commentary json<|message|>{"a": 1}<|call|>',
    "as models do": '<|channel|>commentary to=functions.add <|constrain|>json<|message|>{"a": 1}<|call|>',
    "after reasoning": f"{REASONING}<|channel|>commentary to=functions.add<|constrain|>json<|message|>{{}}<|call|>",
}
REFUSED = [
    f"{FINAL}{{}}<|return|>",
    "{}",
    "<|channel|>commentary<|message|>{}",
    "<|channel|>commentary to=functions.mul <|constrain|>json<|message|>",
    "<|channel|>commentary to=functions.add <|constrain|>json<|message|>[]",
    '<|channel|>commentary to=functions.add <|constrain|>json<|message|>{"b": 1}',
    "<|channel|>commentary to=functions.add <|constrain|>json<|message|>{}<|return|>",
]


@pytest.mark.parametrize("call", CALLS)
def test_a_call_has_any_header_that_is_read(takes, call):
    answer = CALLS[call]
    other = answer.replace(".add", ".math.sub")
    assert takes(harmony_call_grammar(TOOLS, None, "header"), answer)
    assert takes(harmony_call_grammar(TOOLS, None, "header"), other)
    assert takes(harmony_call_grammar(TOOLS, "add", "header"), answer)
    assert not takes(harmony_call_grammar(TOOLS, "add", "header"), other)


@pytest.mark.parametrize("answer", REFUSED)
def test_what_is_no_call_of_a_tool_is_refused(takes, answer):
    assert not takes(harmony_call_grammar(TOOLS, None, "header"), answer)


PLACES = [
    ("<|start|>user<|message|>Hi<|end|><|start|>assistant", "header", ""),
    ("<|start|>user<|message|>Hi<|end|>", "message", "<|start|>assistant"),
    ("Hi", "message", "<|start|>assistant"),
    (
        "<|start|>user<|message|>Hi<|end|><|start|>assistant<|channel|>final<|message|>So",
        "body",
        "<|end|><|start|>assistant",
    ),
]


@pytest.mark.parametrize(("prompt", "place", "before"), PLACES)
def test_an_answer_goes_on_where_the_prompt_ends(takes, prompt, place, before):
    assert place_at_end(prompt) == place
    answers = {before + call for call in CALLS.values()}
    assert all(takes(harmony_call_grammar(TOOLS, None, place), answer) for answer in answers)
    form = grammar_text("choice", '["4"]', form_grammar(place))
    assert takes(form, "4" if place == "body" else f"{before}{FINAL}4<|return|>")


def test_a_tool_that_no_header_can_name_is_refused():
    odd = [{"type": "function", "function": {"name": 'say "it"'}}]
    with pytest.raises(EngineError, match=r'cannot call a tool named "say \\"it\\""') as caught:
        harmony_call_grammar([*TOOLS, *odd], None, "header")
    assert (caught.value.kind, caught.value.param) == ("invalid", "tools")


def test_a_form_that_takes_too_long_is_refused_around_it_too():
    sandbox = Sandbox(seconds=1)
    task = {"task": "grammar", "kind": "regex", "body": ".*" * 30_000, "around": form_grammar("header")}
    with pytest.raises(EngineError, match="compiling it took longer than 1 s"):
        sandbox.run("compiling it", task)
