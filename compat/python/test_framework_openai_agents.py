"""OpenAI's Agents SDK over Responses and chat: answers, streams, typed answers, tools, handoffs."""

from typing import Any, Literal

import pytest
from agents import (
    Agent,
    ModelSettings,
    OpenAIProvider,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from pydantic import BaseModel

from covers import covers
from started_server import Server

# Its own traces would go to OpenAI.
set_tracing_disabled(True)

MODEL = "heddle/tiny"
QUESTION = "3 + 4 = ?"
LONG_QUESTION = "Tell me a story of a fox and a well."


class Sum(BaseModel):
    """The form of a typed answer."""

    total: Literal[6, 7, 8]


@pytest.fixture(params=[True, False], ids=["responses", "chat"])
def run(request: pytest.FixtureRequest, server: Server) -> RunConfig:
    # Its default provider takes the part before the slash for the name of a provider.
    client = AsyncOpenAI(api_key=server.key, base_url=server.api)
    return RunConfig(model_provider=OpenAIProvider(openai_client=client, use_responses=request.param))


def agent(name: str, forced: str | None = None, **more: Any) -> Agent[None]:
    settings = ModelSettings(max_tokens=64, tool_choice=forced, include_usage=True, extra_body={"seed": 7})
    return Agent(name=name, instructions="Be brief.", model=MODEL, model_settings=settings, **more)


@covers("openai-agents-run")
async def test_an_answer_and_its_stream_are_the_same(run: RunConfig) -> None:
    whole = await Runner.run(agent("teller"), LONG_QUESTION, run_config=run)
    streamed = Runner.run_streamed(agent("teller"), LONG_QUESTION, run_config=run)
    events = [event async for event in streamed.stream_events()]
    parts = [
        event.data.delta
        for event in events
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"
    ]
    assert whole.final_output == streamed.final_output == "".join(parts)
    assert len(parts) > 1
    assert streamed.context_wrapper.usage.output_tokens > 0


@covers("openai-agents-run")
async def test_a_session_goes_on(run: RunConfig) -> None:
    session = SQLiteSession("talk")
    first = await Runner.run(agent("adder"), QUESTION, session=session, run_config=run)
    second = await Runner.run(agent("adder"), "5 + 1 = ?", session=session, run_config=run)
    assert [item["role"] for item in second.to_input_list()] == ["user", "assistant", "user", "assistant"]
    assert second.context_wrapper.usage.input_tokens > first.context_wrapper.usage.input_tokens


@covers("openai-agents-typed")
async def test_an_answer_is_of_a_type(run: RunConfig) -> None:
    result = await Runner.run(agent("adder", output_type=Sum), QUESTION, run_config=run)
    assert result.final_output.total in (6, 7, 8)


@covers("openai-agents-tools")
async def test_a_tool_is_called_before_there_is_an_answer(run: RunConfig) -> None:
    calls: list[tuple[int, int]] = []

    @function_tool
    def add(a: Literal[3, 4], b: Literal[3, 4]) -> int:
        """Adds two numbers."""
        calls.append((a, b))
        return a + b

    result = await Runner.run(agent("adder", forced="add", tools=[add]), QUESTION, run_config=run)
    assert [item.type for item in result.new_items] == [
        "tool_call_item",
        "tool_call_output_item",
        "message_output_item",
    ]
    assert len(calls) == 1


@covers("openai-agents-tools")
async def test_one_agent_hands_over_to_another(run: RunConfig) -> None:
    first = agent("first", forced="transfer_to_helper", handoffs=[agent("helper")])
    result = await Runner.run(first, QUESTION, run_config=run)
    assert result.last_agent.name == "helper"
