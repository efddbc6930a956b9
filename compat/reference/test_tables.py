"""calls 6: random tables have the same digests, rows in every order, pages and statistics on both servers."""

from random import Random
from typing import Any

import pytest

import json_values
from answers import canonical
from call_model import in_order
from conftest import SCALE, SEED
from known_differences import order_reasons
from worlds import PROJECT, Read, Servers, World, Write

FIELDS = ["a", "b", "n", "s", "list", "obj", "a.b", "obj.n", "b.s"]


@pytest.fixture(scope="module")
def tables(servers: Servers) -> tuple[World, dict[str, list[dict[str, Any]]]]:
    """Tables by digest; one is empty, and one has the same row twice."""
    random = Random(f"{SEED}-tables")
    contents = [[], *([json_values.mapping(random) for _ in range(30)] for _ in range(3))]
    contents.append([contents[1][0], *contents[1][:5], contents[1][0]])
    world = servers.write([Write("/table/create", _table(rows)) for rows in contents])
    digests = [world.ask_ours(Read("/table/create", _table(rows))).body["digest"] for rows in contents]
    return world, dict(zip(digests, contents, strict=True))


def _table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"table": {"project_id": PROJECT, "rows": rows}}


def test_digests(tables: tuple[World, Any]) -> None:
    """calls 6.1: rows and tables have the same digests when they are made again, updated and joined."""
    world, contents = tables
    for digest, rows in contents.items():
        random = Random(f"{SEED}-{digest}")
        created = _same(world, "/table/create", _table(rows))
        _same(world, "/table/create_from_digests", {"project_id": PROJECT, "row_digests": created["row_digests"]})
        updates: list[dict[str, Any]] = [{"append": {"row": json_values.mapping(random)}}]
        updates += [{"insert": {"index": 1, "row": json_values.mapping(random)}}, {"pop": {"index": 0}}]
        _same(world, "/table/update", {"project_id": PROJECT, "base_digest": digest, "updates": updates})


def test_statistics(tables: tuple[World, Any]) -> None:
    """calls 6.2"""
    world, contents = tables
    body = {"project_id": PROJECT, "digests": [*contents, "0" * 64]}
    ours, reference = world.ask(Read("/table/query_stats_batch", body))
    counts = [{row["digest"]: row["count"] for row in answer.body["tables"]} for answer in (ours, reference)]
    assert counts[0] == counts[1]
    assert counts[0] == {digest: len(rows) for digest, rows in contents.items()}


def test_rows_in_every_order(tables: tuple[World, Any]) -> None:
    """calls 6.2, 3.7: sorted by paths, chosen by digest, page by page."""
    world, contents = tables
    random = Random(f"{SEED}-rows")
    for _ in range(int(60 * SCALE)):
        digest = random.choice(list(contents))
        body: dict[str, Any] = {"project_id": PROJECT, "digest": digest}
        if random.random() < 0.7:
            field, direction = random.choice(FIELDS), random.choice(["asc", "desc"])
            body["sort_by"] = [{"field": field, "direction": direction}]
        if random.random() < 0.3:
            chosen = _same(world, "/table/query", {"project_id": PROJECT, "digest": digest, "limit": 7})["rows"]
            body["filter"] = {"row_digests": [row["digest"] for row in chosen]}
        body |= random.choice([{}, {"limit": 5}, {"limit": 10, "offset": 3}, {"offset": 2}, {"limit": 0}])
        why = _explain(world, body)
        assert why is None, f"{body}: {why}"


def _explain(world: World, body: dict[str, Any]) -> str | None:
    ours, reference = world.ask(Read("/table/query", body))
    assert ours.status == reference.status == 200, (body, ours, reference)
    if canonical(ours.body) == canonical(reference.body):
        return None
    keys = body.get("sort_by") or []
    whole = {name: value for name, value in body.items() if name not in ("limit", "offset")}
    all_ours, all_there = world.ask(Read("/table/query", whole))
    rows = {row["original_index"]: row for row in all_ours.body["rows"]}
    if rows != {row["original_index"]: row for row in all_there.body["rows"]}:
        return "other rows, or other places"
    calls = [{"id": f"{index:06d}", "inputs": row["val"]} for index, row in sorted(rows.items())]
    sort_by = [{"field": f"inputs.{key['field']}", "direction": key["direction"]} for key in keys]
    if not order_reasons({"sort_by": sort_by}, calls):
        return "an order that is not written down"
    wanted = in_order(calls, sort_by)
    start = body.get("offset") or 0
    end = None if body.get("limit") is None else start + body["limit"]
    shown = [f"{row['original_index']:06d}" for row in ours.body["rows"]]
    return None if wanted is None or shown == wanted[start:end] else f"not the contract's order: {shown}"


def _same(world: World, path: str, body: dict[str, Any]) -> Any:
    ours, reference = world.ask(Read(path, body))
    assert ours.status == 200, (path, body, ours)
    assert canonical(ours.body) == canonical(reference.body), (path, body)
    return ours.body
