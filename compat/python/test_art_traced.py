"""One program trains with openpipe-art and traces with weave on the same server."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from openai import OpenAI
from weave.trace.weave_client import WeaveClient

from art_session import QUESTION, registered
from covers import covers
from started_server import Server
from weave_session import project_of, use_server


@pytest.fixture
def traced(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[WeaveClient]:
    """A weave client, which patches the openai client, for a project that no other test uses."""
    use_server(monkeypatch, server)
    with project_of(server, f"{server.entity}/t-{secrets.token_hex(5)}") as client:
        yield client


def streamed(server: Server, client: WeaveClient, **asked: Any) -> tuple[str, Any]:
    """The text of a streamed answer, and the output of the call that weave recorded for it."""
    openai = OpenAI(base_url=server.api, api_key=server.key)
    chunks = openai.chat.completions.create(messages=QUESTION, max_completion_tokens=8, stream=True, **asked)
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    client.flush()
    (call,) = client.get_calls()
    return text, call.output


@covers("weave-streamed-chat")
def test_a_streamed_chat_is_traced_as_a_completion(server: Server, traced: WeaveClient) -> None:
    text, output = streamed(server, traced, model="heddle/tiny")
    assert output["object"] == "chat.completion"
    assert output["choices"][0]["message"]["content"] == text


@covers("weave-streamed-chat")
async def test_a_streamed_chat_of_a_trained_model_that_declines_logprobs_is_traced_too(
    server: Server, traced: WeaveClient, name: str
) -> None:
    async with registered(server, name) as (_, model):
        text, output = streamed(server, traced, model=model.get_inference_name(), logprobs=False)
    assert output["object"] == "chat.completion"
    assert output["choices"][0]["message"]["content"] == text
