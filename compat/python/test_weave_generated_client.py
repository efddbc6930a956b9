"""Operations of the generated client, with answers checked against its models."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from weave.vendor.weave_server_sdk import NotFoundError, UnprocessableEntityError, WeaveTrace
from weave.vendor.weave_server_sdk.types.call_read_response import Call

from covers import covers
from generated_client import strictly

BEGAN = datetime.now(UTC) - timedelta(minutes=1)


def start(project: str, **fields: Any) -> dict[str, Any]:
    return {
        "project_id": project,
        "id": str(uuid4()),
        "trace_id": str(uuid4()),
        "op_name": "ask",
        "started_at": datetime.now(UTC).isoformat(),
        "attributes": {"env": "test"},
        "inputs": {"question": "why"},
        **fields,
    }


def end(begun: dict[str, Any], **fields: Any) -> dict[str, Any]:
    usage = {"m-1": {"requests": 1, "prompt_tokens": 10, "completion_tokens": 2}}
    return {
        "project_id": begun["project_id"],
        "id": begun["id"],
        "ended_at": datetime.now(UTC).isoformat(),
        "output": {"answer": 42},
        "summary": {"usage": usage},
        **fields,
    }


def complete(api: WeaveTrace, project: str, **fields: Any) -> dict[str, Any]:
    """Stores a finished call."""
    call = start(project) | fields
    entity, name = project.split("/")
    api.v2_calls.complete(name, entity=entity, batch=[call | end(call)])
    return call


def equals(field: str, value: Any) -> Any:
    return {"$expr": {"$eq": [{"$getField": field}, {"$literal": value}]}}


@covers("generated-calls")
def test_calls_are_written_on_every_path(api: WeaveTrace, project: str) -> None:
    alone = start(project)
    begun = api.calls.start(start=alone)
    assert (begun.id, begun.trace_id) == (alone["id"], alone["trace_id"])
    assert api.calls.end(end=end(alone)) == {}
    batched = start(project)
    answers = api.calls.upsert_batch(
        batch=[
            {"mode": "start", "req": {"start": batched}},
            {"mode": "end", "req": {"end": end(batched)}},
        ]
    )
    assert len(answers.res) == 2
    whole = complete(api, project)
    for call in (alone, batched, whole):
        read = api.calls.read(id=call["id"], project_id=project).call
        assert read is not None
        assert (read.op_name, read.inputs) == ("ask", {"question": "why"})
        assert read.output == {"answer": 42}
        assert read.summary["weave"]["status"] == "success"
    assert api.calls.read(id=str(uuid4()), project_id=project).call is None


@covers("generated-calls")
def test_calls_are_found_counted_renamed_and_deleted(api: WeaveTrace, project: str) -> None:
    calls = [complete(api, project, inputs={"n": n}) for n in range(3)]
    rows = list(
        api.calls.stream_query(
            project_id=project,
            filter={"op_names": ["ask"]},
            sort_by=[{"field": "inputs.n", "direction": "desc"}],
            include_costs=True,
            include_feedback=True,
        )
    )
    found = [Call.model_validate(row) for row in rows]
    assert [call.id for call in found] == [call["id"] for call in reversed(calls)]
    stats = api.calls.query_stats(project_id=project, query=equals("inputs.n", 1))
    assert (stats.count, stats.has_more) == (1, False)
    assert api.calls.update(call_id=calls[0]["id"], project_id=project, display_name="first") == {}
    renamed = api.calls.read(id=calls[0]["id"], project_id=project).call
    assert renamed is not None
    assert renamed.display_name == "first"
    assert api.calls.delete(call_ids=[calls[1]["id"]], project_id=project).num_deleted == 1
    assert api.calls.query_stats(project_id=project).count == 2


@covers("generated-usage")
def test_usage_and_statistics(api: WeaveTrace, project: str) -> None:
    root = complete(api, project)
    complete(api, project, trace_id=root["trace_id"], parent_id=root["id"])
    # Root and child both report the one request of ten tokens, as the SDKs do, and it is counted once.
    usage = api.calls.usage(call_ids=[root["id"]], project_id=project, include_costs=True)
    assert usage.call_usage[root["id"]]["m-1"].requests == 1
    of_trace = {"project_id": project, "filter": {"trace_ids": [root["trace_id"]]}}
    assert api.trace.usage(**of_trace).call_usage[root["id"]]["m-1"].prompt_tokens == 10
    as_the_reference = api.trace.usage(**of_trace, extra_body={"rollup": "sum"})
    assert as_the_reference.call_usage[root["id"]]["m-1"].prompt_tokens == 20
    stats = api.calls.stats(
        project_id=project,
        start=BEGAN,
        usage_metrics=[{"metric": "total_tokens"}],
        call_metrics=[{"metric": "call_count"}, {"metric": "latency_ms", "percentiles": [50]}],
    )
    assert stats.timezone == "UTC"
    assert sum(bucket.get("sum_call_count") or 0 for bucket in stats.call_buckets) == 2


@covers("generated-threads")
def test_threads(api: WeaveTrace, project: str) -> None:
    turn = str(uuid4())
    complete(api, project, id=turn, thread_id="t-1", turn_id=turn)
    complete(api, project, thread_id="t-1", turn_id=turn, parent_id=turn)
    (thread,) = [strictly(item) for item in api.threads.stream_query(project_id=project)]
    assert (thread.thread_id, thread.turn_count) == ("t-1", 1)
    assert (thread.first_turn_id, thread.last_turn_id) == (turn, turn)


@covers("generated-objects")
def test_objects_and_refs(api: WeaveTrace, project: str) -> None:
    made = api.objects.create(obj={"project_id": project, "object_id": "thing", "val": {"a": 1.0}})
    assert re.fullmatch(r"[A-Za-z0-9]{43}", made.digest)
    read = api.objects.read(project_id=project, object_id="thing", digest="latest").obj
    assert (read.digest, read.version_index, read.is_latest, read.kind) == (*(made.digest, 0, 1, "object"),)
    (listed,) = api.objects.query(project_id=project, filter={"object_ids": ["thing"]}).objs
    assert listed.val == {"a": 1.0}
    ref = f"weave:///{project}/object/thing:{made.digest}"
    assert api.refs.read_batch(refs=[ref, f"{ref}/key/a"]).vals == [{"a": 1.0}, 1.0]
    assert api.objects.delete(object_id="thing", project_id=project).num_deleted == 1
    with pytest.raises(NotFoundError):
        api.objects.read(project_id=project, object_id="thing", digest=made.digest)


@covers("generated-tables")
def test_tables(api: WeaveTrace, project: str) -> None:
    rows = [{"a": 1, "b": 2}, {"a": 3, "b": 4}, {"a": 5, "b": 6}]
    made = api.tables.create(table={"project_id": project, "rows": rows})
    assert made.digest == "d2e5de0d792d9f5636b67ab5c8baf8a7749b4703e89c625303b32405e0b17e77"
    assert made.row_digests is not None
    assert made.row_digests[0] == "2El9nYJ3CnBykmEJWqmPfvUVTXr0mfgDe2yiUClnhaY"
    read = api.tables.query(project_id=project, digest=made.digest, limit=2, offset=1).rows
    assert [row.val for row in read] == rows[1:]
    grown = api.tables.update(
        project_id=project,
        base_digest=made.digest,
        updates=[{"append": {"row": {"a": 7}}}, {"pop": {"index": 0}}],
    )
    assert api.tables.query_stats(project_id=project, digest=grown.digest).count == 3
    joined = api.tables.create_from_digests(project_id=project, row_digests=[*made.row_digests, made.row_digests[0]])
    (stats,) = api.tables.query_stats_batch(
        project_id=project, digests=[joined.digest], include_storage_size=True
    ).tables
    assert (stats.count, stats.digest) == (4, joined.digest)
    assert stats.storage_size_bytes


@covers("generated-files")
def test_files(api: WeaveTrace, project: str) -> None:
    data = bytes(range(256))
    made = api.files.create(file=("bytes.bin", data), project_id=project)
    # The client's model for this answer is JSON; users read the bytes with the raw response, too.
    read = api.files.with_raw_response.content(digest=made.digest, project_id=project)
    assert read.http_response.content == data
    assert api.files.stats(project_id=project).total_size_bytes == 256


@covers("generated-feedback")
def test_feedback(api: WeaveTrace, project: str) -> None:
    call = complete(api, project)
    ref = f"weave:///{project}/call/{call['id']}"
    one: Any = {"project_id": project, "weave_ref": ref, "feedback_type": "grade"}
    first = api.feedback.create(**one, payload={"value": 1})
    second, third = api.feedback.batch_create(batch=[one | {"payload": {"value": value}} for value in (2, 3)]).res
    found = api.feedback.query(project_id=project, sort_by=[{"field": "payload.value", "direction": "desc"}], limit=2)
    assert found.total_count == 3
    assert [row["id"] for row in found.result] == [third.id, second.id]
    replaced = api.feedback.replace(feedback_id=first.id, **one, payload={"value": 9})
    assert api.feedback.purge(project_id=project, query=equals("id", second.id)) == {}
    left = api.feedback.query(project_id=project, fields=["id", "payload"]).result
    assert {row["id"] for row in left} == {third.id, replaced.id}
    stats = api.feedback.stats(
        project_id=project, start=BEGAN, metrics=[{"json_path": "value", "aggregations": ["max"]}]
    )
    assert stats.window_stats is not None
    assert stats.window_stats["value"]["max"] == 9


@covers("generated-feedback")
def test_feedback_payload_schema_and_aggregates(api: WeaveTrace, project: str) -> None:
    now = int(datetime.now(UTC).timestamp() * 1000)
    ref = f"weave:///{project}/call/{uuid4()}"
    api.feedback.create(project_id=project, weave_ref=ref, feedback_type="grade", payload={"value": 1})
    schema = api.feedback.payload_schema(project_id=project, start=BEGAN)
    assert [path.json_path for path in schema.paths] == ["value"]
    total = api.feedback.aggregate(project_id=project, after_ms=now - 60_000, before_ms=now + 60_000)
    assert sum(bucket.total_count for bucket in total.buckets) == 1


@covers("generated-costs")
def test_costs(api: WeaveTrace, project: str) -> None:
    price: Any = {"prompt_token_cost": 0.1, "completion_token_cost": 0.2}
    ((cost_id, model),) = api.costs.create(project_id=project, costs={"m-1": price}).ids
    assert model == "m-1"
    (read,) = api.costs.query(project_id=project).results
    assert (read.id, read.llm_id, read.prompt_token_cost) == (cost_id, "m-1", 0.1)
    assert api.costs.purge(project_id=project, query=equals("id", cost_id)) == {}
    assert api.costs.query(project_id=project).results == []


@covers("generated-projects")
def test_projects(api: WeaveTrace, project: str) -> None:
    complete(api, project)
    sizes = api.projects.stats(project_id=project)
    assert sizes.trace_storage_size_bytes > 0
    assert sizes.files_storage_size_bytes == 0
    settings = api.projects.ttl_settings
    assert settings.read(project_id=project).retention_days is None
    assert settings.update(project_id=project, retention_days=30).retention_days == 30
    with pytest.raises(UnprocessableEntityError, match="retention_days"):
        settings.update(project_id=project, retention_days=0)
    assert settings.read(project_id=project).retention_days == 30
    assert settings.update(project_id=project, retention_days=None).retention_days is None
    assert api.projects.sensitive_data_settings.read(project_id=project).policy == "off"
    sampling = api.projects.ingest_sampling_settings.read(project_id=project)
    assert (sampling.sample_rate, sampling.dry_run) == (1.0, False)


@covers("generated-service")
def test_service(api: WeaveTrace, project: str) -> None:
    complete(api, project)
    assert api.services.health_check() == {"status": "ok"}
    info = api.services.server_info()
    assert info.min_required_weave_python_version == "0.0.1"
    (known,) = api.services.projects_info(project_ids=[project, "local/never-made"])
    assert known.external_project_id == project
