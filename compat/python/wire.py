"""Sends plain HTTP, for tests of details that client libraries hide: raw paths, bare bodies, exact headers."""

import json
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from started_server import Server


@dataclass(frozen=True)
class Answer:
    """Status, lower-case headers and body text of one response."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


def call(
    server: Server,
    method: str,
    path: str,
    body: Any = None,
    *,
    key: str | None = "",
    headers: dict[str, str] | None = None,
) -> Answer:
    """Sends one request exactly as given; `key` None sends none, "" the server's own."""
    sent = dict(headers or {})
    if key is not None:
        sent["Authorization"] = f"Bearer {key or server.key}"
    if body is not None:
        sent["Content-Type"] = "application/json"
    address = urlsplit(server.url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=120)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), sent)
        response = connection.getresponse()
        text = response.read().decode()
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, text)
    finally:
        connection.close()


def create_model(server: Server, name: str, **fields: Any) -> dict[str, Any]:
    """Registers a model on the shipped base model, as ART does."""
    body = {"project": "compat", "name": name, "base_model": "heddle/tiny", "entity": None}
    answer = call(server, "POST", "/v1/preview/models", {**body, "return_existing": True, **fields})
    assert answer.status == 200, answer.text
    return answer.json


def pages(server: Server, path: str, limit: int | None) -> list[dict[str, Any]]:
    """All items of a list, read page by page as the clients' cursor does."""
    items: list[dict[str, Any]] = []
    after = ""
    for _ in range(100):
        query = "&".join([*([f"limit={limit}"] if limit else []), *([after] if after else [])])
        page = call(server, "GET", f"{path}?{query}").json
        assert page["object"] == "list"
        assert len(page["data"]) <= (limit or 20)
        items += page["data"]
        if not page["has_more"]:
            return items
        assert page["last_id"] == page["data"][-1]["id"]
        after = f"after={page['last_id']}"
    raise AssertionError("has_more never ends")
