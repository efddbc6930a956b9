"""Evaluations: `weave.Evaluation` and `weave.EvaluationLogger`, as the server keeps them."""

from typing import Any

import pytest
import weave
from weave.trace.weave_client import WeaveClient

from adder import EXAMPLES, Adder, exact
from covers import covers
from weave_session import stored


def of(calls: list[Any], name: str) -> list[Any]:
    return [call for call in calls if call.func_name == name]


@covers("weave-evaluation")
async def test_an_evaluation_leaves_a_tree_of_calls(tracer: WeaveClient) -> None:
    dataset = weave.Dataset(name="sums", rows=EXAMPLES)
    evaluation = weave.Evaluation(name="sums-eval", dataset=dataset, scorers=[exact])
    summary = await evaluation.evaluate(Adder())
    assert summary["exact"]["correct"] == {"true_count": 2, "true_fraction": 1.0}
    calls = stored(tracer)
    (root,) = of(calls, "Evaluation.evaluate")
    assert root.parent_id is None
    assert root.output["exact"]["correct"]["true_count"] == 2
    assert root.summary["weave"]["status"] == "success"
    rows = of(calls, "Evaluation.predict_and_score")
    assert {call.parent_id for call in rows} == {root.id}
    predictions = of(calls, "Adder.predict")
    assert sorted(call.output for call in predictions) == ["2", "7"]
    assert {call.parent_id for call in predictions} == {call.id for call in rows}
    assert [dict(call.output) for call in of(calls, "exact")] == [{"correct": True}] * 2
    assert len(of(calls, "Evaluation.summarize")) == 1
    assert {call.trace_id for call in calls} == {root.trace_id}


@covers("weave-evaluation")
async def test_an_evaluation_is_an_object(client: WeaveClient) -> None:
    evaluation = weave.Evaluation(name="kept", dataset=EXAMPLES, scorers=[exact])
    await evaluation.evaluate(Adder(offset=1))
    client.flush()
    read = weave.ref("kept").get()
    assert [row["expected"] for row in read.dataset.rows] == ["7", "2"]
    (root,) = [call for call in stored(client) if call.func_name == "Evaluation.evaluate"]
    assert root.output["exact"]["correct"]["true_fraction"] == 0.0


@covers("weave-evaluation-error")
async def test_a_failing_row_is_an_error_of_its_call(client: WeaveClient) -> None:
    evaluation = weave.Evaluation(dataset=[{"text": "no sum", "expected": ""}, EXAMPLES[0]], scorers=[exact])
    await evaluation.evaluate(Adder())
    predictions = of(stored(client), "Adder.predict")
    assert sorted(call.summary["weave"]["status"] for call in predictions) == ["error", "success"]


@covers("weave-evaluation-logger")
def test_an_evaluation_logged_by_hand(tracer: WeaveClient) -> None:
    logger = weave.EvaluationLogger(name="by-hand", model="my-model", dataset="my-data")
    for example, output in zip(EXAMPLES, ("7", "3"), strict=True):
        prediction = logger.log_prediction(inputs={"text": example["text"]}, output=output)
        prediction.log_score("correct", example["expected"] == output)
        prediction.log_score("length", len(output))
        prediction.finish()
    logger.log_summary({"note": "by hand"})
    calls = stored(tracer)
    (root,) = of(calls, "Evaluation.evaluate")
    assert root.summary["weave"]["status"] == "success"
    assert root.output["correct"]["true_count"] == 1
    assert root.output["length"]["mean"] == pytest.approx(1.0)
    assert root.output["output"]["note"] == "by hand" or root.output["note"] == "by hand"
    rows = of(calls, "Evaluation.predict_and_score")
    assert [dict(call.output["scores"]) for call in rows] == [
        {"correct": True, "length": 1},
        {"correct": False, "length": 1},
    ]


@covers("weave-evaluation-logger")
def test_a_logger_that_fails(client: WeaveClient) -> None:
    logger = weave.EvaluationLogger(name="fails", model="m", dataset="d")
    logger.log_prediction(inputs={"a": 1}, output="x").finish()
    logger.fail(RuntimeError("out of money"))
    (root,) = of(stored(client), "Evaluation.evaluate")
    assert "out of money" in root.exception
