"""Shrinks the case of an unexplained difference: first to fewer writes, then to a shorter query."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from call_model import PAYLOADS
from call_worlds import one_by_one
from expressions import simpler
from worlds import Read, Servers, World, Write

Explain = Callable[[World, Read], str | None]
"""Returns the difference in words; None when there is none, or a written one."""

MOST_TRIES = 150
WRAPPERS = ("start", "end", "batch", "req")


def shrunk(servers: Servers, writes: list[Write], read: Read, explain: Explain) -> str:
    """The smallest case found, printed so that it can be sent by hand."""
    tries = 0

    def fails(some: list[Write], question: Read) -> bool:
        nonlocal tries
        tries += 1
        if tries > MOST_TRIES:
            return False
        try:
            return explain(servers.write(some), question) is not None
        except AssertionError:
            return False

    writes = _fewer(one_by_one(writes), lambda some: fails(some, read))
    read = _shorter(read, lambda question: fails(writes, question))
    writes = _pruned(writes, lambda some: fails(some, read))
    why = explain(servers.write(writes), read)
    return "\n".join([f"{why}", *(f"  write {write.path} {_text(write.body)}" for write in writes), _line(read)])


def _fewer(writes: list[Write], fails: Callable[[list[Write]], bool]) -> list[Write]:
    size = len(writes) // 2
    while size > 0:
        for start in range(0, len(writes), size):
            some = writes[:start] + writes[start + size :]
            if some and fails(some):
                writes = some
                break
        else:
            size //= 2
    return writes


def _pruned(writes: list[Write], fails: Callable[[list[Write]], bool]) -> list[Write]:
    """Writes without the parts of payloads that the difference does not need."""
    for index, write in enumerate(writes):
        for body in _pruned_bodies(write.body):
            some = [*writes[:index], Write(write.path, body), *writes[index + 1 :]]
            if fails(some):
                return _pruned(some, fails)
    return writes


def _pruned_bodies(value: Any) -> Iterator[Any]:
    """`value` with one entry less in one of the maps inside it."""
    if isinstance(value, list):
        for index, one in enumerate(value):
            yield from ([*value[:index], less, *value[index + 1 :]] for less in _pruned_bodies(one))
    if isinstance(value, dict):
        for name, one in value.items():
            rest = {other: kept for other, kept in value.items() if other != name}
            if name in PAYLOADS and one:
                yield {**rest, name: {}}
            if name in PAYLOADS and isinstance(one, dict):
                yield from ({**rest, name: {key: one[key] for key in one if key != gone}} for gone in one)
            yield from ({**rest, name: less} for less in (_pruned_bodies(one) if name in WRAPPERS else ()))


def _shorter(read: Read, fails: Callable[[Read], bool]) -> Read:
    for body in _smaller_bodies(read.body):
        shorter = Read(read.path, body)
        if fails(shorter):
            return _shorter(shorter, fails)
    return read


def _smaller_bodies(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name, value in body.items():
        rest = {other: kept for other, kept in body.items() if other != name}
        if name != "project_id":
            yield rest
        if name == "query":
            yield from ({**rest, name: {"$expr": less}} for less in simpler(value["$expr"]))
        elif name == "filter" and len(value) > 1:
            yield from ({**rest, name: {member: value[member]}} for member in value)
        elif name in ("sort_by", "columns") and len(value) > 1:
            yield from ({**rest, name: [one]} for one in value)


def _line(read: Read) -> str:
    return f"  ask {read.path} {_text(read.body)}"


def _text(body: dict[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=True)
