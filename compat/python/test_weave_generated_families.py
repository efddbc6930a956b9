"""Datasets, models, ops, scorers and evaluations by the generated client, answers checked against its models."""

from typing import Any

import pytest
from weave.vendor.weave_server_sdk import NotFoundError, UnprocessableEntityError, WeaveTrace

from covers import covers
from generated_client import strictly


def split(project: str) -> dict[str, str]:
    entity, name = project.split("/")
    return {"entity": entity, "project": name}


def checked(resource: Any, made: Any, project: str) -> Any:
    """Reads, lists and deletes the object that was made; returns the answer of the read."""
    at = split(project)
    shown = resource.read(made.digest, **at, object_id=made.object_id)
    assert (shown.object_id, shown.digest, shown.version_index) == (made.object_id, made.digest, made.version_index)
    assert resource.read("latest", **at, object_id=made.object_id) == shown
    (listed,) = [strictly(one) for one in resource.list(**at, limit=10) if one.object_id == made.object_id]
    assert listed.to_dict() == shown.to_dict()
    assert resource.delete(made.object_id, **at, digests=[made.digest]).num_deleted == 1
    with pytest.raises(NotFoundError, match="was deleted"):
        resource.read(made.digest, **at, object_id=made.object_id)
    with pytest.raises(NotFoundError):
        resource.delete(made.object_id, **at)
    return shown


@covers("generated-families")
def test_datasets(api: WeaveTrace, project: str) -> None:
    made = api.v2_datasets.create(**split(project), name="My Data", description="d", rows=[{"n": 1}, {"n": 2.0}])
    shown = checked(api.v2_datasets, made, project)
    assert (shown.name, shown.description, made.object_id) == ("My Data", "d", "my_data")
    table = shown.rows.removeprefix(f"weave:///{project}/table/")
    rows = api.tables.query(project_id=project, digest=table).rows
    assert [row.val for row in rows] == [{"n": 1}, {"n": 2.0}]


@covers("generated-families")
def test_models(api: WeaveTrace, project: str) -> None:
    source = "class M: ...\n"
    made = api.v2_models.create(**split(project), name="M", source_code=source, attributes={"t": 0.5})
    assert made.api_model_ref == f"weave:///{project}/object/m:{made.digest}"
    shown = checked(api.v2_models, made, project)
    assert (shown.source_code, shown.attributes, shown.description) == (source, {"t": 0.5}, None)
    with pytest.raises(UnprocessableEntityError, match="another name"):
        api.v2_models.create(**split(project), name="M", source_code=source, attributes={"name": 1})


@covers("generated-families")
def test_ops(api: WeaveTrace, project: str) -> None:
    made = api.v2_ops.create(**split(project), name="double", source_code="def double(n): return 2 * n\n")
    assert checked(api.v2_ops, made, project).code == "def double(n): return 2 * n\n"


@covers("generated-families")
def test_scorers(api: WeaveTrace, project: str) -> None:
    made = api.v2_scorers.create(**split(project), name="Exact", op_source_code="def score(output): ...\n")
    assert made.scorer == f"weave:///{project}/object/exact:{made.digest}"
    shown = checked(api.v2_scorers, made, project)
    version = shown.score_op.removeprefix(f"weave:///{project}/op/exact_score:")
    op = api.v2_ops.read(version, **split(project), object_id="exact_score")
    assert op.code == "def score(output): ...\n"


@covers("generated-families")
def test_evaluations(api: WeaveTrace, project: str) -> None:
    dataset = f"weave:///{project}/object/d:v0"
    made = api.v2_evaluations.create(
        **split(project), name="Quality", dataset=dataset, scorers=["weave:///x/y/object/s:v0"], trials=2
    )
    assert made.evaluation_ref == f"weave:///{project}/object/quality:{made.digest}"
    shown = checked(api.v2_evaluations, made, project)
    assert (shown.dataset, shown.scorers, shown.trials) == (dataset, ["weave:///x/y/object/s:v0"], 2)
    assert f"/op/{made.object_id}.evaluate:" in shown.evaluate_op
