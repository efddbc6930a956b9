"""The differences in docs/reference/differences.md, each as a precise check.

Each function names the reasons for which our server and the reference may answer a request differently. A reason is not
enough for a test to pass: our answer must also be the contract's (call_model).
"""

from typing import Any

from call_model import PAYLOADS, TIMES, Call, field_value
from contract_model import MISSING, NUMBER_PATTERN
from expressions import Expression, leaves

WRITTEN = {
    "json-path": ["A path with a number in it, or with letters beyond ASCII"],
    "convert": ["`$convert` of what is not of that type"],
    "number-literal": [
        "A JSON `true` or `false` compared with a number",
        'A JSON fraction (`2.5`, or the text `"2.5"`) compared with a whole number',
        'A text with a sign or an exponent (`"-1"`, `"1e3"`) compared with a number',
    ],
    "boolean-literal": ["A number compared with `true` or `false`"],
    "text-literal": ["A JSON `true` or `false` compared with text", "A JSON number compared with text"],
    "two-fields": ["Two fields compared with each other"],
    "time-literal": ["A time compared with seconds or ISO text"],
    "text-column": ["A text column compared with a number, `true` or `false`"],
    "null-first": ["`null` on the left of `$eq`"],
    "in-null": ["`null` in the list of `$in`"],
    "in-types": ["Values of several types in the list of `$in`"],
    "trace-name": ["`summary.weave.trace_name` in a filter"],
    "latency": ["`summary.weave.latency_ms` of a running call in a filter", "`summary.weave.latency_ms`"],
    "letter-case": ["`case_insensitive` beyond ASCII"],
    "nul": ["U+0000 in what is compared"],
    "structured-text": ["An object and a number, or text, at the same path"],
    "op-version": ["`%` and `_` in an op name before `:*`", "`predict:*` and an op called `predict_all`"],
    "turn-filter": ["`turn_ids`"],
    "reference-fails": ["A quote in a filter", "`$convert` to `exists`"],
    "sort-json": ["Sorting by a JSON value"],
    "sort-ties": ["Ties of a given sort", "`sort_by: []`"],
    "sort-missing": ["Missing values in a sort"],
    "no-limit": ["`limit: 0`"],
    "unselected": ["`parent_id` and `summary` where `columns` does not name them"],
    "feedback-convert": ["`$convert` on feedback"],
    "feedback-types": ["number against a text in the payload", "`$eq` with null on feedback"],
    "price-columns": ["prices of cached tokens"],
    "revived": ["a deleted version is published again"],
    "class-less": ["`exclude_base_object_classes`"],
}
"""By the name of a difference: the first cells of its rows in the document."""


def row_reasons(request: dict[str, Any], call: Call) -> set[str]:
    """Reasons for which this call may be in one answer and not in the other."""
    names: set[str] = set()
    members = request.get("filter") or {}
    families = [name for name in members.get("op_names") or [] if name.endswith(":*")]
    if any(not call["op_name"].startswith(name[:-1]) for name in families):
        names.add("op-version")
    if members.get("turn_ids") is not None:
        names.add("turn-filter")
    if request.get("query"):
        for leaf in leaves(request["query"]["$expr"]):
            names |= leaf_reasons(leaf, call)
    return names


def leaf_reasons(leaf: Expression, call: Call) -> set[str]:
    """Reasons for which one comparison may have different results on both servers for this call."""
    operands = _operands(leaf)
    fields = [name for operand in operands if (name := _field(operand)) is not None]
    literals = [operand["$literal"] for operand in operands if "$literal" in operand]
    values = [field_value(call, name).raw for name in fields]
    names = {"convert"} if any("$convert" in operand for operand in operands) else set()
    if any(_is_lost_path(call, name) for name in fields):
        names.add("json-path")
    if len(fields) > 1:
        names.add("two-fields")
    if "summary.weave.trace_name" in fields:
        names.add("trace-name")
    if "summary.weave.latency_ms" in fields:
        names.add("latency")
    if any(isinstance(text, str) and "\0" in text for text in [*values, *literals]):
        names.add("nul")
    if leaf.get("$eq", [None])[0] == {"$literal": None}:
        names.add("null-first")
    if "$in" in leaf and None in literals:
        names.add("in-null")
    if "$in" in leaf and len({type(literal) for literal in literals}) > 1:
        names.add("in-types")
    if "$contains" in leaf:
        names |= _search_reasons(leaf, values, literals)
    for name, value in zip(fields, values, strict=True):
        names |= {reason for literal in literals if (reason := _pair_reason(name, value, literal))}
    return names


def _operands(leaf: Expression) -> list[Expression]:
    [(operator, operands)] = leaf.items()
    if operator == "$contains":
        return [operands["input"], operands["substr"]]
    return [operands[0], *operands[1]] if operator == "$in" else operands


def _field(operand: Expression) -> str | None:
    if "$convert" in operand:
        return _field(operand["$convert"]["input"])
    return operand.get("$getField")


def _is_lost_path(call: Call, name: str) -> bool:
    """True for paths that SQLite does not find: keys escaped in the stored text, and numbers as keys of a map."""
    head, _, path = name.partition(".")
    if head not in PAYLOADS or field_value(call, name).raw is MISSING:
        return False
    steps = path.replace("\\.", "").split(".")
    return not path.isascii() or any(step.isdigit() for step in steps)


def _search_reasons(leaf: Expression, values: list[Any], literals: list[Any]) -> set[str]:
    if not leaf["$contains"].get("case_insensitive"):
        return set()
    return {"letter-case"} if any(isinstance(text, str) and not text.isascii() for text in values + literals) else set()


def _pair_reason(field: str, value: Any, literal: Any) -> str | None:
    """The reason for which comparing these two values may differ, such as their types; None without one."""
    if value is MISSING or value is None or literal is None:
        return None
    if isinstance(value, list | dict):
        return "structured-text"
    if field in TIMES:
        return "time-literal"
    if not _is_json(field):
        return None if isinstance(value, str) == isinstance(literal, str) else "text-column"
    if isinstance(literal, bool):
        return None if isinstance(value, bool) else "boolean-literal"
    if isinstance(literal, str):
        return None if isinstance(value, str) else "text-literal"
    return None if _is_plain_number(value, literal) else "number-literal"


def _is_json(field: str) -> bool:
    """True for a field inside a payload; those of `summary.weave` are computed."""
    return field.split(".")[0] in PAYLOADS and not field.startswith("summary.weave.")


def _is_plain_number(value: Any, literal: float) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, str):
        return NUMBER_PATTERN.fullmatch(value) is None
    return isinstance(literal, float) or isinstance(value, int)


def failure_reason(request: dict[str, Any]) -> str | None:
    """The reason for which the reference cannot run the request at all; None when it can."""
    text = str(request.get("filter") or {}) + str(request.get("query") or {})
    return "reference-fails" if any(part in text for part in ("'exists'", "\\x00", "it's")) else None


def order_reasons(request: dict[str, Any], calls: list[Call]) -> set[str]:
    """Reasons for which the same calls may come in another order, or fewer of them."""
    names: set[str] = set()
    sort_by = request.get("sort_by")
    if request.get("limit") == 0:
        names.add("no-limit")
    if sort_by is not None and all(key["field"] != "id" for key in sort_by):
        names.add("sort-ties")
    for key in sort_by or []:
        field = key["field"]
        values = [field_value(call, field).raw for call in calls]
        if any(isinstance(value, list | dict) for value in values):
            names.add("structured-text")
        if any(value is MISSING or value is None for value in values):
            names.add("sort-missing")
        if field == "summary.weave.latency_ms":
            names.add("latency")
        if _is_json(field) and (_is_odd_path(field) or any(isinstance(value, str | bool) for value in values)):
            names.add("sort-json")
    return names


def _is_odd_path(field: str) -> bool:
    return not field.isascii() or any(step.isdigit() for step in field.split("."))
