"""Pydantic AI over chat, Responses and Messages: answers, streams, typed answers, tools."""

import secrets
from collections.abc import Callable
from typing import Any, Literal

import pytest
from anthropic import AsyncAnthropic
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from pydantic import BaseModel, ConfigDict
from pydantic_ai import Agent, NativeOutput, RunContext, ToolDefinition, ToolOutput
from pydantic_ai.capabilities import PrepareOutputTools, PrepareTools
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from covers import covers
from started_server import Server
from wire import call

MODEL = "heddle/tiny"
QUESTION = "3 + 4 = ?"
LONG_QUESTION = "Tell me a story of a fox and a well."
SETTINGS: Any = {"max_tokens": 32, "extra_body": {"seed": 7}}


class Sum(BaseModel):
    """The form of a typed answer. No other field is allowed: the shipped model would write them until its limit."""

    model_config = ConfigDict(extra="forbid")

    total: Literal[6, 7, 8]


def over_chat(server: Server) -> Any:
    return OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=server.api, api_key=server.key))


def over_responses(server: Server) -> Any:
    return OpenAIResponsesModel(MODEL, provider=OpenAIProvider(base_url=server.api, api_key=server.key))


def over_messages(server: Server) -> Any:
    client = AsyncAnthropic(base_url=server.url, api_key=server.key)
    # Features that the library derives from names of Anthropic's own models: forced tools, answers held to a schema.
    profile: Any = {"supports_json_schema_output": True, "forced_tool_choice_disables_thinking": False}
    return AnthropicModel(MODEL, provider=AnthropicProvider(anthropic_client=client), profile=profile)


PROTOCOLS = [over_chat, over_responses, over_messages]


@covers("pydantic-ai-chat")
@pytest.mark.parametrize("model_over", PROTOCOLS)
async def test_an_answer_and_its_stream_are_the_same(server: Server, model_over: Callable[..., Any]) -> None:
    agent = Agent(model_over(server), model_settings=SETTINGS)
    whole = await agent.run(LONG_QUESTION)
    assert whole.output
    async with agent.run_stream(LONG_QUESTION) as stream:
        parts = [part async for part in stream.stream_text(delta=True, debounce_by=None)]
    assert "".join(parts) == whole.output
    assert len(parts) > 1


@covers("pydantic-ai-typed")
@pytest.mark.parametrize("model_over", PROTOCOLS)
@pytest.mark.parametrize("kind", [ToolOutput, NativeOutput])
async def test_an_answer_is_of_a_type(server: Server, model_over: Callable[..., Any], kind: Any) -> None:
    agent = Agent(model_over(server), output_type=kind(Sum), model_settings={**SETTINGS, "max_tokens": 64})
    assert (await agent.run(QUESTION)).output.total in (6, 7, 8)


@covers("pydantic-ai-tools")
@pytest.mark.parametrize("model_over", PROTOCOLS)
async def test_a_tool_is_called_before_there_is_an_answer(server: Server, model_over: Callable[..., Any]) -> None:
    calls: list[tuple[int, int]] = []

    async def first(context: RunContext[None], tools: list[ToolDefinition]) -> list[ToolDefinition]:
        """Offers only the tool in the first step, then only the answer: the shipped model is too small to choose."""
        return [one for one in tools if (one.name == "add") == (context.run_step == 1)]

    offers = [PrepareTools(first), PrepareOutputTools(first)]
    settings = {**SETTINGS, "max_tokens": 64}
    agent = Agent(model_over(server), output_type=ToolOutput(Sum), model_settings=settings, capabilities=offers)

    @agent.tool_plain
    def add(a: Literal[3, 4], b: Literal[3, 4]) -> int:
        """Adds two numbers."""
        calls.append((a, b))
        return a + b

    assert (await agent.run(QUESTION)).output.total in (6, 7, 8)
    assert len(calls) == 1


@covers("pydantic-ai-traced")
@pytest.mark.parametrize("sums_have_names_of_their_own", [True, False])
async def test_a_traced_run_counts_each_request_once(server: Server, sums_have_names_of_their_own: bool) -> None:
    name = f"traced-{secrets.token_hex(4)}"
    resource = Resource.create({"wandb.entity": server.entity, "wandb.project": name})
    headers = {"wandb-api-key": server.key}
    exporter = OTLPSpanExporter(f"{server.url}/agents/otel/v1/traces", headers=headers)
    traces = TracerProvider(resource=resource)
    traces.add_span_processor(SimpleSpanProcessor(exporter))
    agent = Agent(over_chat(server), name="adder", model_settings=SETTINGS)
    # Versions that know no names of their own for sums write them under those of a request.
    agent.instrument = InstrumentationSettings(
        tracer_provider=traces, use_aggregated_usage_attribute_names=sums_have_names_of_their_own
    )
    usage = (await agent.run(QUESTION)).usage
    traces.shutdown()
    [found] = call(server, "POST", "/agents/query", {"project_id": f"{server.entity}/{name}"}).json["agents"]
    assert (found["agent_name"], found["invocation_count"], found["span_count"]) == ("adder", 1, 2)
    assert usage.input_tokens > 0
    assert (found["total_input_tokens"], found["total_output_tokens"]) == (usage.input_tokens, usage.output_tokens)
