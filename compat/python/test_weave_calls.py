"""Finding calls again: filters, the query language, sorting, columns, paging, deleting."""

import time
from typing import Any

import pytest
import weave
from weave.trace.weave_client import WeaveClient

from covers import covers
from weave_session import project_name, stored, uri_of


@weave.op
def score(name: str, value: float, tags: dict[str, Any] | None = None) -> dict[str, Any]:
    if value < 0:
        raise ValueError("negative")
    return {"nested": {"score": value, "label": name.upper()}, "tags": tags}


@weave.op
def parent(name: str) -> None:
    score(name, 50.0)


@pytest.fixture
def filled(client: WeaveClient) -> WeaveClient:
    """Seven calls: five scores (one failed), and one parent with its child."""
    score("ada", 3.0, {"kind": "first"})
    score("bob", 20.0)
    score("cyd", 100.0, {"kind": "last"})
    score("dan", 9.0)
    with pytest.raises(ValueError, match="negative"):
        score("eve", -1.0)
    parent("fay")
    client.flush()
    return client


def names(calls: Any) -> list[str]:
    return [call.inputs["name"] for call in calls]


def where(*operands: Any, by: str = "$eq") -> dict[str, Any]:
    return {"$expr": {by: list(operands)}}


def field(path: str) -> dict[str, str]:
    return {"$getField": path}


def literal(value: Any) -> dict[str, Any]:
    return {"$literal": value}


def number(path: str) -> dict[str, Any]:
    return {"$convert": {"input": field(path), "to": "double"}}


SCORE = "output.nested.score"


@covers("weave-calls-order")
def test_the_oldest_call_comes_first(filled: WeaveClient) -> None:
    calls = list(filled.get_calls())
    assert names(calls) == ["ada", "bob", "cyd", "dan", "eve", "fay", "fay"]
    assert calls == sorted(calls, key=lambda call: call.started_at)


@covers("weave-calls-filter")
def test_filters(filled: WeaveClient) -> None:
    op = f"weave:///{project_name(filled)}/op/score"
    assert names(filled.get_calls(filter={"op_names": [f"{op}:*"]})) == [
        *("ada", "bob", "cyd", "dan", "eve", "fay"),
    ]
    exact = next(iter(filled.get_calls())).op_name
    assert len(filled.get_calls(filter={"op_names": [exact]})) == 6
    assert len(filled.get_calls(filter={"op_names": [f"{op}r:*"]})) == 0
    (root,) = [call for call in filled.get_calls() if call.func_name == "parent"]
    assert names(filled.get_calls(filter={"parent_ids": [root.id]})) == ["fay"]
    assert len(filled.get_calls(filter={"trace_ids": [root.trace_id]})) == 2
    assert len(filled.get_calls(filter={"trace_roots_only": True})) == 6
    assert names(filled.get_calls(filter={"call_ids": [root.id]})) == ["fay"]


@covers("weave-calls-query")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (where(field("inputs.name"), literal("bob")), ["bob"]),
        (where(number(SCORE), literal(10.0), by="$gt"), ["bob", "cyd", "fay"]),
        (where(number(SCORE), literal(9.0), by="$gte"), ["bob", "cyd", "dan", "fay"]),
        (where(field("inputs.name"), [literal("ada"), literal("eve")], by="$in"), ["ada", "eve"]),
        (where(field("output.tags.kind"), literal("last")), ["cyd"]),
        (where(field("summary.weave.status"), literal("error")), ["eve"]),
        (where(field("exception"), literal(None)), ["ada", "bob", "cyd", "dan", "fay", "fay"]),
        ({"$expr": {"$not": [{"$eq": [field("exception"), literal(None)]}]}}, ["eve"]),
        (
            {"$expr": {"$contains": {"input": field("output.nested.label"), "substr": literal("A")}}},
            ["ada", "dan", "fay"],
        ),
        (
            {
                "$expr": {
                    "$or": [
                        {"$eq": [field("inputs.name"), literal("dan")]},
                        {
                            "$and": [
                                {"$gt": [number(SCORE), literal(50)]},
                                {"$contains": {"input": field("inputs.name"), "substr": literal("y")}},
                            ]
                        },
                    ]
                }
            },
            ["cyd", "dan"],
        ),
    ],
)
def test_the_query_language(filled: WeaveClient, query: Any, expected: list[str]) -> None:
    assert names(filled.get_calls(query=query)) == expected


@covers("weave-calls-query")
def test_times_are_compared_as_seconds(filled: WeaveClient) -> None:
    future = where(field("started_at"), literal(time.time() + 60), by="$gt")
    past = where(field("started_at"), literal(time.time() - 3600), by="$gt")
    assert len(filled.get_calls(query=future)) == 0
    assert len(filled.get_calls(query=past)) == 7


@covers("weave-calls-sort")
@pytest.mark.parametrize(
    ("key", "direction", "expected"),
    [
        ("started_at", "desc", ["fay", "fay", "eve", "dan", "cyd", "bob", "ada"]),
        (SCORE, "asc", ["ada", "dan", "bob", "fay", "cyd"]),
        (SCORE, "desc", ["cyd", "fay", "bob", "dan", "ada"]),
        ("inputs.name", "desc", ["fay", "fay", "eve", "dan", "cyd", "bob", "ada"]),
    ],
)
def test_sorting(filled: WeaveClient, key: str, direction: str, expected: list[str]) -> None:
    calls = filled.get_calls(sort_by=[{"field": key, "direction": direction}])
    assert names(calls)[: len(expected)] == expected, "calls without the value come last"


@covers("weave-calls-page")
def test_pages_join_without_seam(filled: WeaveClient) -> None:
    whole = [call.id for call in filled.get_calls()]
    assert [call.id for call in filled.get_calls(page_size=2)] == whole
    assert [call.id for call in filled.get_calls(limit=3, offset=2)] == whole[2:5]
    calls = filled.get_calls(page_size=2)
    assert len(calls) == 7
    assert calls[4].id == whole[4]
    assert [call.id for call in calls[1:3]] == whole[1:3]
    assert len(filled.get_calls(limit=2)) == 2


@covers("weave-calls-columns")
def test_columns_bring_only_what_was_asked(filled: WeaveClient) -> None:
    (call, *_) = filled.get_calls(columns=["inputs.name"])
    assert call.inputs["name"] == "ada"
    assert call.output is None
    assert call.id
    assert call.op_name
    assert call.started_at


@covers("weave-calls-expand")
def test_refs_are_expanded_on_request(client: WeaveClient) -> None:
    prompt = weave.publish({"text": "be kind", "temperature": 0.5}, "prompt")

    @weave.op
    def ask(prompt: Any) -> str:
        return "ok"

    ask(weave.ref(uri_of(prompt)).get())
    (call,) = stored(client)
    kind = where(field("inputs.prompt.text"), literal("be kind"))
    (found,) = client.get_calls(query=kind, expand_columns=["inputs.prompt"])
    assert found.id == call.id
    assert next(iter(client.get_calls(filter={"input_refs": [uri_of(prompt)]}))).id == call.id
    versions = uri_of(prompt).rsplit(":", 1)[0] + ":*"
    assert len(client.get_calls(filter={"input_refs": [versions]})) == 1


@covers("weave-calls-delete")
def test_deleting_takes_the_descendants_too(filled: WeaveClient) -> None:
    (root,) = [call for call in filled.get_calls() if call.func_name == "parent"]
    root.delete()
    filled.flush()
    assert names(filled.get_calls()) == ["ada", "bob", "cyd", "dan", "eve"]
    with pytest.raises(ValueError, match="Call not found"):
        filled.get_call(root.id)
    filled.delete_calls([call.id for call in filled.get_calls(limit=2)])
    assert names(filled.get_calls()) == ["cyd", "dan", "eve"]


@covers("weave-calls-project")
def test_calls_of_another_project_stay_there(filled: WeaveClient) -> None:
    (first, *_) = filled.get_calls()
    other = weave.init(f"{filled.entity}/{filled.project}-other")
    with pytest.raises(ValueError, match="Call not found"):
        other.get_call(first.id)
    assert len(other.get_calls()) == 0
