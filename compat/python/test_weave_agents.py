"""Agents as users of weave write them: the SDK records conversations, and its client reads them back."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

pytest.importorskip("weave.conversation", reason="came with weave 0.53")

from opentelemetry import trace
from weave.conversation import (
    LLM,
    Message,
    Reasoning,
    SubAgent,
    Tool,
    ToolCallPart,
    Usage,
    log_turn,
    start_conversation,
)
from weave.trace.weave_client import WeaveClient

from covers import covers

PATIENCE_S = 10.0


def exported() -> None:
    """Waits until everything recorded has been sent."""
    assert trace.get_tracer_provider().force_flush()


def soon(read: Callable[[], Any], expected: Any) -> None:
    """Reads until the answer is as expected, since the exporter's thread may still hold the newest spans."""
    deadline = time.monotonic() + PATIENCE_S
    while (found := read()) != expected and time.monotonic() < deadline:
        exported()
        time.sleep(0.1)
    assert found == expected


def talk(conversation_id: str) -> str:
    """Records one turn with a tool while it happens; returns its trace id."""
    with (
        start_conversation(agent_name="helper", conversation_id=conversation_id, conversation_name="Order") as talked,
        talked.start_turn(user_message="Where is my order?", model="m-1", agent_version="3") as turn,
    ):
        identifier = format(trace.get_current_span().get_span_context().trace_id, "032x")
        with turn.start_llm(model="m-1", provider_name="openai", system_instructions=["Be kind."]) as asked:
            asked.record(
                input_messages=[Message(role="user", content="Where is my order?")],
                output_messages=[
                    Message(role="assistant", parts=[ToolCallPart(id="1", name="lookup", arguments={"id": 1})])
                ],
                usage=Usage(input_tokens=100, output_tokens=20, reasoning_tokens=8, cache_creation_input_tokens=3),
                reasoning=Reasoning(content="I must look it up."),
            )
        with turn.start_tool(name="lookup", arguments='{"id": 1}', tool_call_id="1") as tool:
            tool.result = "shipped"
        with turn.start_llm(model="m-1", provider_name="openai") as answered:
            answered.record(
                input_messages=[
                    Message(role="user", content="Where is my order?"),
                    Message(role="tool", content="shipped", tool_call_id="1"),
                ],
                output_messages=[Message(role="assistant", content="It was shipped.")],
                usage=Usage(input_tokens=150, output_tokens=30, cache_read_input_tokens=50),
                finish_reasons=["stop"],
            )
            answered.set_attributes({"tier": "gold", "attempt": 2})
    exported()
    return identifier


@covers("weave-agents-record")
def test_a_conversation_is_recorded_and_read(client: WeaveClient) -> None:
    identifier = talk("c-1")
    soon(lambda: len(client.get_agent_spans()), 4)
    by_operation = {
        span.operation_name: span
        for span in client.get_agent_spans(sort_by=[{"field": "started_at", "direction": "asc"}])
    }
    assert set(by_operation) == {"invoke_agent", "chat", "execute_tool"}
    chat = by_operation["chat"]
    assert (chat.agent_name, chat.agent_version, chat.conversation_id) == ("helper", "3", "c-1")
    assert (chat.input_tokens, chat.cache_read_input_tokens, chat.finish_reasons) == (150, 50, ["stop"])
    turn = client.get_agent_turn(trace_id=identifier)
    told = [(message.type, getattr(getattr(message, message.type), "text", None) or None) for message in turn.messages]
    assert told == [
        ("user_message", "Where is my order?"),
        ("agent_start", None),
        ("assistant_message", None),
        ("tool_call", None),
        ("assistant_message", "It was shipped."),
    ]
    start, thought, call = (message for message in turn.messages[1:4])
    assert start.agent_start.system_instructions == "Be kind."
    assert thought.assistant_message.reasoning_content == "I must look it up."
    assert thought.assistant_message.reasoning_tokens == 8
    assert (call.tool_call.tool_arguments, call.tool_call.tool_result) == ('{"id": 1}', "shipped")
    assert (turn.total_input_tokens, turn.total_cache_creation_input_tokens) == (250, 3)


@covers("weave-agents-calls")
def test_a_conversation_is_among_the_calls(client: WeaveClient) -> None:
    identifier = talk("c-5")
    soon(lambda: len(list(client.get_calls(filter={"trace_ids": [identifier]}))), 4)
    spans = client.get_agent_spans(query={"$expr": {"$eq": [{"$getField": "trace_id"}, {"$literal": identifier}]}})
    assert {call.id for call in client.get_calls(filter={"trace_ids": [identifier]})} == {
        span.span_id for span in spans
    }


@covers("weave-agents-record")
def test_turns_are_logged_afterwards(client: WeaveClient) -> None:
    began = datetime.now(UTC) - timedelta(minutes=5)

    def at(seconds: int) -> dict[str, datetime]:
        return {"started_at": began + timedelta(seconds=seconds), "ended_at": began + timedelta(seconds=seconds + 1)}

    for number in range(3):
        log_turn(
            conversation_id="c-2",
            agent_name="planner",
            messages=[Message(role="user", content=f"Question {number}")],
            output_messages=[Message(role="assistant", content=f"Answer {number}")],
            spans=[
                SubAgent(name="searcher", model="m-2", **at(10 * number + 1)),
                Tool(name="search", arguments="{}", result="[]", **at(10 * number + 2)),
                LLM(model="m-2", usage=Usage(input_tokens=1, output_tokens=2), **at(10 * number + 3)),
            ],
            attributes={"team": "blue"},
        )
    exported()
    soon(lambda: client.get_agent_turns(conversation_id="c-2").total_turns, 3)
    page = client.get_agent_turns(conversation_id="c-2", limit=2)
    questions = [turn.messages[0].user_message.text for turn in page.turns]
    assert (questions, page.has_more) == (["Question 1", "Question 2"], True)
    answers = [turn.messages[-1].assistant_message.text for turn in page.turns]
    assert answers == ["Answer 1", "Answer 2"]
    agents = {agent.agent_name: agent for agent in client.get_agents()}
    assert (agents["planner"].invocation_count, agents["searcher"].invocation_count) == (3, 3)
    assert agents["planner"].total_output_tokens == 6
    found = {attribute.key: attribute for attribute in client.get_agent_custom_attributes().attributes}
    assert (found["team"].value_type, found["team"].span_count) == ("string", 12)


@covers("weave-agents-read")
def test_the_client_queries_versions_spans_statistics_and_messages(client: WeaveClient) -> None:
    talk("c-3")
    soon(lambda: [version.agent_version for version in client.get_agent_versions(agent_name="helper")], ["3"])
    gold = {"$expr": {"$eq": [{"$getField": "tier"}, {"$literal": "gold"}]}}
    (span,) = client.get_agent_spans(agent_name="helper", query=gold)
    assert (span.request_model, span.custom_attrs_int) == ("m-1", {})
    metric: Any = {"alias": "input", "value": {"key": "input_tokens"}, "value_type": "number", "aggregations": ["sum"]}
    stats = client.get_agent_span_stats(start=datetime.now(UTC) - timedelta(hours=1), metrics=[metric])
    assert sum(row["sum_input"] for row in stats.rows) == 250
    found = client.search_agents(query="shipped")
    assert {message.role for result in found.results for message in result.matched_messages} >= {
        "assistant",
        "tool_result",
    }


@covers("weave-agents-feedback")
def test_feedback_on_turns_and_conversations(client: WeaveClient) -> None:
    identifier = talk("c/4")
    soon(lambda: client.get_agent_turns(conversation_id="c/4").total_turns, 1)
    client.get_agent_turn_feedback(identifier).add_reaction("👍")
    client.get_agent_conversation_feedback("c/4").add_note("kind")
    client.flush()
    turn = client.get_agent_turn(trace_id=identifier, include_feedback=True)
    assert [row.payload["emoji"] for row in turn.feedback or []] == ["👍"]
    answer = turn.messages[-1]
    client.get_agent_span_feedback(answer.span_id).add_note("good")
    client.flush()
    whole = client.get_agent_turns(conversation_id="c/4", include_feedback=True)
    assert [row.payload["note"] for row in whole.feedback or []] == ["kind"]
    assert [row.payload["note"] for row in whole.turns[0].messages[-1].feedback or []] == ["good"]
