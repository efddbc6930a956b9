"""Blocks of README and guides with the weave client run unchanged, in their project `local/demo`."""

import pytest

from guide_blocks import pages_with, run_blocks
from started_server import Server
from wire import call

PAGES = pages_with("weave")


def test_the_pages_are_known() -> None:
    assert PAGES == ["README.md", "docs/guide/agents.md", "docs/guide/clients.md", "docs/guide/server-runs.md"]


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_run(server: Server, page: str) -> None:
    printed = run_blocks(page, "weave", server)
    if page.endswith("clients.md"):
        assert "hello Ada" in printed
        aliases = call(
            server, "POST", "/obj/read", {"project_id": "local/demo", "object_id": "greeting", "digest": "production"}
        )
        assert aliases.json["obj"]["val"]["prompt"] == "Hello {name}"
    if page.endswith("agents.md"):
        found = call(server, "POST", "/agents/query", {"project_id": "local/demo"})
        assert "helper" in found.text
    if page.endswith("server-runs.md"):
        found = call(
            server, "POST", "/obj/read", {"project_id": "local/demo", "object_id": "helpful", "digest": "latest"}
        )
        assert found.json["obj"]["base_object_class"] == "Scorer"
