"""Reactions, notes, scores and annotations on calls."""

from contextlib import suppress
from typing import Any

import weave
from weave.trace.weave_client import WeaveClient

from covers import covers
from weave_session import feedback_query, stored, uri_of


@weave.op
def answer(question: str) -> str:
    return question.upper()


class Length(weave.Scorer):
    limit: int = 5

    @weave.op
    def score(self, output: str) -> dict[str, Any]:
        return {"short": len(output) <= self.limit, "length": len(output)}


def one_call(client: WeaveClient) -> Any:
    answer("why")
    (call,) = stored(client)
    return call


@covers("weave-feedback")
def test_reactions_and_notes(client: WeaveClient) -> None:
    call = one_call(client)
    call.feedback.add_reaction("👍")
    note = call.feedback.add_note("well said")
    call.feedback.add("correctness", {"value": 0.9, "by": {"nested": [1]}})
    client.flush()
    rows = {row.feedback_type: row for row in call.feedback.refresh()}
    assert set(rows) == {"wandb.reaction.1", "wandb.note.1", "correctness"}
    assert rows["wandb.reaction.1"].payload["emoji"] == "👍"
    assert rows["wandb.reaction.1"].payload["alias"] == ":thumbs_up:"
    assert rows["wandb.note.1"].payload["note"] == "well said"
    assert rows["wandb.note.1"].id == note
    assert rows["correctness"].payload == {"value": 0.9, "by": {"nested": [1]}}
    assert {row.weave_ref for row in rows.values()} == {uri_of(call.ref)}


@covers("weave-feedback-find")
def test_feedback_of_a_project(client: WeaveClient) -> None:
    first = one_call(client)
    answer("how")
    second = stored(client)[1]
    first.feedback.add_reaction("👍")
    second.feedback.add_reaction("👎")
    ids = [second.feedback.add("kind", {"n": index}) for index in range(3)]
    client.flush()
    assert len(client.get_feedback()) == 5
    assert [row.weave_ref for row in client.get_feedback(reaction="👍")] == [uri_of(first.ref)]
    assert [row.id for row in client.get_feedback(ids[1])] == [ids[1]]
    kinds = feedback_query({"$eq": [{"$getField": "feedback_type"}, {"$literal": "kind"}]})
    assert [row.payload["n"] for row in client.get_feedback(kinds)] == [0, 1, 2]
    assert [row.payload["n"] for row in client.get_feedback(kinds, offset=1, limit=1)] == [1]
    number = {"$convert": {"input": {"$getField": "payload.n"}, "to": "double"}}
    payload = feedback_query({"$eq": [number, {"$literal": 2}]})
    assert [row.id for row in client.get_feedback(payload)] == [ids[2]]


@covers("weave-feedback-purge")
def test_purged_feedback_is_gone(client: WeaveClient) -> None:
    call = one_call(client)
    kept = call.feedback.add_note("stays")
    gone = call.feedback.add_note("goes")
    client.flush()
    call.feedback.purge(gone)
    assert [row.id for row in call.feedback.refresh()] == [kept]


@covers("weave-feedback-refused")
def test_too_long_a_note_is_refused(client: WeaveClient) -> None:
    call = one_call(client)
    call.feedback.add_note("x" * 1024)
    client.flush()
    with suppress(Exception):  # sent one by one it raises; in a batch it is logged and dropped
        call.feedback.add_note("x" * 1025)
    client.flush()
    assert [len(row.payload["note"]) for row in call.feedback.refresh()] == [1024]


@covers("weave-feedback-in-calls")
def test_calls_come_with_their_feedback(client: WeaveClient) -> None:
    call = one_call(client)
    call.feedback.add("grade", {"value": 7})
    client.flush()
    (read,) = client.get_calls(include_feedback=True)
    (row,) = read.summary["weave"]["feedback"]
    assert (row["feedback_type"], row["payload"]) == ("grade", {"value": 7})
    graded = {
        "$expr": {
            "$gt": [
                {
                    "$convert": {
                        "input": {"$getField": "feedback.[grade].payload.value"},
                        "to": "double",
                    }
                },
                {"$literal": 5},
            ]
        }
    }
    assert [found.id for found in client.get_calls(query=graded)] == [call.id]


@covers("weave-scorer")
async def test_a_scorer_leaves_its_verdict(client: WeaveClient) -> None:
    _, call = answer.call("why")
    result = await call.apply_scorer(Length(limit=2))
    assert result.result == {"short": False, "length": 3}
    client.flush()
    (row,) = call.feedback.refresh()
    assert row.feedback_type == "wandb.runnable.Length"
    assert row.payload["output"] == {"short": False, "length": 3}
    assert row.runnable_ref.startswith(f"weave:///{client.entity}/{client.project}/object/Length:")
    assert "/call/" in row.call_ref
    assert [found.id for found in client.get_calls(scored_by="Length")] == [call.id]
