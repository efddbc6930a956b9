"""Evaluations of the Python SDK, read back as runs and side by side."""

import json
from typing import Any

import httpx
import weave
from weave.trace.weave_client import WeaveClient

from adder import EXAMPLES, Adder, exact
from covers import covers
from started_server import Server
from weave_session import project_name


def ask(server: Server, client: WeaveClient, path: str, **body: Any) -> Any:
    client.flush()
    url = f"{server.url}/v2/{project_name(client)}/{path}"
    answer = httpx.request("POST" if body else "GET", url, json=body or None, auth=("api", server.key))
    assert answer.status_code == 200, answer.text
    return answer


def runs(server: Server, client: WeaveClient) -> list[Any]:
    return [json.loads(line) for line in ask(server, client, "evaluation_runs").text.splitlines()]


@covers("weave-evaluation-results")
async def test_evaluations_of_a_dataset_side_by_side(server: Server, tracer: WeaveClient) -> None:
    dataset = weave.Dataset(name="sums", rows=EXAMPLES)
    evaluation = weave.Evaluation(name="sums-eval", dataset=dataset, scorers=[exact])
    await evaluation.evaluate(Adder())
    await evaluation.evaluate(Adder(offset=1))
    first, second = runs(server, tracer)
    assert (first["status"], first["evaluation"]) == ("success", second["evaluation"])
    assert "/object/Adder:" in first["model"]
    results = ask(
        server,
        tracer,
        "eval_results/query",
        evaluation_run_ids=[first["evaluation_run_id"], second["evaluation_run_id"]],
        require_intersection=True,
        include_raw_data_rows=True,
        resolve_row_refs=True,
        include_summary=True,
        sort_by=[{"field": "inputs.expected", "direction": "asc"}],
    ).json()
    assert [row["raw_data_row"] for row in results["rows"]] == EXAMPLES[::-1]
    assert results["warnings"] == []
    two, seven = ([one["trials"] for one in row["evaluations"]] for row in results["rows"])
    assert [[trial["model_output"] for trial in trials] for trials in (*two, *seven)] == [["2"], ["3"], ["7"], ["8"]]
    (trial,) = two[0]
    assert trial["scores"] == {"exact": {"correct": True}}
    assert trial["predict_call_id"] is not None
    assert list(trial["scorer_call_ids"]) == ["exact"]
    assert trial["model_latency_seconds"] >= 0
    summary = results["summary"]
    assert summary["row_count"] == 2
    stats = [one["scorer_stats"] for one in summary["evaluations"]]
    assert [(stat["scorer_key"], stat["path"], stat["pass_rate"]) for (stat,) in stats] == [
        ("exact", "correct", 1.0),
        ("exact", "correct", 0.0),
    ]


@covers("weave-evaluation-results")
def test_an_evaluation_logged_by_hand(server: Server, tracer: WeaveClient) -> None:
    logger = weave.EvaluationLogger(name="by-hand", model="my-model", dataset="my-data")
    for example, output in zip(EXAMPLES, ("7", "3"), strict=True):
        prediction = logger.log_prediction(inputs={"text": example["text"]}, output=output)
        prediction.log_score("correct", example["expected"] == output)
        prediction.log_score("length", len(output))
        prediction.finish()
    logger.log_summary({"note": "by hand"})
    (run,) = runs(server, tracer)
    assert run["status"] == "success"
    results = ask(
        server,
        tracer,
        "eval_results/query",
        evaluation_call_ids=[run["evaluation_run_id"]],
        include_raw_data_rows=True,
        include_summary=True,
        sort_by=[{"field": "scores.correct", "direction": "desc"}],
    ).json()
    assert [row["raw_data_row"] for row in results["rows"]] == [{"text": one["text"]} for one in EXAMPLES]
    (trial,) = results["rows"][0]["evaluations"][0]["trials"]
    assert (trial["model_output"], trial["scores"]) == ("7", {"correct": True, "length": 1})
    assert sorted(trial["scorer_call_ids"]) == ["correct", "length"]
    assert len(set(trial["scorer_call_ids"].values()) | {trial["predict_call_id"]}) == 3
    stats = {stat["scorer_key"]: stat for stat in results["summary"]["evaluations"][0]["scorer_stats"]}
    assert (stats["correct"]["pass_rate"], stats["length"]["numeric_mean"]) == (0.5, 1.0)
