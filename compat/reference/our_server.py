"""Asks the started server over HTTP, on one kept connection."""

import json
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from answers import Answer
from started_server import Server

LINES = {"/calls/stream_query", "/threads/stream_query"}


class OurServer:
    """The started server. Answers have parsed bodies; JSON Lines become a list."""

    def __init__(self, server: Server) -> None:
        address = urlsplit(server.url)
        self._connection = HTTPConnection(address.hostname or "", address.port, timeout=60)
        self._headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "application/json"}

    def ask(self, path: str, body: dict[str, Any]) -> Answer:
        self._connection.request("POST", path, json.dumps(body), self._headers)
        response = self._connection.getresponse()
        text = response.read().decode()
        if response.status != 200:
            return Answer(response.status, json.loads(text))
        if path in LINES:
            return Answer(200, [json.loads(line) for line in text.split("\n") if line])
        return Answer(200, json.loads(text))
