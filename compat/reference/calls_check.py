"""Compares both servers' answers to one query for calls, and checks each difference against the written ones."""

from collections.abc import Iterable
from typing import Any

import call_model
import known_differences
from answers import canonical, moment
from call_model import Call
from call_worlds import written_calls
from worlds import PROJECT, Read, World

QUERY = "/calls/stream_query"
Body = dict[str, Any]
Calls = dict[str, Call]


def explain(world: World, read: Read) -> str | None:
    """The difference between the answers that no written difference explains; None when there is none."""
    calls = written_calls(world.writes)
    whole = {name: read.body[name] for name in ("filter", "query") if name in read.body}
    ours, reference = world.ask(Read(QUERY, {"project_id": PROJECT, "columns": ["id"], **whole}))
    if reference.status != 200:
        return _explain_failure(whole, calls, ours.status, _ids(ours.body), reference)
    if ours.status != 200:
        return f"ours: {ours.status} {ours.body}"
    members = _explain_members(whole, calls, set(_ids(ours.body)), set(_ids(reference.body)))
    if members is not None or read.body == {"project_id": PROJECT, "columns": ["id"], **whole}:
        return members
    return _explain_answer(world, read, calls, _ids(ours.body), _ids(reference.body))


def _ids(body: Any) -> list[str]:
    return [call["id"] for call in body] if isinstance(body, list) else []


def _explain_failure(whole: Body, calls: Calls, status: int, ids: list[str], reference: Any) -> str | None:
    if known_differences.failure_reason(whole) is None:
        return f"the reference fails, we answer {status}: {reference.body}"
    if status != 200:
        return f"both fail: ours {status}, reference {reference.body}"
    return _explain_members(whole, calls, set(ids), None)


def _explain_members(whole: Body, calls: Calls, ours: set[str], reference: set[str] | None) -> str | None:
    """Explains a call that only one answer has; without a reference, the contract alone decides."""
    for one in calls.keys() if reference is None else ours ^ reference:
        wanted = call_model.matches(calls[one], whole)
        values = {name: calls[one].get(name) for name in ("inputs", "output", "attributes", "summary", "op_name")}
        shown = f"call {one}, ours {one in ours}, contract {wanted}: {canonical(values)}"
        if wanted is not None and wanted != (one in ours):
            return f"ours is not the contract's answer: {shown}"
        if reference is not None and not known_differences.row_reasons(whole, calls[one]):
            return f"a difference that is not written down: {shown}"
    return None


def _explain_answer(
    world: World, read: Read, calls: Calls, ours_whole: list[str], reference_whole: list[str]
) -> str | None:
    ours, reference = world.ask(read)
    if ours.status != reference.status:
        return f"ours {ours.status} {ours.body}, reference {reference.status} {reference.body}"
    if ours.status != 200:
        return None
    records = {call["id"]: call for call in reference.body}
    for call in ours.body:
        if (found := records.get(call["id"])) is not None and (why := explain_record(read.body, call, found)):
            return why
    if _ids(ours.body) == _ids(reference.body):
        return None
    chosen = [calls[one] for one in ours_whole]
    wanted = call_model.in_order(chosen, read.body.get("sort_by"))
    if wanted is not None and _page(wanted, read.body) != _ids(ours.body):
        return f"ours is not in the contract's order: {_ids(ours.body)}, wanted {_page(wanted, read.body)}"
    same_members = set(ours_whole) == set(reference_whole)
    if same_members and not known_differences.order_reasons(read.body, chosen):
        return f"an order that is not written down: ours {_ids(ours.body)}, reference {_ids(reference.body)}"
    return None


def _page(ids: Iterable[str], body: dict[str, Any]) -> list[str]:
    found = list(ids)[body.get("offset") or 0 :]
    return found if body.get("limit") is None else found[: body["limit"]]


def explain_record(body: dict[str, Any], ours: Call, reference: Call) -> str | None:
    for name in {**ours, **reference}:
        a, b = ours.get(name), reference.get(name)
        if name in ("started_at", "ended_at"):
            a, b = moment(a), moment(b)
        if canonical(a) != canonical(b) and not _is_unselected(name, body, a, b):
            return f"{name} of call {ours['id']}: ours {canonical(a)}, reference {canonical(b)}"
    return None


def _is_unselected(name: str, body: dict[str, Any], ours: Any, reference: Any) -> bool:
    """True for the difference `unselected`: we always show the parent, the reference always computes the summary."""
    columns = body.get("columns")
    if not columns or any(one.split(".")[0] == name for one in columns):
        return False
    return (name == "summary" and ours == {}) or (name == "parent_id" and reference is None)
