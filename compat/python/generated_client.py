"""The generated client inside weave 0.54: lists its methods, and remembers which of them got an answer."""

import inspect
import re
import secrets
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import pytest
from weave.vendor.weave_server_sdk import WeaveTrace
from weave.vendor.weave_server_sdk._resource import SyncAPIResource

from started_server import Server

#: Matches the request in a generated method: `self._post("/call/start", …)`, sometimes with `path_template`.
REQUEST = re.compile(r"self\._(get|post|put|delete)\(\s*(?:path_template\(\s*)?\"([^\"]+)\"")


class Method(NamedTuple):
    """One operation: `calls.start`, its HTTP method and path, with `{name}` for parameters."""

    name: str
    verb: str
    path: str

    def serves(self, request: httpx.Request) -> bool:
        pattern = re.sub(r"\{\w+\}", "[^/]+", self.path)
        return request.method == self.verb and re.fullmatch(pattern, request.url.path) is not None


def methods(client: WeaveTrace) -> list[Method]:
    """Every operation of the client."""
    return sorted(_methods_of(client, ""))


def _methods_of(resource: Any, prefix: str) -> Iterator[Method]:
    for name in dir(resource):
        if name.startswith(("_", "with_")):
            continue
        attribute = getattr(resource, name)
        if isinstance(attribute, SyncAPIResource):
            yield from _methods_of(attribute, f"{prefix}{name}.")
        elif prefix and inspect.ismethod(attribute):
            found = REQUEST.search(inspect.getsource(attribute))
            if found:
                yield Method(f"{prefix}{name}", found[1].upper(), found[2])


class Answered:
    """Remembers the operations that a client got a 200 for."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []

    def __call__(self, response: httpx.Response) -> None:
        if response.status_code == 200:
            self.requests.append(response.request)

    def names(self, client: WeaveTrace) -> set[str]:
        return {method.name for method in methods(client) if any(method.serves(request) for request in self.requests)}


def strict_client(server: Server, answered: Answered) -> WeaveTrace:
    """A client that refuses an answer which does not have the declared shape."""
    return WeaveTrace(
        base_url=server.url,
        username="api",
        password=server.key,
        max_retries=0,
        http_client=httpx.Client(event_hooks={"response": [answered]}, timeout=30),
        _strict_response_validation=True,
    )


@pytest.fixture(scope="session")
def answered() -> Answered:
    """The operations that any file of the session got an answer for."""
    return Answered()


@pytest.fixture(scope="session")
def api(server: Server, answered: Answered) -> WeaveTrace:
    return strict_client(server, answered)


@pytest.fixture
def project(server: Server) -> str:
    """The name of a project that no other test uses; its first write makes it."""
    return f"{server.entity}/g-{secrets.token_hex(5)}"


def strictly(item: Any) -> Any:
    """An item of a stream, checked against its model, because the client does not check it."""
    return type(item).model_validate(item.to_dict(mode="json"))
