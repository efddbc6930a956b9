"""The openai client repeats a request only when the answer says that this may help."""

from collections.abc import Iterator

import openai
import pytest
from openai import OpenAI

from covers import covers
from started_server import Server, started_server

ASKED = {"model": "heddle/tiny", "messages": [{"role": "user", "content": "3 + 4 = ?"}]}


@pytest.fixture(scope="module")
def engineless() -> Iterator[Server]:
    with started_server(HEDDLE_ENGINE="none") as started:
        yield started


def requests_made(client: OpenAI, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Notes each request that leaves the client."""
    made: list[str] = []
    send = client._client.send

    def noting(request: object, **options: object) -> object:
        made.append(str(request.url))  # type: ignore[attr-defined]
        return send(request, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(client._client, "send", noting)
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    return made


@covers("retry-overloaded")
def test_a_server_without_an_engine_is_asked_three_times(engineless: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    client = OpenAI(base_url=engineless.api, api_key=engineless.key)
    made = requests_made(client, monkeypatch)
    with pytest.raises(openai.InternalServerError) as refused:
        client.chat.completions.create(**ASKED)  # type: ignore[call-overload]
    assert refused.value.status_code == 503
    assert "engine" in refused.value.message
    assert len(made) == 3


@covers("retry-never")
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"model": "nobody/none"}, openai.NotFoundError),
        ({"messages": "no list"}, (openai.BadRequestError, openai.UnprocessableEntityError)),
    ],
    ids=["not found", "invalid"],
)
def test_a_refusal_is_asked_once(
    server: Server, monkeypatch: pytest.MonkeyPatch, change: dict, expected: type[Exception]
) -> None:
    client = OpenAI(base_url=server.api, api_key=server.key)
    made = requests_made(client, monkeypatch)
    with pytest.raises(expected):
        client.chat.completions.create(**{**ASKED, **change})  # type: ignore[call-overload]
    assert len(made) == 1
