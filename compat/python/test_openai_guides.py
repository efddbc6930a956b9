"""README and guides: what they show of the openai client."""

import time

import pytest

from guide_blocks import pages_with, run_blocks
from started_server import Server
from wire import call

PAGES = pages_with("openai")


def test_the_pages_are_known() -> None:
    assert PAGES == ["README.md", "docs/guide/clients.md"]


def requests(server: Server) -> int:
    """How many completions the ledger has."""
    yesterday = int(time.time()) - 86_400
    answer = call(server, "GET", f"/v1/organization/usage/completions?start_time={yesterday}&bucket_width=1d")
    assert answer.status == 200, answer.text
    results = [result for bucket in answer.json["data"] for result in bucket["results"]]
    return sum(result["num_model_requests"] for result in results)


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_shows_runs(server: Server, page: str) -> None:
    before = requests(server)
    run_blocks(page, "openai", server)
    assert requests(server) == before + 1
