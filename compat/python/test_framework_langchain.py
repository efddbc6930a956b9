"""LangChain over chat, Responses and Messages: answers, streams, tools, structured answers, embeddings."""

from collections.abc import Callable
from typing import Any, Literal

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import ToolMessage
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel, ConfigDict

from add_tool import ADD
from covers import covers
from started_server import Server

MODEL = "heddle/tiny"
QUESTION = "3 + 4 = ?"


def over_chat(server: Server, **more: Any) -> Any:
    return ChatOpenAI(model=MODEL, base_url=server.api, api_key=server.key, max_tokens=64, seed=7, **more)


def over_responses(server: Server, **more: Any) -> Any:
    extra = {"seed": 7}
    return ChatOpenAI(
        model=MODEL,
        base_url=server.api,
        api_key=server.key,
        max_tokens=64,
        extra_body=extra,
        use_responses_api=True,
        **more,
    )


def over_messages(server: Server, **more: Any) -> Any:
    return ChatAnthropic(
        model_name=MODEL,
        base_url=server.url,
        api_key=server.key,
        max_tokens=64,
        model_kwargs={"extra_body": {"seed": 7}},
        **more,
    )


PROTOCOLS = [over_chat, over_responses, over_messages]


@covers("langchain-chat")
@pytest.mark.parametrize("model_over", PROTOCOLS)
def test_an_answer_and_its_stream_are_the_same(server: Server, model_over: Callable[..., Any]) -> None:
    model = model_over(server)
    whole = model.invoke(QUESTION)
    assert whole.text
    assert whole.usage_metadata["output_tokens"] > 0
    chunks = list(model.stream(QUESTION))
    assert len(chunks) > 2
    assert "".join(chunk.text for chunk in chunks) == whole.text


@covers("langchain-tools")
@pytest.mark.parametrize("model_over", PROTOCOLS)
def test_a_tool_is_called_and_its_result_answered(server: Server, model_over: Callable[..., Any]) -> None:
    model = model_over(server)
    asked = model.bind_tools([ADD], tool_choice="any").invoke(QUESTION)
    assert asked.tool_calls
    assert {(call["name"], *sorted(call["args"])) for call in asked.tool_calls} == {("add", "a", "b")}
    results = [ToolMessage(str(sum(call["args"].values())), tool_call_id=call["id"]) for call in asked.tool_calls]
    answer = model.bind_tools([ADD]).invoke([("human", QUESTION), asked, *results])
    assert answer.usage_metadata["input_tokens"] > asked.usage_metadata["input_tokens"]


class Sum(BaseModel):
    """The form of a structured answer."""

    model_config = ConfigDict(extra="forbid")

    total: Literal[6, 7, 8]


@covers("langchain-structured")
@pytest.mark.parametrize("model_over", PROTOCOLS)
def test_an_answer_takes_a_form(server: Server, model_over: Callable[..., Any]) -> None:
    model = model_over(server).with_structured_output(Sum, method="json_schema")
    assert model.invoke(QUESTION).total in (6, 7, 8)


@covers("langchain-chat")
async def test_many_questions_at_once(server: Server) -> None:
    answers = await over_chat(server).abatch([f"{n} + 1 = ?" for n in range(8)])
    assert all(answer.text for answer in answers)


@covers("langchain-embeddings")
def test_embeddings(server: Server) -> None:
    embeddings = OpenAIEmbeddings(
        model=MODEL, base_url=server.api, api_key=server.key, check_embedding_ctx_length=False
    )
    one, two = embeddings.embed_documents(["three", "four"])
    assert len(one) == len(two) > 8
    assert one != two
