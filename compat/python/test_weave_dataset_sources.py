"""Links from rows of datasets to calls, by the client's methods."""

from typing import Any

import pytest
import weave
from weave.trace.weave_client import WeaveClient

from covers import covers
from weave_session import WRITE_PATHS, stored

pytestmark = pytest.mark.skipif(WRITE_PATHS == ["start-end"], reason="0.52.22 does not know the sources of datasets")


@covers("weave-dataset-sources")
def test_a_link_is_taken_back_and_made_again(client: WeaveClient) -> None:
    @weave.op
    def ask() -> int:
        return 1

    ask()
    (call,) = stored(client)
    source = {"source_kind": "call", "source_id": call.id, "source_trace_id": call.trace_id}
    request: Any = {
        "project_id": client.project_id,
        "dataset_object_id": "cases",
        "dataset_digest": "v0",
        "links": [{"row_digest": "r", "sources": [source]}],
    }
    server: Any = client.server
    (made,) = server.dataset_sources_link(request).entries
    taken: Any = {"project_id": client.project_id, "link_ids": [made.link_id]}
    assert [entry.deleted for entry in server.dataset_sources_link_delete(taken).entries] == [True]
    assert [entry.deleted for entry in server.dataset_sources_link_delete(taken).entries] == [False]
    (again,) = server.dataset_sources_link(request).entries
    assert again.link_id == made.link_id
