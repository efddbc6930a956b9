"""The guide's blocks with the anthropic client run unchanged."""

from guide_blocks import counted_requests, pages_with, run_blocks
from started_server import Server

PAGE = "docs/guide/clients.md"


def test_the_blocks_of_the_guide_run(server: Server) -> None:
    assert pages_with("anthropic") == [PAGE]
    before = counted_requests(server)
    run_blocks(PAGE, "anthropic", server)
    assert counted_requests(server) == before + 1
