"""calls 3.4 to 3.8: random filters, expressions, sorts, pages and columns give the same answers as the reference."""

from random import Random
from typing import Any

import pytest

import call_worlds
import calls_check
import json_values
from call_model import COMPUTED, field_value
from call_worlds import written_calls
from conftest import SCALE, SEED
from contract_model import MISSING
from expressions import Expressions
from shrink import shrunk
from worlds import PROJECT, Read, Servers, World

CALLS = 60
PLAIN = [
    *("id", "trace_id", "parent_id", "op_name", "display_name", "thread_id", "turn_id", "wb_run_id"),
    *("wb_run_step", "wb_run_step_end", "started_at", "ended_at", "exception", *COMPUTED),
]
HEADS = ["inputs", "output", "attributes", "summary.own"]
TIMES = [1772323200, 1772323200.5, "2026-03-01T00:30:00Z", "2026-03-01 01:00:00"]


@pytest.fixture(scope="module")
def world(servers: Servers) -> World:
    return servers.write(call_worlds.random_calls(Random(SEED), CALLS))


class Questions:
    """Draws queries for the calls of a world, with values that occur in it."""

    def __init__(self, random: Random, world: World) -> None:
        self._random = random
        self._calls = list(written_calls(world.writes).values())
        self._expressions = Expressions(random, self._field)

    def filter(self) -> dict[str, Any]:
        random = self._random
        one = random.choice(self._calls)
        members: dict[str, list[Any]] = {
            "op_names": [one["op_name"], random.choice(["score", f"weave:///{PROJECT}/op/predict:*"])],
            "input_refs": [random.choice([*call_worlds.OBJECT_REFS, f"weave:///{PROJECT}/object/model:*"])],
            "output_refs": [random.choice(call_worlds.OBJECT_REFS)],
            "parent_ids": [one["parent_id"] or "none"],
            "trace_ids": [one["trace_id"], random.choice(self._calls)["trace_id"]],
            "call_ids": [call["id"] for call in random.sample(self._calls, 10)],
            "thread_ids": [random.choice(call_worlds.THREADS)],
            "turn_ids": ["turn-a"],
            "wb_run_ids": ["local/runs/run-a"],
        }
        chosen: dict[str, Any] = {
            name: members[name] for name in random.sample(sorted(members), random.randrange(1, 3))
        }
        return chosen | random.choice([{}, {"trace_roots_only": True}])

    def query(self) -> dict[str, Any]:
        return {"$expr": self._expressions.expression()}

    def sort(self) -> list[dict[str, str]]:
        random = self._random
        names = [random.choice([random.choice(PLAIN), self._path()]) for _ in range(random.randrange(3))]
        keys = [{"field": name, "direction": random.choice(["asc", "desc"])} for name in dict.fromkeys(names)]
        return keys if random.random() < 0.3 else [*keys, {"field": "id", "direction": "asc"}]

    def page(self) -> dict[str, int]:
        random = self._random
        return {"limit": random.choice([0, 1, 5, 50]), "offset": random.choice([0, 1, 10])}

    def columns(self) -> list[str]:
        return self._random.sample([*PLAIN[:-3], "inputs", "output", "attributes", "summary", "inputs.a"], 3)

    def _field(self) -> tuple[str, list[Any]]:
        """A field and literals for it, more than half of which are values of that field."""
        name = self._path() if self._random.random() < 0.75 else self._random.choice(PLAIN)
        return name, [self._literal(name) for _ in range(self._random.randrange(1, 4))]

    def _literal(self, name: str) -> Any:
        random = self._random
        if name in ("started_at", "ended_at"):
            return random.choice(TIMES)
        standing = field_value(random.choice(self._calls), name).raw
        usable = standing is not MISSING and not isinstance(standing, list | dict)
        return standing if usable and random.random() < 0.6 else json_values.scalar(random)

    def _path(self) -> str:
        return f"{self._random.choice(HEADS)}.{json_values.path(self._random)}"


def check_all(servers: Servers, world: World, reads: list[Read]) -> None:
    """Fails when a difference is unexplained, and shows the first three cases made small."""
    found = [read for read in reads if calls_check.explain(world, read) is not None]
    small = [shrunk(servers, world.writes, read, calls_check.explain) for read in found[:3]]
    assert not found, f"{len(found)} of {len(reads)} differ, seed {SEED}:\n" + "\n".join(small)


def reads(world: World, salt: str, count: int, *parts: str) -> list[Read]:
    """Queries with some of `parts`: always with the first, sometimes with the others."""
    random = Random(f"{SEED}-{salt}")
    questions = Questions(random, world)
    made = []
    for _ in range(int(count * SCALE)):
        chosen = [part for part in parts if part == parts[0] or random.random() < 0.3]
        body: dict[str, Any] = {"project_id": PROJECT, "columns": ["id"]}
        for part in chosen:
            drawn = getattr(questions, part)()
            body |= drawn if part == "page" else {"sort_by" if part == "sort" else part: drawn}
        made.append(Read(calls_check.QUERY, body))
    return made


def test_everything_that_was_written_reads_alike(servers: Servers, world: World) -> None:
    """calls 3.1: payloads with their integers, floats, escapes and nulls."""
    check_all(servers, world, [Read(calls_check.QUERY, {"project_id": PROJECT})])


def test_filters(servers: Servers, world: World) -> None:
    """calls 3.5"""
    check_all(servers, world, reads(world, "filter", 60, "filter", "page"))


def test_expressions(servers: Servers, world: World) -> None:
    """calls 3.6"""
    check_all(servers, world, reads(world, "query", 250, "query", "filter"))


def test_sorts(servers: Servers, world: World) -> None:
    """calls 3.7"""
    check_all(servers, world, reads(world, "sort", 80, "sort", "query", "page"))


def test_columns(servers: Servers, world: World) -> None:
    """calls 3.8"""
    check_all(servers, world, reads(world, "columns", 30, "columns", "filter"))


def test_counts(servers: Servers, world: World) -> None:
    """calls 3.10: the count of what the query gives, on both sides."""
    for read in reads(world, "stats", 30, "query", "filter"):
        body = {name: value for name, value in read.body.items() if name != "columns"}
        ours, reference = world.ask(Read("/calls/query_stats", body))
        listed, listed_there = world.ask(read)
        assert ours.body["count"] == len(listed.body), read
        if reference.status == 200:
            assert reference.body["count"] == len(listed_there.body), read
