"""Sources of datasets and addresses of files by the generated client, with answers checked against its models."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest
from weave.vendor.weave_server_sdk import BadRequestError, WeaveTrace

from covers import covers


def stored_call(api: WeaveTrace, project: str) -> dict[str, Any]:
    """Stores a call; returns its fields as a source of a dataset's row."""
    call = {
        "project_id": project,
        "id": str(uuid4()),
        "trace_id": str(uuid4()),
        "op_name": "ask",
        "started_at": datetime.now(UTC).isoformat(),
        "attributes": {},
        "inputs": {},
    }
    api.calls.start(start=call)
    return {"source_kind": "call", "source_id": call["id"], "source_trace_id": call["trace_id"]}


@covers("generated-dataset-sources")
def test_rows_are_linked_to_their_sources(api: WeaveTrace, project: str) -> None:
    source = stored_call(api, project)
    talk: Any = {"source_kind": "conversation", "source_id": "talk", "source_trace_id": ""}
    named = {"project_id": project, "dataset_object_id": "cases"}
    sources = api.dataset_sources
    links: Any = [{"row_digest": "r1", "sources": [source, talk], "link_metadata": {"by": "hand"}}]
    made = sources.link(**named, dataset_digest="v0", links=links, include_created_status=True).entries
    assert [entry.created for entry in made] == [True, True]
    found = sources.query(**named, source_kinds=["call"], row_digests=["r1"]).links
    assert [link.id for link in found] == [made[0].link_id]
    assert (found[0].source_display_name, found[0].link_metadata) == ("ask", {"by": "hand"})
    (membership,) = sources.source_datasets_query(project_id=project, sources=[source]).memberships
    assert (membership.dataset_object_id, membership.row_digests) == ("cases", ["r1"])
    assert (membership.row_digests_total_count, membership.row_digests_truncated) == (1, False)
    links[0]["sources"] = [{**source, "source_id": "never"}]
    with pytest.raises(BadRequestError, match="call never"):
        sources.link(**named, dataset_digest="v0", links=links)


@covers("generated-file-addresses")
def test_files_get_addresses_that_need_no_key(api: WeaveTrace, project: str) -> None:
    data = bytes(range(256))
    digest = api.files.create(file=("bytes.bin", data), project_id=project).digest
    resolved = api.files.resolve_url(project_id=project, uris=[digest])
    (url,) = resolved.download_urls
    assert httpx.get(url).content == data
    assert resolved.expires_at is not None
    assert datetime.fromisoformat(resolved.expires_at) > datetime.now(UTC)
    assert httpx.get(url[:-1]).status_code == 404
