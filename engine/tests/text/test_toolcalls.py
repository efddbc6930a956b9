"""The parser finds reasoning, content and calls, in whatever pieces the text comes."""

import pytest

from heddle_engine.text.tool_choice import call_opening
from heddle_engine.text.toolcalls import OutputParser, Pieces, tool_format
from tests.text.pieces import fed_in_pieces

DEEP_CALL = '<tool_call>{"name":"f","arguments":{"a":' + "[" * 1500 + "]" * 1500 + "}}</tool_call>"

TAGGED = ("hermes", False, "", None, True)

CASES = {
    "hermes, two calls": (
        ("hermes", False, ""),
        'Sure.\n<tool_call>\n{"name": "f", "arguments": {"a": 1.0, "b": [1 , 2]}}\n</tool_call>\n'
        '<tool_call>{"name":"g","arguments":"{\\"x\\":1}"}</tool_call>\n',
        ("Sure.", "", [("f", '{"a": 1.0, "b": [1 , 2]}'), ("g", '{"x":1}')]),
    ),
    "hermes, no arguments, not closed": (
        ("hermes", False, ""),
        '<tool_call>{"name": "now"}',
        ("", "", [("now", "{}")]),
    ),
    "a malformed call stays text": (
        ("hermes", False, ""),
        "a <tool_call>{bad}</tool_call> b < c",
        ("a <tool_call>{bad}</tool_call> b < c", "", []),
    ),
    "a call without a name stays text": (
        ("hermes", False, ""),
        '<tool_call>{"arguments": {}}</tool_call>',
        ('<tool_call>{"arguments": {}}</tool_call>', "", []),
    ),
    "arguments that are no object stay text": (
        ("hermes", False, ""),
        '<tool_call>{"name": "f", "arguments": [1]}</tool_call>',
        ('<tool_call>{"name": "f", "arguments": [1]}</tool_call>', "", []),
    ),
    "a call nested deeper than Python reads stays text": (("hermes", False, ""), DEEP_CALL, (DEEP_CALL, "", [])),
    "half a marker at the end": (("hermes", False, ""), "x <tool_c", ("x <tool_c", "", [])),
    "big numbers survive": (
        ("hermes", False, ""),
        '<tool_call>{"name":"f","arguments":{"id":9007199254740993}}</tool_call>',
        ("", "", [("f", '{"id":9007199254740993}')]),
    ),
    "mistral": (
        ("mistral", False, ""),
        '[TOOL_CALLS][{"name":"f","arguments":{}}, {"name":"g","arguments":{"z":"]"}}]',
        ("", "", [("f", "{}"), ("g", '{"z":"]"}')]),
    ),
    "llama": (
        ("llama3", False, ""),
        '{"name": "f", "parameters": {"q": "x"}}',
        ("", "", [("f", '{"q": "x"}')]),
    ),
    "llama, python tag and two calls": (
        ("llama3", False, ""),
        '<|python_tag|>{"name": "f", "parameters": {}}; {"name": "g", "parameters": {}}',
        ("", "", [("f", "{}"), ("g", "{}")]),
    ),
    "llama, json that is no call": (("llama3", False, ""), '{"a": 1}', ('{"a": 1}', "", [])),
    "llama, json of something that has a name": (
        ("llama3", False, ""),
        '{"name": "Ada", "born": 1815}',
        ('{"name": "Ada", "born": 1815}', "", []),
    ),
    "llama, text with json in it": (("llama3", False, ""), 'hello {"a":1}', ('hello {"a":1}', "", [])),
    "tools not asked for": ((None, False, ""), "<tool_call>{}</tool_call>", ("<tool_call>{}</tool_call>", "", [])),
    "tagged, without the mark before it": (
        TAGGED,
        "I look.\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
        ("I look.", "", [("f", '{"a": "1"}')]),
    ),
    "tagged, two without marks and one with": (
        TAGGED,
        "<function=f>\n</function>\n<function=g></function>\n<tool_call>\n<function=h>\n</function>\n</tool_call> Done",
        (" Done", "", [("f", "{}"), ("g", "{}"), ("h", "{}")]),
    ),
    "tagged, malformed without marks": (
        TAGGED,
        "a\n<function=f>\n<parameter=a>1</function>\n</tool_call>",
        ("a\n<function=f>\n<parameter=a>1</function>\n</tool_call>", "", []),
    ),
    "tagged, a tag in the text before a call with marks": (
        TAGGED,
        "I call <function=f> now.\n<tool_call>\n<function=f>\n</function>\n</tool_call>",
        ("I call <function=f> now.", "", [("f", "{}")]),
    ),
    "tagged, cut off without marks": (TAGGED, "a\n<function=f>\n<para", ("a\n<function=f>\n<para", "", [])),
    "a tag where none is taught": (
        ("hermes", False, ""),
        "<function=f></function>",
        ("<function=f></function>", "", []),
    ),
    "reasoning": ((None, True, ""), "<think>\nhm ok\n</think>\n\nAnswer", ("Answer", "hm ok", [])),
    "reasoning opened by the prompt": ((None, True, "<think>\n"), "hm\n</think>\nA", ("A", "hm", [])),
    "reasoning switched off by the prompt": ((None, True, "<think>\n\n</think>\n\n"), "A", ("A", "", [])),
    "reasoning cut short": ((None, True, ""), "<think>so far", ("", "so far", [])),
    "a model that may think and does not": ((None, True, ""), "<thin ice", ("<thin ice", "", [])),
    "reasoning opened by the prompt, then a call": (
        ("hermes", True, "<think>\n"),
        'hm\n</think>\n\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>',
        ("", "hm", [("f", '{"a": 1}')]),
    ),
    "reasoning, then a call": (
        ("hermes", True, ""),
        '<think>a</think>\n\n<tool_call>{"name":"f"}</tool_call>',
        ("", "a", [("f", "{}")]),
    ),
}


@pytest.mark.parametrize("step", [1, 2, 3, 7, 10_000])
@pytest.mark.parametrize("case", CASES)
def test_pieces_add_up_to_the_same(case, step):
    asked, text, expected = CASES[case]
    assert fed_in_pieces(OutputParser(*asked), text, step) == expected


@pytest.mark.parametrize(
    ("tools", "name", "opening", "rest"),
    [
        ("hermes", None, '<tool_call>\n{"name":', ' "f", "arguments": {"a": 1}}\n</tool_call>'),
        ("hermes", "f", '<tool_call>\n{"name": "f", "arguments":', ' {"a": 1}}\n</tool_call>'),
        ("mistral", None, '[TOOL_CALLS] [{"name":', ' "f", "arguments": {"a": 1}}]'),
        ("mistral", "f", '[TOOL_CALLS] [{"name": "f", "arguments":', ' {"a": 1}}]'),
        ("llama3", None, '{"name":', ' "f", "parameters": {"a": 1}}'),
        ("llama3", "f", '{"name": "f", "parameters":', ' {"a": 1}}'),
    ],
)
@pytest.mark.parametrize("reasoning", [False, True])
def test_an_opened_call_is_read_from_its_beginning(tools, name, opening, rest, reasoning):
    assert call_opening(tools, name) == opening
    parser = OutputParser(tools, reasoning, opening)
    assert parser.feed(opening) == Pieces()
    pieces = [parser.feed(rest), parser.finish()]
    assert [(call.name, call.arguments) for piece in pieces for call in piece.tool_calls] == [("f", '{"a": 1}')]
    assert "".join(piece.content for piece in pieces) == ""


def test_text_is_given_out_as_soon_as_it_cannot_be_a_marker():
    parser = OutputParser("hermes", reasoning=False)
    assert parser.feed("a <too").content == "a"
    assert parser.feed("l b").content == " <tool b"


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("… <tool_call>{{ call | tojson }}</tool_call>", "hermes"),
        ("[AVAILABLE_TOOLS] … [TOOL_CALLS]", "mistral"),
        ('<|python_tag|> … "parameters"', "llama3"),
        ("<|start|>assistant<|channel|>analysis<|message|>", "harmony"),
        ("{{ messages }}", "hermes"),
    ],
)
def test_the_template_names_the_format(template, expected):
    assert tool_format(template) == expected
