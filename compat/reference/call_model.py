"""Computes which calls a query must return by the contract, and in which order: calls 3.2, 3.5 to 3.7."""

from datetime import datetime
from typing import Any

from contract_model import MISSING, NUMBER_PATTERN, StructuredValueError, Value, as_text, json_at, truth

Call = dict[str, Any]
PAYLOADS = ("attributes", "inputs", "output", "summary")
TIMES = ("started_at", "ended_at")
NUMBERS = ("wb_run_step", "wb_run_step_end", "summary.weave.latency_ms")


def field_value(call: Call, name: str) -> Value:
    """The value that a field's name selects in a call."""
    if name in COMPUTED:
        return Value("number" if name in NUMBERS else "text", COMPUTED[name](call))
    head, _, path = name.partition(".")
    if head in PAYLOADS:
        document = call.get(head, MISSING)
        return Value("json", json_at(document, path) if path else document)
    raw = call.get(name)
    if raw is None or (raw == "" and name in ("display_name", "exception")):
        return Value("text", MISSING)
    if name in TIMES:
        return Value("time", datetime.fromisoformat(raw).timestamp())
    return Value("number" if name in NUMBERS else "text", raw)


def _status(call: Call) -> str:
    if call.get("exception"):
        return "error"
    if (call.get("summary") or {}).get("status_counts", {}).get("error", 0) > 0:
        return "descendant_error"
    return "success" if call.get("ended_at") else "running"


def _latency(call: Call) -> Any:
    if not call.get("ended_at"):
        return MISSING
    ended, started = (datetime.fromisoformat(call[name]) for name in ("ended_at", "started_at"))
    return (ended - started).seconds * 1000 + (ended - started).microseconds // 1000


def _trace_name(call: Call) -> str:
    name = call["op_name"]
    return call.get("display_name") or (name.split("/")[-1].split(":")[0] if name.startswith("weave:///") else name)


COMPUTED = {
    "summary.weave.status": _status,
    "summary.weave.latency_ms": _latency,
    "summary.weave.trace_name": _trace_name,
}


def passes(call: Call, wanted_by: dict[str, Any]) -> bool:
    """True when the call fits every member of the filter, each by one of its values."""
    exact = {"parent_ids": "parent_id", "trace_ids": "trace_id", "call_ids": "id", "wb_run_ids": "wb_run_id"}
    strict = {"thread_ids": "thread_id", "turn_ids": "turn_id"}
    checks = [call.get(exact[name]) in wanted_by[name] for name in exact if wanted_by.get(name)]
    checks += [call.get(strict[name]) in wanted_by[name] for name in strict if wanted_by.get(name) is not None]
    if wanted_by.get("trace_roots_only"):
        checks.append(call.get("parent_id") is None)
    if wanted_by.get("op_names"):
        checks.append(any(_names(call["op_name"], wanted) for wanted in wanted_by["op_names"]))
    for name, payload in (("input_refs", "inputs"), ("output_refs", "output")):
        if wanted_by.get(name):
            texts = _texts(call.get(payload))
            checks.append(any(_names(text, wanted) for text in texts for wanted in wanted_by[name]))
    return all(checks)


def _names(text: str, wanted: str) -> bool:
    return text.startswith(wanted[:-1]) if wanted.endswith(":*") else text == wanted


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for one in inner for text in _texts(one)]


def matches(call: Call, request: dict[str, Any]) -> bool | None:
    """True when the call fits the request; None where the contract does not say, for the text of a list or a map."""
    if not passes(call, request.get("filter") or {}):
        return False
    if not request.get("query"):
        return True
    try:
        return truth(request["query"]["$expr"], lambda name: field_value(call, name)) is True
    except StructuredValueError:
        return None


def in_order(calls: list[Call], sort_by: list[dict[str, str]] | None) -> list[str] | None:
    """Ids in the order of calls 3.7; None where the text of a list or a map decides it."""
    keys = sort_by if sort_by is not None else [{"field": "started_at", "direction": "asc"}]
    try:
        for key in [{"field": "id", "direction": "asc"}, *reversed(keys)]:
            calls = _sorted(calls, key["field"], key["direction"])
    except StructuredValueError:
        return None
    return [call["id"] for call in calls]


def _sorted(calls: list[Call], field: str, direction: str) -> list[Call]:
    values = {call["id"]: field_value(call, field) for call in calls}
    kind = "json" if field.split(".")[0] in PAYLOADS and field not in COMPUTED else "plain"
    keyed = [(call, _sort_key(values[call["id"]], kind)) for call in calls]
    found = [(call, key) for call, key in keyed if key is not None]
    missing = [call for call, key in keyed if key is None]
    if kind == "json":
        numbers = [(call, key) for call, key in found if key[0] is not None]
        texts = [(call, key) for call, key in found if key[0] is None]
        return [*_directed(numbers, direction), *_directed(texts, direction), *missing]
    return [*_directed(found, direction), *missing]


def _directed(keyed: list[tuple[Call, Any]], direction: str) -> list[Call]:
    return [call for call, _ in sorted(keyed, key=lambda pair: pair[1], reverse=direction == "desc")]


def _sort_key(value: Value, kind: str) -> Any:
    if value.raw is MISSING or value.raw is None:
        return None
    if kind == "plain":
        return value.raw.encode() if isinstance(value.raw, str) else value.raw
    text = as_text(value) or ""
    number = float(text) if NUMBER_PATTERN.fullmatch(text) else None
    return (number, text.encode("utf-8", "surrogatepass"))
