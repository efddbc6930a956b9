"""Calls that are written a value a tag become JSON by the schemas of the tools."""

import json

import pytest

from heddle_engine.text.function_calls import parameter_types
from heddle_engine.text.toolcalls import OutputParser
from tests.text.pieces import fed_in_pieces

PROPERTIES = {
    "city": {"type": "string"},
    "days": {"type": "integer"},
    "share": {"type": "number"},
    "exact": {"type": "boolean"},
    "units": {"type": ["string", "null"]},
    "places": {"type": "array"},
    "options": {"anyOf": [{"type": "object"}, {"type": "null"}]},
    "anything": {},
    "near": {"$ref": "#/$defs/Place"},
    "far": {"allOf": [{"$ref": "#/$defs/Place"}]},
    "loop": {"$ref": "#/$defs/Loop"},
}
PARAMETERS = {
    "type": "object",
    "properties": PROPERTIES,
    "$defs": {"Place": {"type": "object"}, "Loop": {"anyOf": [{"$ref": "#/$defs/Loop"}, {"type": "array"}]}},
}
TYPES = parameter_types(
    [
        {"type": "function", "function": {"name": "f", "parameters": PARAMETERS}},
        {"type": "function", "function": {"name": "now"}},
    ]
)


def call(*values, name="f"):
    tags = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values)
    return f"<tool_call>\n<function={name}>\n{tags}</function>\n</tool_call>"


def read(text, step=10_000):
    return fed_in_pieces(OutputParser("hermes", reasoning=False, types=TYPES), text, step)


@pytest.mark.parametrize("step", [1, 2, 3, 7, 10_000])
def test_text_and_calls_are_told_apart(step):
    text = "Sure.\n\n" + call(("city", "Paris"), ("days", "3")) + "\n" + call(name="now")
    assert read(text, step) == ("Sure.", "", [("f", '{"city": "Paris", "days": 3}'), ("now", "{}")])


@pytest.mark.parametrize(
    ("name", "written", "expected"),
    [
        ("city", "3", '"3"'),
        ("city", "true", '"true"'),
        ("city", 'two\nlines of "text" </function>', r'"two\nlines of \"text\" </function>"'),
        ("city", "  indented\n", r'"  indented\n"'),
        ("city", "naïve", '"naïve"'),
        ("days", "9007199254740993", "9007199254740993"),
        ("days", "soon", '"soon"'),
        ("days", "2.5", '"2.5"'),
        ("share", "2.50", "2.50"),
        ("share", "NaN", '"NaN"'),
        ("exact", "True", "true"),
        ("exact", "false", "false"),
        ("exact", "1", '"1"'),
        ("units", "None", "null"),
        ("units", "celsius", '"celsius"'),
        ("places", '["a", 1.0]', '["a", 1.0]'),
        ("places", "[" * 5000, json.dumps("[" * 5000)),
        ("options", '{"a": {"b": []}}', '{"a": {"b": []}}'),
        ("options", "null", "null"),
        ("near", '{"lat": 1}', '{"lat": 1}'),
        ("far", '{"lat": 1}', '{"lat": 1}'),
        ("loop", "[]", "[]"),
        ("anything", "3", '"3"'),
        ("unknown", "3", '"3"'),
    ],
)
def test_a_value_has_the_type_that_the_schema_allows(name, written, expected):
    assert read(call((name, written))) == ("", "", [("f", f'{{"{name}": {expected}}}')])


def test_a_tool_that_was_not_named_is_called_with_texts():
    assert read(call(("days", "3"), name="other")) == ("", "", [("other", '{"days": "3"}')])


@pytest.mark.parametrize(
    "body",
    [
        "<function=f>",
        "<function=>\n</function>",
        "<function=f",
        "<function=f>\n<parameter=city>\nParis\n</function>",
        "<function=f>\n<parameter=>\nParis\n</parameter>\n</function>",
        "<function=f>\nParis\n</function>",
        "<function=f>\n</function>\nand more",
    ],
)
def test_a_malformed_call_stays_text(body):
    text = f"<tool_call>\n{body}\n</tool_call>"
    assert read(text) == (text, "", [])


def test_a_call_that_the_end_of_an_answer_leaves_open_is_read():
    assert read("<tool_call>\n<function=now>\n</function>") == ("", "", [("now", "{}")])


ODD = {
    "a": 3,
    "b": {"type": 3},
    "c": {"type": [{}]},
    "d": {"anyOf": 3},
    "e": {"$ref": "elsewhere"},
    "f": {"$ref": "#/x"},
}


@pytest.mark.parametrize("parameters", [None, 3, {}, {"properties": 3}, {"properties": ODD}])
def test_tools_without_schemas_name_no_types(parameters):
    assert parameter_types([{"function": {"name": "f", "parameters": parameters}}]) == {"f": {}}
    assert parameter_types(None) == {}
