"""Evaluation runs, predictions, scores and results by the generated client, with answers checked against its models."""

from typing import Any

import pytest
from weave.vendor.weave_server_sdk import BadRequestError, NotFoundError, UnprocessableEntityError, WeaveTrace

from covers import covers
from generated_client import strictly


class Place:
    """The project of a test, and refs of objects in it."""

    def __init__(self, project: str) -> None:
        entity, name = project.split("/")
        self.path: Any = {"entity": entity, "project": name}
        self.project = project

    def ref(self, name: str) -> str:
        return f"weave:///{self.project}/object/{name}:v0"


@pytest.fixture
def place(project: str) -> Place:
    return Place(project)


def run_of(api: WeaveTrace, place: Place, scores: list[Any], **fields: Any) -> str:
    """Makes a finished run with a scored prediction for each of `scores`; returns its id."""
    run = api.v2_evaluation_runs.create(
        **place.path, evaluation=place.ref("eval"), model=place.ref("model"), **fields
    ).evaluation_run_id
    for index, value in enumerate(scores):
        made = api.v2_predictions.create(
            **place.path,
            model=place.ref("model"),
            inputs={"question": index},
            output={"answer": index * 2},
            evaluation_run_id=run,
            genai_span_ref=[{"trace_id": "a" * 32, "span_id": "b" * 16}],
        ).prediction_id
        api.v2_scores.create(
            **place.path, prediction_id=made, scorer=place.ref("exact"), value=value, evaluation_run_id=run
        )
        assert api.v2_predictions.finish(made, **place.path).success is True
    assert api.v2_evaluation_runs.finish(run, **place.path, summary={"note": "done"}).success is True
    return run


@covers("generated-evaluation-runs")
def test_runs(api: WeaveTrace, place: Place) -> None:
    first = run_of(api, place, [True, False])
    second = run_of(api, place, [], source_evaluation_run_id=first)
    read = api.v2_evaluation_runs.read(second, **place.path)
    assert (read.evaluation, read.model, read.status) == (place.ref("eval"), place.ref("model"), "success")
    assert (read.source_evaluation_run_id, read.summary) == (first, {"note": "done"})
    assert read.started_at is not None
    assert read.finished_at is not None
    assert read.finished_at >= read.started_at

    def listed(**query: Any) -> list[str]:
        return [strictly(run).evaluation_run_id for run in api.v2_evaluation_runs.list(**place.path, **query)]

    assert listed() == [first, second]
    assert listed(limit=1, offset=1) == [second]
    assert listed(evaluations=[place.ref("eval"), "other"], models=[place.ref("model")]) == [first, second]
    assert listed(evaluation_run_ids=[second, first]) == [first, second]
    assert listed(evaluations=["other"]) == []
    # 8 calls: the run, its summary, and three for each prediction.
    assert api.v2_evaluation_runs.delete(**place.path, evaluation_run_ids=[first]).num_deleted == 8
    with pytest.raises(NotFoundError):
        api.v2_evaluation_runs.read(first, **place.path)


@covers("generated-evaluation-runs")
def test_predictions_and_scores(api: WeaveTrace, place: Place) -> None:
    alone: Any = {"model": "gpt-4", "inputs": {"a": [1]}, "output": None}
    prediction = api.v2_predictions.create(**place.path, **alone).prediction_id
    read = api.v2_predictions.read(prediction, **place.path)
    assert (read.model, read.inputs, read.output, read.evaluation_run_id) == ("gpt-4", {"a": [1]}, None, None)
    run = run_of(api, place, ["good"])
    (of_run,) = (strictly(one) for one in api.v2_predictions.list(**place.path, evaluation_run_id=run))
    assert (of_run.inputs, of_run.output, of_run.evaluation_run_id) == ({"question": 0}, {"answer": 0}, run)
    score = api.v2_scores.create(
        **place.path, prediction_id=prediction, scorer=place.ref("length"), value={"n": 2**53 + 1}
    ).score_id
    assert api.v2_scores.read(score, **place.path).value == {"n": 9007199254740993}
    values = [strictly(one).value for one in api.v2_scores.list(**place.path)]
    assert values == ["good", {"n": 9007199254740993}]
    (good,) = (strictly(one) for one in api.v2_scores.list(**place.path, evaluation_run_id=run, limit=5))
    assert (good.scorer, good.evaluation_run_id) == (place.ref("exact"), run)
    assert api.v2_scores.delete(**place.path, score_ids=[score, good.score_id]).num_deleted == 2
    deleted = api.v2_predictions.delete(**place.path, prediction_ids=[prediction, of_run.prediction_id])
    assert deleted.num_deleted == 2
    with pytest.raises(NotFoundError, match="Prediction"):
        api.v2_scores.create(**place.path, prediction_id=prediction, scorer=place.ref("s"), value=1)
    with pytest.raises(BadRequestError, match="scorer"):
        api.v2_scores.create(**place.path, prediction_id=prediction, scorer="s", value=1)


@covers("generated-eval-results")
def test_results(api: WeaveTrace, place: Place) -> None:
    first, second = run_of(api, place, [True, False]), run_of(api, place, [True, True, True])
    answer = api.v2_eval_results.query(
        **place.path,
        evaluation_run_ids=[first],
        evaluation_call_ids=[second],
        include_raw_data_rows=True,
        include_summary=True,
        include_costs=True,
        sort_by=[{"field": "inputs.question", "direction": "desc"}],
        filters=[{"query": {"$expr": {"$gte": [{"$getField": "outputs.answer"}, {"$literal": 2}]}}}],
        limit=1,
        offset=1,
    )
    assert answer.total_rows == 2
    (row,) = answer.rows
    assert row.raw_data_row == {"question": 1}
    assert [one.evaluation_call_id for one in row.evaluations] == [second, first]
    (trial,) = row.evaluations[1].trials
    assert (trial.api_model_output, trial.scores) == ({"answer": 2}, {"exact": False})
    assert trial.genai_span_ref is not None
    assert trial.genai_span_ref[0].span_id == "b" * 16
    assert list(trial.scorer_call_ids) == ["exact"]
    assert answer.summary is not None
    assert answer.summary.row_count == 3
    rates = [one.scorer_stats[0].pass_rate for one in answer.summary.evaluations]
    assert rates == [1.0, 0.5]
    assert answer.warnings == []
    spread = api.v2_eval_results.query(
        **place.path,
        evaluation_run_ids=[first, second],
        require_intersection=True,
        include_raw_data_rows=True,
        include_predict_and_score_children=False,
        sort_by=[{"field": "scores.exact", "direction": "desc", "mode": "difference"}],
    )
    assert [row.raw_data_row for row in spread.rows] == [{"question": 1}, {"question": 0}]
    with pytest.raises(UnprocessableEntityError, match="evaluation_call_ids"):
        api.v2_eval_results.query(**place.path)
