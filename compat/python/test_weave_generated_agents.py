"""Spans of agents by the generated client, with answers checked against its models."""

import json
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from weave.vendor.weave_server_sdk import BadRequestError, PermissionDeniedError, UnprocessableEntityError, WeaveTrace

from covers import covers
from started_server import Server

BEGAN = datetime(2026, 3, 1, 10, tzinfo=UTC)
WINDOW: Any = {"started_after": BEGAN, "started_before": BEGAN + timedelta(minutes=1)}
CHAT: Any = {"expr": {"$eq": [{"$getField": "operation_name"}, {"$literal": "chat"}]}}
TOKENS: Any = {
    "alias": "tokens",
    "aggregation": "sum",
    "value": {"source": "derived", "key": "total_tokens"},
    "value_type": "number",
}


@dataclass(frozen=True)
class Talk:
    """A project with one turn, which has the spans of an agent and of its model's call."""

    project: str
    trace: str
    agent: str
    model: str


def span(trace: str, identifier: str, parent: str, seconds: int, attributes: dict[str, Any]) -> dict[str, Any]:
    """A span of one second, in OTLP/JSON."""
    begin = int((BEGAN + timedelta(seconds=seconds)).timestamp()) * 10**9
    return {
        "traceId": trace,
        "spanId": identifier,
        "parentSpanId": parent,
        "name": "step",
        "startTimeUnixNano": str(begin),
        "endTimeUnixNano": str(begin + 10**9),
        "attributes": [{"key": key, "value": value} for key, value in attributes.items()],
    }


def text(value: str) -> dict[str, str]:
    return {"stringValue": value}


def message(role: str, content: str) -> dict[str, str]:
    return text(json.dumps([{"role": role, "parts": [{"type": "text", "content": content}]}]))


@pytest.fixture(scope="module")
def talk(server: Server) -> Talk:
    project = f"{server.entity}/a-{secrets.token_hex(5)}"
    made = Talk(project, secrets.token_hex(16), secrets.token_hex(8), secrets.token_hex(8))
    conversation = {"gen_ai.conversation.id": text("c/1"), "gen_ai.agent.version": text("7")}
    agent = {"gen_ai.operation.name": text("invoke_agent"), "gen_ai.agent.name": text("bot"), **conversation}
    model = {
        "gen_ai.operation.name": text("chat"),
        "gen_ai.request.model": text("m-1"),
        "gen_ai.usage.input_tokens": {"intValue": "10"},
        "gen_ai.usage.output_tokens": {"intValue": "4"},
        "gen_ai.input.messages": message("user", "Which colour?"),
        "gen_ai.output.messages": message("assistant", "Green."),
        "tier": text("gold"),
        "score": {"doubleValue": 0.5},
    }
    spans = [span(made.trace, made.agent, "", 0, agent), span(made.trace, made.model, made.agent, 0, model)]
    answer = httpx.post(
        f"{server.url}/agents/otel/v1/traces",
        json={"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]},
        headers={"project_id": project},
        auth=("api", server.key),
    )
    assert (answer.status_code, answer.text) == (200, "{}")
    return made


@covers("generated-agents")
def test_agents_and_their_versions(api: WeaveTrace, talk: Talk) -> None:
    api.costs.create(
        project_id=talk.project,
        costs={"m-1": {"prompt_token_cost": 0.1, "completion_token_cost": 0.5, "effective_date": "2026-01-01"}},
    )
    found = api.agents.query(project_id=talk.project, filters={"agent_name": "bot"}, include_costs=True)
    assert found.total_count == 1
    (bot,) = found.agents
    assert (bot.agent_name, bot.invocation_count, bot.span_count) == ("bot", 1, 2)
    assert (bot.total_input_tokens, bot.total_output_tokens, bot.total_duration_ms) == (10, 4, 1000)
    assert bot.total_cost_usd == pytest.approx(3)
    assert bot.first_seen == BEGAN
    versions = api.agents.agent_versions.query(agent_name="bot", project_id=talk.project)
    assert [version.agent_version for version in versions.versions] == ["7"]


@covers("generated-agents")
def test_spans_and_groups_of_them(api: WeaveTrace, talk: Talk) -> None:
    page = api.agents.spans.query(
        project_id=talk.project,
        query=CHAT,
        include_details=True,
        custom_attr_columns=[{"source": "custom_attrs_string", "key": "tier"}],
        sort_by=[{"field": "started_at", "direction": "asc"}],
        **WINDOW,
    )
    (found,) = page.spans
    assert (page.total_count, found.span_id, found.agent_name, found.conversation_id) == (1, talk.model, "bot", "c/1")
    assert json.loads(found.input_messages[0].content) == [{"type": "text", "content": "Which colour?"}]
    assert found.custom_attrs_string == {"tier": "gold"}
    assert json.loads(found.raw_span_dump or "")["name"] == "step"
    grouped = api.agents.spans.query(
        project_id=talk.project,
        group_by=[{"source": "column", "key": "conversation_id"}],
        measures=[TOKENS],
        group_filters=[{"measure": TOKENS, "min": 1}],
        group_distributions=[{"alias": "score", "value": {"source": "custom_attrs_float", "key": "score"}}],
    )
    (group,) = grouped.groups
    assert group.group_keys == {"conversation_id": "c/1"}
    assert group.metrics == {"tokens": 14}
    assert group.distributions["score"].bins[0].count == 1
    assert group.first_message is not None
    assert (group.first_message.role, group.first_message.text) == ("user_message", "Which colour?")
    schema = api.agents.spans.custom_attrs_schema(project_id=talk.project, **WINDOW)
    assert [(one.key, one.value_type) for one in schema.attributes] == [("score", "float"), ("tier", "string")]


@covers("generated-agents")
def test_statistics(api: WeaveTrace, talk: Talk) -> None:
    over_time = api.agents.spans.stats(
        project_id=talk.project,
        start=BEGAN,
        end=BEGAN + timedelta(minutes=2),
        granularity=60,
        group_by=[{"key": "operation_name"}],
        metrics=[
            {
                "alias": "tokens",
                "value": {"source": "derived", "key": "total_tokens"},
                "value_type": "number",
                "aggregations": ["sum", "count"],
                "percentiles": [50, 99.5],
            },
        ],
    )
    assert [column.name for column in over_time.columns] == [
        "timestamp",
        "operation_name",
        "sum_tokens",
        "count_tokens",
        "p50_tokens",
        "p99_5_tokens",
    ]
    chats = [row["sum_tokens"] for row in over_time.rows if row["operation_name"] == "chat"]
    assert chats == [14, 0]
    by_number = api.agents.spans.stats(
        project_id=talk.project,
        start=BEGAN,
        end=BEGAN + timedelta(minutes=2),
        bucket_by={"type": "number", "value": {"key": "usage.input_tokens"}, "bins": 2},
    )
    assert [row["count"] for row in by_number.rows] == [1, 1]


@covers("generated-agents")
def test_chats_and_search(api: WeaveTrace, talk: Talk) -> None:
    turn = api.agents.traces.chat(project_id=talk.project, trace_id=talk.trace, include_feedback=True)
    assert [message.type for message in turn.messages] == ["user_message", "agent_start", "assistant_message"]
    answer = turn.messages[-1].assistant_message
    assert answer is not None
    assert (answer.text, answer.input_tokens, turn.feedback) == ("Green.", 10, [])
    whole = api.agents.conversations.chat(conversation_id="c/1", project_id=talk.project, limit=1)
    assert [one.trace_id for one in whole.turns] == [talk.trace]
    assert (whole.total_turns, whole.has_more) == (1, False)
    (spans,) = api.agents.conversations.spans(project_id=talk.project, conversation_ids=["c/1"], **WINDOW).conversations
    assert {one.span_id for one in spans.spans} == {talk.agent, talk.model}
    found = api.agents.search(project_id=talk.project, query="colour", roles=["user"], truncate_content=False)
    assert found.total_conversations == 1
    assert found.results[0].matched_messages[0].span_id == talk.model


@covers("generated-agents")
def test_wrong_queries_are_refused(api: WeaveTrace, talk: Talk) -> None:
    with pytest.raises(UnprocessableEntityError, match="group_by"):
        api.agents.spans.query(project_id=talk.project, measures=[TOKENS])
    with pytest.raises(BadRequestError, match="allowlist"):
        api.agents.spans.query(project_id=talk.project, group_by=[{"key": "raw_span_dump"}])
    with pytest.raises(PermissionDeniedError, match="Project not found"):
        api.agents.query(project_id="nobody/none")
