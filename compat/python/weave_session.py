"""Points the weave client at the started server, with a project for each test."""

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import weave
from weave.trace.weave_client import WeaveClient

from started_server import Server

#: Ways in which the client writes calls: 0.54.0 sends finished calls whole, or starts and ends; 0.52.22 only the
#: latter.
WRITE_PATHS = ["complete", "start-end"] if find_spec("weave.vendor") else ["start-end"]


def use_server(monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    """Sets the variables that a user would export, and keeps the client from printing."""
    monkeypatch.setenv("WANDB_BASE_URL", server.url)
    monkeypatch.setenv("WANDB_API_KEY", server.key)
    monkeypatch.delenv("WF_TRACE_SERVER_URL", raising=False)
    monkeypatch.delenv("WANDB_ENTITY", raising=False)
    monkeypatch.setenv("WEAVE_PRINT_CALL_LINK", "false")
    monkeypatch.setenv("WEAVE_LOG_LEVEL", "ERROR")
    # A cache on disk would answer in the server's place.
    monkeypatch.setenv("WEAVE_USE_SERVER_CACHE", "false")


@contextmanager
def project_of(server: Server, name: str | None = None, **settings: Any) -> Iterator[WeaveClient]:
    """Yields a client for a project that no other test uses, and finishes it afterwards."""
    project = name or f"{server.entity}/t-{secrets.token_hex(5)}"
    client = weave.init(project, **({"settings": settings} if settings else {}))
    try:
        yield client
    finally:
        weave.finish()


@pytest.fixture
def client(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[WeaveClient]:
    """A client for a new project, which writes calls in the client's default way."""
    use_server(monkeypatch, server)
    with project_of(server) as opened:
        yield opened


@pytest.fixture(params=WRITE_PATHS)
def tracer(server: Server, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[WeaveClient]:
    """A client for a new project, once for each way in which the client writes calls."""
    use_server(monkeypatch, server)
    monkeypatch.setenv("WEAVE_USE_CALLS_COMPLETE", str(request.param == "complete").lower())
    with project_of(server) as opened:
        yield opened


def project_name(client: WeaveClient) -> str:
    return f"{client.entity}/{client.project}"


def stored(client: WeaveClient, **query: Any) -> list[Any]:
    """All calls of the project, read from the server after everything was sent."""
    client.flush()
    return list(client.get_calls(**query))


def by_name(calls: list[Any]) -> dict[str, Any]:
    """Calls by the short name of their op; each name must be there once."""
    named = {call.func_name: call for call in calls}
    assert len(named) == len(calls), [call.func_name for call in calls]
    return named


def uri_of(ref: Any) -> str:
    """The address of a ref: an attribute in 0.54.0, a method in 0.52.22."""
    return ref.uri if isinstance(ref.uri, str) else ref.uri()


def feedback_query(expression: dict[str, Any]) -> Any:
    """A query for `get_feedback`: 0.52.22 reads its own class only, 0.54.0 plain data."""
    query = {"$expr": expression}
    if find_spec("weave.vendor"):
        return query
    from weave.trace_server.interface.query import Query

    return Query(**query)


def init_in_new_process(project: str, key: str) -> subprocess.CompletedProcess[str]:
    """Signs in within a new process, because weave 0.52.22 keeps the first key of a process."""
    script = (
        "import offline; offline.block_outbound(); import weave; "
        f"client = weave.init({project!r}); print(client.entity + '/' + client.project)"
    )
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=Path(__file__).parent,
        env={**os.environ, "WANDB_API_KEY": key},
        capture_output=True,
        text=True,
        timeout=60,
    )
