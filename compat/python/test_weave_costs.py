"""Prices of models and what calls cost."""

from datetime import UTC, datetime
from typing import Any

import pytest
import weave
from weave.trace.weave_client import WeaveClient

import wire
from covers import covers
from started_server import Server
from weave_session import project_name


def called(client: WeaveClient, model: str) -> Any:
    """A call that used 1,000 and 100 tokens of the model, read back with its costs."""

    @weave.op
    def complete() -> str:
        weave.get_current_call().summary["usage"] = {
            model: {"requests": 1, "prompt_tokens": 1000, "completion_tokens": 100}
        }
        return "done"

    complete()
    client.flush()
    (call,) = client.get_calls(include_costs=True)
    return call


@covers("weave-cost")
def test_a_price_of_ones_own(client: WeaveClient) -> None:
    made = client.add_cost("heddle/tiny", 0.001, 0.01)
    ((cost_id, model),) = made.ids
    assert model == "heddle/tiny"
    (price,) = client.query_costs(llm_ids=["heddle/tiny"])
    assert (price.id, price.llm_id) == (cost_id, "heddle/tiny")
    assert (price.prompt_token_cost, price.completion_token_cost) == (0.001, 0.01)
    cost = called(client, "heddle/tiny").summary["weave"]["costs"]["heddle/tiny"]
    assert cost["prompt_tokens_total_cost"] == pytest.approx(1.0)
    assert cost["completion_tokens_total_cost"] == pytest.approx(1.0)
    assert (cost["prompt_tokens"], cost["completion_tokens"], cost["requests"]) == (1000, 100, 1)
    assert cost["pricing_level"] == "project"


@covers("weave-cost")
def test_the_price_of_the_time_counts(client: WeaveClient) -> None:
    client.add_cost("m", 1.0, 1.0, effective_date=datetime(2020, 1, 1, tzinfo=UTC))
    client.add_cost("m", 2.0, 2.0, effective_date=datetime(2024, 1, 1, tzinfo=UTC))
    client.add_cost("m", 9.0, 9.0, effective_date=datetime(2020, 6, 1, tzinfo=UTC))
    assert len(client.query_costs(llm_ids=["m", "other"])) == 3
    assert called(client, "m").summary["weave"]["costs"]["m"]["prompt_token_cost"] == 2.0


@covers("weave-usage-once")
def test_a_request_under_three_ops_is_counted_once(client: WeaveClient, server: Server) -> None:
    @weave.op
    def request() -> dict[str, Any]:
        return {"model": "m", "usage": {"prompt_tokens": 10, "completion_tokens": 6, "total_tokens": 16}}

    @weave.op
    def step() -> Any:
        return request()

    @weave.op
    def agent() -> Any:
        return step()

    _, root = agent.call()
    client.flush()
    calls = list(client.get_calls())
    reported = [call.summary["usage"]["m"]["total_tokens"] for call in calls]
    assert reported == [16, 16, 16], "the SDK adds a call's usage to every op around it"
    body = {"project_id": project_name(client), "call_ids": [root.id]}
    usage = wire.call(server, "POST", "/calls/usage", body).json["call_usage"][root.id]["m"]
    assert (usage["requests"], usage["total_tokens"]) == (1, 16)
    asked = {"start": "2026-01-01T00:00:00Z", "usage_metrics": [{"metric": "total_tokens"}]}
    stats = wire.call(server, "POST", "/calls/stats", {"project_id": project_name(client), **asked}).json
    assert sum(bucket["sum_total_tokens"] for bucket in stats["usage_buckets"]) == 16


@covers("weave-cost-purge")
def test_purged_prices_are_gone(client: WeaveClient) -> None:
    ((first, _),) = client.add_cost("m", 1.0, 1.0).ids
    ((second, _),) = client.add_cost("m", 2.0, 2.0).ids
    client.purge_costs(first)
    assert [price.id for price in client.query_costs()] == [second]
    client.purge_costs([second])
    assert client.query_costs() == []
    assert client.query_costs(first) == []


@covers("weave-cost-default")
def test_known_models_have_a_price_already(client: WeaveClient) -> None:
    cost = called(client, "gpt-4o-mini").summary["weave"]["costs"]["gpt-4o-mini"]
    assert cost["prompt_tokens_total_cost"] > 0
    assert cost["pricing_level"] == "default"
    assert client.query_costs() == []


@covers("weave-cost-default")
def test_an_unknown_model_costs_nothing(client: WeaveClient) -> None:
    costs = called(client, "nobody/knows").summary["weave"].get("costs") or {}
    assert "nobody/knows" not in costs
