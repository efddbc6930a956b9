"""Makes random calls: trees with errors, running calls, and payloads of every kind of JSON."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

import json_values
from worlds import ID_GROUP, PROJECT, Write

OP_NAMES = ["predict", "score", "it's", "50%", "a_b"]
OP_REFS = [
    f"weave:///{PROJECT}/op/{name}:{digest}" for name in ("predict", "predict_all", "score") for digest in ("d1", "d2")
]
OBJECT_REFS = [f"weave:///{PROJECT}/object/{name}:{digest}" for name in ("model", "data") for digest in ("v1x", "v2x")]
THREADS = ["thread-a", "thread-b", ""]
MODELS = ["gpt-4o", "own-model"]
START = datetime(2026, 3, 1, tzinfo=UTC)


def random_calls(random: Random, count: int) -> list[Write]:
    """The writes of `count` calls, a parent before its children, over every write path."""
    calls: list[dict[str, Any]] = []
    while len(calls) < count:
        parent = random.choice(calls) if calls and random.random() < 0.6 else None
        calls.append(_call(random, parent))
    return [write for first in range(0, count, 5) for write in _writes(random, calls[first : first + 5])]


def one_by_one(writes: list[Write]) -> list[Write]:
    """The same writes with one item in each batch."""
    return [
        Write(write.path, {**write.body, "batch": [item]}) if item else write
        for write in writes
        for item in write.body.get("batch", [None])
    ]


def written_calls(writes: list[Write]) -> dict[str, dict[str, Any]]:
    """The calls that the writes make, by id."""
    calls: dict[str, dict[str, Any]] = {}
    for write in writes:
        for item in write.body.get("batch", [write.body]):
            parts = item.get("req", item)
            part = parts.get("start") or parts.get("end") or parts
            calls.setdefault(part["id"], {}).update(part)
    return {one: call for one, call in calls.items() if "op_name" in call}


def new_id(random: Random) -> str:
    return ID_GROUP + str(UUID(int=random.getrandbits(128), version=4)).partition("-")[2]


def _call(random: Random, parent: dict[str, Any] | None) -> dict[str, Any]:
    started = START + timedelta(microseconds=random.choice([0, 1, 1000, 999_999, random.randrange(10**10)]))
    return {
        "project_id": PROJECT,
        "id": new_id(random),
        "trace_id": parent["trace_id"] if parent else new_id(random),
        "parent_id": parent["id"] if parent else None,
        "op_name": random.choice([*OP_NAMES, *OP_REFS]),
        "display_name": random.choice([None, None, None, "shown", "Shown", "gezeigt ü"]),
        "thread_id": random.choice([None, *THREADS]),
        "turn_id": random.choice([None, "turn-a", "turn-b"]),
        "started_at": started.isoformat(),
        "attributes": json_values.mapping(random),
        "inputs": {**json_values.mapping(random), **_with_ref(random)},
        "wb_run_id": random.choice([None, "local/runs/run-a", "local/runs/run-b"]),
        "wb_run_step": random.choice([None, 0, 1, 2**40]),
    }


def _with_ref(random: Random) -> dict[str, Any]:
    if random.random() < 0.7:
        return {}
    ref = random.choice(OBJECT_REFS)
    return {"ref": random.choice([ref, [ref, "other"], {"deep": {"er": ref}}, f"see {ref}"])}


def _end(random: Random, call: dict[str, Any]) -> dict[str, Any]:
    ended = datetime.fromisoformat(call["started_at"]) + timedelta(microseconds=random.randrange(5_000_000))
    return {
        "ended_at": ended.isoformat(),
        "exception": random.choice([None, None, None, "ValueError: no", "Zeit läuft ab"]),
        "output": random.choice([json_values.value(random), {**json_values.mapping(random), **_with_ref(random)}]),
        "summary": _summary(random),
        "wb_run_step_end": random.choice([None, 3]),
    }


def _summary(random: Random) -> dict[str, Any]:
    summary: dict[str, Any] = {"own": json_values.mapping(random)}
    if random.random() < 0.4:
        summary["usage"] = {
            random.choice(MODELS): {"prompt_tokens": random.randrange(100), "completion_tokens": 3, "requests": 1}
        }
    if random.random() < 0.4:
        summary["status_counts"] = {"success": 1, "error": random.randrange(2)}
    if random.random() < 0.2:
        summary["weave"] = {"mine": json_values.scalar(random)}
    return summary


def _writes(random: Random, calls: list[dict[str, Any]]) -> list[Write]:
    way = random.random()
    if way < 0.4:
        complete = [{**call, **_end(random, call)} for call in calls]
        return [Write(f"/v2/{PROJECT}/calls/complete", {"batch": complete})]
    ended = [call for call in calls if random.random() < 0.8]
    ends = [{"end": {"project_id": PROJECT, "id": call["id"], **_end(random, call)}} for call in ended]
    if way < 0.8:
        items = [{"mode": "start", "req": {"start": call}} for call in calls]
        return [Write("/call/upsert_batch", {"batch": items + [{"mode": "end", "req": end} for end in ends]})]
    starts = [Write("/call/start", {"start": call}) for call in calls]
    return starts + [Write("/call/end", end) for end in ends]
