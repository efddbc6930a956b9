"""LiteLLM as a library: chat, Responses, Messages and embeddings under its own names for models."""

from typing import Any

import litellm
import pytest

from add_tool import ADD
from covers import covers
from started_server import Server

QUESTION: list[Any] = [{"role": "user", "content": "3 + 4 = ?"}]


def openai_at(server: Server) -> dict[str, Any]:
    return {"model": "openai/heddle/tiny", "api_base": server.api, "api_key": server.key}


def anthropic_at(server: Server) -> dict[str, Any]:
    return {"model": "anthropic/heddle/tiny", "api_base": server.url, "api_key": server.key}


@covers("litellm-chat")
@pytest.mark.parametrize("place", [openai_at, anthropic_at])
def test_an_answer_and_its_stream_are_the_same(server: Server, place: Any) -> None:
    asked = {**place(server), "messages": QUESTION, "max_tokens": 16, "temperature": 0}
    whole = litellm.completion(**asked)
    text = whole.choices[0].message.content
    assert text
    assert whole.usage.completion_tokens > 0
    chunks = list(litellm.completion(**asked, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == text


@covers("litellm-tools")
@pytest.mark.parametrize("place", [openai_at, anthropic_at])
def test_a_tool_is_called_and_its_result_answered(server: Server, place: Any) -> None:
    asked = {**place(server), "tools": [ADD], "max_tokens": 64}
    message = litellm.completion(**asked, messages=QUESTION, tool_choice="required").choices[0].message
    assert {call.function.name for call in message.tool_calls} == {"add"}
    results = [{"role": "tool", "tool_call_id": call.id, "content": "7"} for call in message.tool_calls]
    answer = litellm.completion(**asked, messages=[*QUESTION, message.model_dump(), *results])
    assert answer.usage.completion_tokens > 0


@covers("litellm-chat")
async def test_the_async_client(server: Server) -> None:
    answer = await litellm.acompletion(**openai_at(server), messages=QUESTION, max_tokens=4)
    assert answer.choices[0].finish_reason in ("stop", "length")


@covers("litellm-responses")
def test_responses(server: Server) -> None:
    answer: Any = litellm.responses(**openai_at(server), input="3 + 4 = ?", max_output_tokens=16)
    assert answer.status in ("completed", "incomplete")
    assert answer.usage.output_tokens > 0
    kinds = [event.type for event in litellm.responses(**openai_at(server), input="3 + 4 = ?", stream=True)]  # type: ignore[union-attr]
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"


@covers("litellm-embedding")
def test_embeddings(server: Server) -> None:
    answer = litellm.embedding(**openai_at(server), input=["three", "four"])
    assert len(answer.data) == 2


@covers("litellm-errors")
def test_an_unknown_model_is_its_not_found_error(server: Server) -> None:
    with pytest.raises(litellm.NotFoundError, match="nobody/knows"):
        litellm.completion(**{**openai_at(server), "model": "openai/nobody/knows"}, messages=QUESTION)
