"""Calls of tools as Qwen3.5 and Qwen3-Coder write them, a value a tag, which only the tool's schema tells the type of:

<function=get_weather>
<parameter=city>
Paris
</parameter>
</function>
"""

import json

OPEN, CLOSE = "<function=", "</function>"
_VALUE_OPEN, _VALUE_CLOSE = "<parameter=", "</parameter>"

ParameterTypes = dict[str, dict[str, frozenset[str]]]
"""For each tool the types, as JSON Schema names them, that each of its parameters may have."""

_CONSTANTS = {
    "true": ("true", {"boolean"}),
    "false": ("false", {"boolean"}),
    "null": ("null", {"null"}),
    "none": ("null", {"null"}),
}
"""JSON and types of words that templates spell as Python does."""


def writes_tags(template: str) -> bool:
    """Whether a chat template teaches calls of this form."""
    return OPEN in template


def parameter_types(tools: list[dict] | None) -> ParameterTypes:
    """Of tools as a chat names them. A parameter whose schema names no type is not there."""
    types: ParameterTypes = {}
    for tool in tools or []:
        function = tool.get("function") or {}
        schema = function.get("parameters")
        properties = schema.get("properties") if isinstance(schema, dict) else None
        named = properties.items() if isinstance(properties, dict) else ()
        found = {name: _types(value, schema) for name, value in named}
        types[str(function.get("name"))] = {name: some for name, some in found.items() if some}
    return types


def _types(schema: object, whole: dict) -> frozenset[str]:
    """Of all ways of the schema; each reference is followed once, as it may come back to itself."""
    found: set[str] = set()
    followed: set[str] = set()
    ways = [schema]
    while ways:
        way = ways.pop()
        if not isinstance(way, dict):
            continue
        named = way.get("type")
        found |= {name for name in (named if isinstance(named, list) else [named]) if isinstance(name, str)}
        ref = way.get("$ref")
        if isinstance(ref, str) and ref not in followed:
            followed.add(ref)
            ways.append(_referred(ref, whole))
        for word in ("anyOf", "oneOf", "allOf"):
            more = way.get(word)
            ways += more if isinstance(more, list) else []
    return frozenset(found)


def _referred(ref: str, whole: dict) -> object:
    """What `#/…` names in the whole schema; None elsewhere."""
    found: object = whole
    for name in ref.removeprefix("#/").split("/"):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def parse_function_calls(body: str, types: ParameterTypes) -> list[tuple[str, str]]:
    """Name and JSON object of the arguments of each call in `body`. Raises ValueError when malformed."""
    calls, rest = [], body.strip()
    while rest:
        name, rest = _tag(rest, OPEN)
        members: dict[str, str] = {}
        while not (rest := rest.lstrip()).startswith(CLOSE):
            parameter, rest = _tag(rest, _VALUE_OPEN)
            value, closed, rest = rest.partition(_VALUE_CLOSE)
            if not closed:
                raise ValueError(f"{_VALUE_CLOSE} is missing")
            text = value.removeprefix("\n").removesuffix("\n")
            members[parameter] = _json(text, types.get(name, {}).get(parameter, frozenset()))
        calls.append((name, "{" + ", ".join(f"{json.dumps(key)}: {value}" for key, value in members.items()) + "}"))
        rest = rest.removeprefix(CLOSE).lstrip()
    return calls


def _tag(text: str, opening: str) -> tuple[str, str]:
    """The name in the tag with which `text` begins, and what follows."""
    name, closed, rest = text.removeprefix(opening).partition(">")
    if not text.startswith(opening) or not closed or not name.strip():
        raise ValueError(f"{opening}…> is missing")
    return name.strip(), rest


def _json(text: str, types: frozenset[str]) -> str:
    """The text as a value of one of the types where it is one, numbers as they are spelled, else as a string."""
    if not types - {"string"}:
        return json.dumps(text, ensure_ascii=False)
    word, kinds = _CONSTANTS.get(text.strip().lower(), ("", set()))
    if kinds & types:
        return word
    try:
        kinds = _kinds(json.loads(text, parse_constant=_refuse))
    except (ValueError, RecursionError):
        kinds = set()
    return text.strip() if kinds & types else json.dumps(text, ensure_ascii=False)


def _kinds(value: object) -> set[str]:
    """The types of JSON Schema that a value other than a constant has."""
    if isinstance(value, dict):
        return {"object"}
    if isinstance(value, list):
        return {"array"}
    if isinstance(value, bool):
        return set()
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return {"integer", "number"}
    return {"number"} if isinstance(value, float) else set()


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
