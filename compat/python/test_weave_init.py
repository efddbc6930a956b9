"""Signing in with the weave client: `weave.init` and its requests to the server."""

import json
import secrets
from typing import Any
from urllib.request import Request, urlopen

import pytest
import weave

from covers import covers
from started_server import Server
from weave_session import init_in_new_process, project_name, project_of, use_server


@pytest.fixture(autouse=True)
def settings(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    use_server(monkeypatch, server)
    monkeypatch.setenv("WEAVE_RETRY_MAX_ATTEMPTS", "1")


def new_user(server: Server) -> tuple[str, str]:
    """Makes a new user; returns (username, key)."""
    username = f"u-{secrets.token_hex(4)}"

    def post(path: str, body: dict[str, Any]) -> Any:
        headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "application/json"}
        request = Request(server.api + path, json.dumps(body).encode(), headers)
        with urlopen(request) as answer:
            return json.load(answer)

    post("/organization/users", {"username": username})
    key = post("/organization/api_keys", {"name": "compat", "username": username})
    return username, key["value"]


@covers("weave-init")
def test_a_project_is_made_once(server: Server) -> None:
    name = f"local/fresh-{secrets.token_hex(4)}"
    for _ in range(2):
        with project_of(server, name) as client:
            assert project_name(client) == name


@covers("weave-init-default-entity")
def test_a_project_without_entity_is_the_viewers(server: Server) -> None:
    with project_of(server, f"fresh-{secrets.token_hex(4)}") as client:
        assert client.entity == "local"


@covers("weave-init")
def test_the_trace_address_alone_is_enough_for_the_store(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """`WF_TRACE_SERVER_URL` names the root; the default is `<WANDB_BASE_URL>/traces`."""
    monkeypatch.setenv("WF_TRACE_SERVER_URL", server.url)
    with project_of(server) as client:
        assert client.entity == "local"


@covers("weave-init-refused")
def test_a_wrong_key_is_told(server: Server) -> None:
    refused = init_in_new_process("local/t", "0" * 40)
    assert refused.returncode == 1
    assert "this API key is not known" in refused.stderr


@covers("weave-init-refused")
def test_another_teams_project_is_refused(server: Server) -> None:
    username, key = new_user(server)
    own = init_in_new_process(f"{username}/own", key)
    assert own.stdout.splitlines()[-1] == f"{username}/own", own.stderr
    refused = init_in_new_process("local/theirs", key)
    assert refused.returncode == 1
    assert 'you are no member of "local"' in refused.stderr


@covers("weave-init")
def test_one_process_changes_projects(server: Server) -> None:
    with project_of(server) as first:
        first_name = project_name(first)
    with project_of(server) as second:
        assert project_name(second) != first_name
        assert weave.get_client() is second
