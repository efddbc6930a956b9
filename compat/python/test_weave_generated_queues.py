"""Annotation queues by the generated client, and by weave's own client, which has them in 0.54."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
import weave
from weave.trace.weave_client import WeaveClient
from weave.vendor.weave_server_sdk import BadRequestError, NotFoundError, WeaveTrace

from covers import covers
from generated_client import strictly
from weave_session import stored


def stored_calls(api: WeaveTrace, project: str, count: int) -> list[str]:
    """Stores finished calls; returns their ids, the oldest first."""
    entity, name = project.split("/")
    began = datetime.now(UTC) - timedelta(minutes=1)
    batch = [
        {
            "project_id": project,
            "id": str(uuid4()),
            "trace_id": str(uuid4()),
            "op_name": f"op-{n}",
            "started_at": (began + timedelta(seconds=n)).isoformat(),
            "ended_at": (began + timedelta(seconds=n + 1)).isoformat(),
            "attributes": {},
            "inputs": {"n": n},
            "output": n,
            "summary": {},
        }
        for n in range(count)
    ]
    api.v2_calls.complete(name, entity=entity, batch=batch)
    return [call["id"] for call in batch]


@covers("generated-annotation-queues")
def test_queues_are_made_found_changed_and_deleted(api: WeaveTrace, project: str) -> None:
    queues = api.annotation_queues
    spec = {"name": "tone", "field_schema": {"type": "string"}}
    obj = {"project_id": project, "object_id": "tone", "val": spec, "builtin_object_class": "AnnotationSpec"}
    tone = f"weave:///{project}/object/tone:{api.objects.create(obj=obj).digest}"
    made = queues.create(name="Triage", project_id=project, scorer_refs=[tone])
    other = queues.create(name="second", project_id=project, scorer_refs=[], description="read all")
    read = queues.read(made.id, project_id=project).queue
    assert (read.name, read.description, read.scorer_refs) == ("Triage", "", [tone])
    listed = [strictly(queue) for queue in queues.query(project_id=project)]
    assert [queue.id for queue in listed] == [other.id, made.id]
    found = queues.query(project_id=project, name="tri", sort_by=[{"field": "name", "direction": "asc"}], limit=5)
    assert [queue.id for queue in found] == [made.id]
    changed = queues.update(made.id, project_id=project, name="first", description=None, scorer_refs=None).queue
    assert (changed.name, changed.scorer_refs) == ("first", read.scorer_refs)
    assert changed.updated_at > read.updated_at
    assert queues.update(made.id, project_id=project, name=None).queue == changed
    deleted = queues.delete(made.id, project_id=project).queue
    assert deleted.deleted_at is not None
    with pytest.raises(NotFoundError):
        queues.read(made.id, project_id=project)


@covers("generated-annotation-queues")
def test_calls_are_added_labelled_and_counted(api: WeaveTrace, project: str) -> None:
    queues = api.annotation_queues
    queue = queues.create(name="q", project_id=project, scorer_refs=[]).id
    calls = stored_calls(api, project, 3)
    added = queues.items.add(queue, call_ids=calls, display_fields=["inputs.n"], project_id=project)
    assert (added.added_count, added.duplicates) == (3, 0)
    again = queues.items.add(queue, call_ids=[*calls[:1], str(uuid4())], display_fields=[], project_id=project)
    assert (again.added_count, again.duplicates) == (0, 1)
    items = queues.items.query(queue, project_id=project, include_position=True).items
    assert [(item.call_id, item.position_in_queue, item.annotation_state) for item in items] == [
        (call, n + 1, "unstarted") for n, call in enumerate(calls)
    ]
    for item, state in zip(items, ["completed", "skipped", "in_progress"], strict=True):
        moved = queues.items.update_progress(item.id, queue_id=queue, annotation_state=state, project_id=project).item
        assert (moved.annotation_state, moved.annotator_user_id) == (state, items[0].added_by)
    with pytest.raises(BadRequestError, match="take that back"):
        queues.items.update_progress(items[0].id, queue_id=queue, annotation_state="skipped", project_id=project)
    done = queues.items.query(queue, project_id=project, filter={"annotation_states": ["completed", "skipped"]}).items
    assert [item.id for item in done] == [item.id for item in items[:2]]
    (stats,) = queues.stats(project_id=project, queue_ids=[queue]).stats
    assert (stats.queue_id, stats.total_items, stats.completed_items) == (queue, 3, 2)
    condition: Any = {"$eq": [{"$getField": "annotation_queue_items.queue_id"}, {"$literal": queue}]}
    assert api.calls.query_stats(project_id=project, query={"$expr": condition}).count == 3


@weave.op
def answer(question: str) -> str:
    return question.upper()


@covers("weave-annotation-queues")
def test_the_clients_own_methods(client: WeaveClient) -> None:
    answer("why")
    answer("how")
    queue = client.create_annotation_queue(name="reviews", scorer_refs=[], description="be kind")
    added = client.add_calls_to_annotation_queue(
        queue, call_ids=[call.id for call in stored(client)], display_fields=["inputs.question", "output"]
    )
    assert (added.added_count, added.duplicates) == (2, 0)
    assert client.get_annotation_queue(queue).description == "be kind"
    assert client.update_annotation_queue(queue, name="renamed").name == "renamed"
    assert [found.id for found in client.list_annotation_queues(name="RENAME")] == [queue]
    items = client.list_annotation_queue_items(queue, include_position=True, limit=1)
    assert [(item.position_in_queue, item.display_fields) for item in items] == [(1, ["inputs.question", "output"])]
    (stats,) = client.get_annotation_queue_stats([queue])
    assert (stats.total_items, stats.completed_items) == (2, 0)
    assert client.delete_annotation_queue(queue).deleted_at is not None
    assert client.list_annotation_queues() == []
