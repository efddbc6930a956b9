"""Computes the value that the contract gives to an expression for a record: calls 3.6, objects 11.

This is a third opinion, in plain Python, where the reference and our server differ: a written difference explains
them only when our answer is the contract's.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, Literal

from expressions import Expression

Truth = bool | None
Kind = Literal["text", "number", "bool", "time", "json", "list", "null"]
MISSING: Any = object()
NUMBER_PATTERN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Value:
    """A value of an expression: `raw` is a Python value, for a time Unix seconds, and MISSING when it is absent."""

    kind: Kind
    raw: Any


Fields = Callable[[str], Value]


def truth(expression: Expression, fields: Fields) -> Truth:
    """True, False or None (unknown) by three-valued logic."""
    [(operator, operands)] = expression.items()
    if operator in ("$and", "$or"):
        absorbing = operator == "$or"
        results = [truth(operand, fields) for operand in operands]
        if absorbing in results:
            return absorbing
        return None if None in results else not absorbing
    if operator == "$not":
        result = truth(operands[0], fields)
        return None if result is None else not result
    if operator == "$in":
        wanted = [one for one in operands[1] if one["$literal"] is not None]
        return truth({"$or": [{"$eq": [operands[0], one]} for one in wanted]}, fields)
    if operator == "$contains":
        return _contains(operands, fields)
    return _compare(operator, *(value_of(operand, fields) for operand in operands))


def value_of(operand: Expression, fields: Fields) -> Value:
    if "$getField" in operand:
        return fields(operand["$getField"])
    if "$convert" in operand:
        return _convert(value_of(operand["$convert"]["input"], fields), operand["$convert"]["to"])
    return _literal(operand["$literal"])


def _literal(raw: Any) -> Value:
    if raw is None:
        return Value("null", MISSING)
    if isinstance(raw, bool):
        return Value("bool", raw)
    return Value("number" if isinstance(raw, int | float) else "text", raw)


def _convert(value: Value, to: str) -> Value:
    if to == "exists":
        return Value("bool", value.raw is not MISSING and value.raw is not None)
    if to == "string":
        return Value("text", _or_missing(as_text(value)))
    if to == "bool":
        return Value("bool", _or_missing(as_bool(value)))
    number = as_number(value)
    if number is None:
        return Value("number", MISSING)
    return Value("number", int(number) if to == "int" else number)


def _or_missing(raw: Any) -> Any:
    return MISSING if raw is None else raw


def _compare(operator: str, left: Value, right: Value) -> Truth:
    if "null" in (left.kind, right.kind):
        value = left if right.kind == "null" else right
        return value.raw is MISSING or value.raw is None if operator == "$eq" else None
    kinds = (left.kind, right.kind)
    if "time" in kinds:
        return _ordered(operator, as_time(left), as_time(right))
    if "number" in kinds:
        return _ordered(operator, as_number(left), as_number(right))
    if "bool" in kinds:
        return _ordered(operator, as_bool(left), as_bool(right))
    if kinds == ("json", "json"):
        numbers = _ordered(operator, as_number(left), as_number(right))
        if numbers is not None:
            return numbers
    return _ordered(operator, _bytes(as_text(left)), _bytes(as_text(right)))


def _ordered(operator: str, left: Any, right: Any) -> Truth:
    if left is None or right is None:
        return None
    return {
        "$eq": left == right,
        "$gt": left > right,
        "$gte": left >= right,
        "$lt": left < right,
        "$lte": left <= right,
    }[operator]


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogatepass")


def _contains(operands: Expression, fields: Fields) -> Truth:
    text = as_text(value_of(operands["input"], fields))
    part = as_text(value_of(operands["substr"], fields))
    if text is None or part is None:
        return None
    if operands.get("case_insensitive"):
        return part.lower() in text.lower()
    return part in text


def as_text(value: Value) -> str | None:
    """The text of a scalar. Lists and maps raise StructuredValueError: two servers need not agree on their text."""
    raw = value.raw
    if raw is MISSING or raw is None:
        return None
    if isinstance(raw, str):
        return raw
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, int | float):
        return format_number(raw)
    raise StructuredValueError


class StructuredValueError(Exception):
    """The text of a list or a map was asked for."""


def format_number(number: float) -> str:
    """The shortest text that is read as the same number."""
    return str(int(number)) if number == int(number) else re.sub(r"e-0*", "e-", repr(number))


def as_number(value: Value) -> Fraction | float | None:
    raw = value.raw
    if raw is MISSING or raw is None or isinstance(raw, list | dict):
        return None
    if isinstance(raw, str):
        return Fraction(raw) if NUMBER_PATTERN.fullmatch(raw) else None
    return Fraction(raw)


def as_bool(value: Value) -> bool | None:
    """The truth of JSON's true and false, of 1 and 0, and of their texts."""
    raw = value.raw
    if value.kind == "number" and raw is not MISSING:
        return bool(raw)
    if isinstance(raw, list | dict):
        return None
    return {"true": True, "1": True, "false": False, "0": False}.get(as_text(value) or "")


def as_time(value: Value) -> float | None:
    """Unix seconds of a number or of ISO text; a time without a zone is UTC."""
    if isinstance(value.raw, str):
        try:
            time = datetime.fromisoformat(value.raw)
        except ValueError:
            return None
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    return None if value.raw is MISSING or isinstance(value.raw, bool) else value.raw


def json_at(document: Any, path: str) -> Any:
    """The value at a dotted path, or MISSING; a number in the path is a list's index or a map's key."""
    for step in re.split(r"(?<!\\)\.", path):
        key = step.replace("\\.", ".")
        if isinstance(document, list) and key.isdigit() and int(key) < len(document):
            document = document[int(key)]
        elif isinstance(document, dict) and key in document:
            document = document[key]
        else:
            return MISSING
    return document
