"""Makes a project with one thing of each kind; returns its ids, names and refs by the request fields that take them."""

import json
from typing import Any
from urllib.request import Request, urlopen

from started_server import Server

ENTITY, PROJECT = "local", "fuzz"
PROJECT_ID = f"{ENTITY}/{PROJECT}"
TRACE_ID = "00000000-0000-4000-8000-0000000000f0"
CALL_IDS = [f"00000000-0000-4000-8000-{index:012d}" for index in range(3)]


def store_everything(server: Server) -> dict[str, Any]:
    """Stores one thing of each kind. Returns values by field name: a list for a field that takes several."""
    post, put = _sender(server, "POST"), _sender(server, "PUT")
    post(f"/v2/{PROJECT_ID}/calls/complete", {"batch": [_call(index) for index in range(3)]})
    table = post("/table/create", {"table": {"project_id": PROJECT_ID, "rows": [{"a": 1}, {"a": "two", "b": None}]}})
    made = {"project_id": PROJECT_ID, "object_id": "thing", "val": {"rows": "text", "n": 1.5}}
    digest = post("/obj/create", {"obj": made})["digest"]
    object_ref = f"weave:///{PROJECT_ID}/object/thing:{digest}"
    put(f"/objs/thing/versions/{digest}/tags", {"project_id": PROJECT_ID, "tags": ["a tag"]})
    model = post(f"/v2/{PROJECT_ID}/models", {"name": "model", "source_code": "pass"})
    put("/objs/thing/aliases", {"project_id": PROJECT_ID, "digest": digest, "aliases": ["an alias"]})
    call_ref = f"weave:///{PROJECT_ID}/call/{CALL_IDS[0]}"
    feedback = {"project_id": PROJECT_ID, "weave_ref": call_ref, "feedback_type": "note", "payload": {"note": "good"}}
    feedback_id = post("/feedback/create", feedback)["id"]
    return {
        "project_id": PROJECT_ID,
        "entity": ENTITY,
        "project": PROJECT,
        "project_ids": [PROJECT_ID],
        "id": CALL_IDS[0],
        "call_id": CALL_IDS[1],
        "call_ids": CALL_IDS[:2],
        "trace_id": TRACE_ID,
        "trace_ids": [TRACE_ID],
        "parent_id": CALL_IDS[0],
        "object_id": "thing",
        "object_ids": ["thing"],
        "tags": ["a tag"],
        "aliases": ["an alias"],
        "uris": [model["model_ref"]],
        "digest": digest,
        "base_digest": table["digest"],
        "digests": [table["digest"]],
        "row_digests": table["row_digests"],
        "refs": [object_ref, call_ref],
        "ref": object_ref,
        "weave_ref": call_ref,
        "feedback_id": feedback_id,
        "started_at": "2026-01-02T03:04:05Z",
        "ended_at": "2026-01-02T03:04:06Z",
    }


def _call(index: int) -> dict[str, Any]:
    return {
        "project_id": PROJECT_ID,
        "id": CALL_IDS[index],
        "trace_id": TRACE_ID,
        "parent_id": CALL_IDS[0] if index > 0 else None,
        "op_name": f"weave:///{PROJECT_ID}/op/step:v{index}",
        "thread_id": "a thread",
        "turn_id": CALL_IDS[0],
        "started_at": f"2026-01-02T03:04:0{index}Z",
        "ended_at": "2026-01-02T03:04:09Z",
        "attributes": {"k": "v"},
        "inputs": {"x": index, "messages": [{"role": "user", "content": "hello"}]},
        "output": {"score": index / 2, "text": "\u2028"},
        "summary": {"usage": {"m": {"prompt_tokens": 3, "completion_tokens": index}}},
    }


def _sender(server: Server, method: str):
    def send(path: str, body: dict[str, Any]) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "application/json"}
        with urlopen(Request(server.url + path, json.dumps(body).encode(), headers, method=method)) as answer:
            return json.load(answer)

    return send
