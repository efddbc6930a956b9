"""Blocks of README and guides with the openai client run unchanged."""

import pytest

from guide_blocks import counted_requests, pages_with, run_blocks
from started_server import Server

REQUESTS = {"README.md": 1, "docs/guide/clients.md": 3}


def test_the_pages_are_known() -> None:
    assert pages_with("openai") == list(REQUESTS)


@pytest.mark.parametrize("page", REQUESTS)
def test_the_blocks_of_a_page_run(server: Server, page: str) -> None:
    before = counted_requests(server)
    run_blocks(page, "openai", server)
    assert counted_requests(server) == before + REQUESTS[page]
