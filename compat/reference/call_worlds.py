"""Random calls: trees with errors, running calls and payloads of every kind of JSON."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

import json_values
from worlds import PROJECT, Write

OP_NAMES = ["predict", "score", "it's", "50%", "a_b"]
OP_REFS = [
    f"weave:///{PROJECT}/op/{name}:{digest}" for name in ("predict", "predict_all", "score") for digest in ("d1", "d2")
]
OBJECT_REFS = [f"weave:///{PROJECT}/object/{name}:{digest}" for name in ("model", "data") for digest in ("v1x", "v2x")]
THREADS = ["thread-a", "thread-b", ""]
MODELS = ["gpt-4o", "own-model"]
START = datetime(2026, 3, 1, tzinfo=UTC)


def random_calls(random: Random, count: int) -> list[Write]:
    """The writes of `count` calls, a parent before its children, over both write paths."""
    calls: list[dict[str, Any]] = []
    while len(calls) < count:
        parent = random.choice(calls) if calls and random.random() < 0.6 else None
        calls.append(_call(random, parent))
    return [write for call in calls for write in _writes(random, call)]


def call_ids(writes: list[Write]) -> list[str]:
    starts = [write.body["start"]["id"] for write in writes if write.path == "/call/start"]
    return starts + [call["id"] for write in writes for call in write.body.get("batch", [])]


def new_id(random: Random) -> str:
    return str(UUID(int=random.getrandbits(128), version=4))


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


def _writes(random: Random, call: dict[str, Any]) -> list[Write]:
    way = random.random()
    end = _end(random, call)
    if way < 0.4:
        return [Write(f"/v2/{PROJECT}/calls/complete", {"batch": [{**call, **end}]})]
    start = Write("/call/start", {"start": call})
    if way < 0.5:
        return [start]
    return [start, Write("/call/end", {"end": {"project_id": PROJECT, "id": call["id"], **end}})]
