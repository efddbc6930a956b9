"""calls 2.3, 3.3: renamed calls, deleted subtrees, and calls read one by one are alike on both servers."""

from random import Random
from typing import Any

import call_worlds
import calls_check
from call_worlds import written_calls
from conftest import SCALE, SEED
from worlds import PROJECT, Read, Servers


def test_renamed_and_deleted_calls(servers: Servers) -> None:
    random = Random(f"{SEED}-changes")
    for _ in range(max(1, int(3 * SCALE))):
        world = servers.write(call_worlds.random_calls(random, 25))
        calls = written_calls(world.writes)
        left = set(calls)
        for one in random.sample(sorted(calls), 8):
            name = {"project_id": PROJECT, "call_id": one, "display_name": random.choice(["", "later", "später"])}
            _both(world.ask(Read("/call/update", name)))
        for one in random.sample(sorted(calls), 3):
            gone = _subtree(calls, one) & left
            ours = _both(world.ask(Read("/calls/delete", {"project_id": PROJECT, "call_ids": [one]})))
            assert ours["num_deleted"] == len(gone), one
            left -= gone
        ours, reference = world.ask(Read(calls_check.QUERY, {"project_id": PROJECT}))
        assert {call["id"] for call in ours.body} == {call["id"] for call in reference.body} == left
        for call, there in zip(ours.body, reference.body, strict=True):
            assert calls_check.explain_record({}, call, there) is None
        for one in calls:
            call, there = world.ask(Read("/call/read", {"project_id": PROJECT, "id": one}))
            assert (call.body["call"] is None) == (there.body["call"] is None) == (one not in left)


def _subtree(calls: dict[str, Any], root: str) -> set[str]:
    found = {root}
    for one, call in calls.items():  # Parents come before their children.
        if call["parent_id"] in found:
            found.add(one)
    return found


def _both(answers: Any) -> Any:
    ours, reference = answers
    assert ours.status == reference.status == 200, answers
    return ours.body
