"""The whole list of the generated client's operations: each is answered, or known to be left."""

import json
import re
from pathlib import Path

import httpx
import pytest
from weave.vendor.weave_server_sdk import WeaveTrace

from covers import covers
from generated_client import Answered, methods
from started_server import Server

LEFT = {
    line
    for line in (Path(__file__).parent / "weave_methods_left.txt").read_text().splitlines()
    if line and not line.startswith("#")
}


@covers("generated-all")
@pytest.mark.parametrize("name", sorted(LEFT))
def test_an_operation_left_is_not_there(api: WeaveTrace, server: Server, name: str) -> None:
    (method,) = [method for method in methods(api) if method.name == name]
    url = server.url + re.sub(r"\{\w+\}", "x", method.path)
    answer = httpx.request(method.verb, url, json={"project_id": "local/p"}, auth=("api", server.key))
    told = json.loads(answer.text)
    assert "no such path" in told.get("reason", told.get("detail", "")), "take it off the list"


@covers("generated-all")
@pytest.mark.last
def test_every_other_operation_was_answered(api: WeaveTrace, answered: Answered) -> None:
    """Of the whole session: run alone, this test names what other files call."""
    known = {method.name for method in methods(api)}
    assert len(known) == 118
    assert known - LEFT - answered.names(api) == set(), "nobody called these"
    assert answered.names(api) & LEFT == set(), "take these off the list"
