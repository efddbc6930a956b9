"""objects 2.4, 8, 11: random expressions find the same feedback and prices on both servers."""

from random import Random
from typing import Any

import pytest

import json_values
from answers import canonical
from call_worlds import new_id
from conftest import SCALE, SEED
from contract_model import MISSING, StructuredValueError, Value, json_at, truth
from expressions import Expression, Expressions, leaves
from worlds import PROJECT, Read, Servers, World, Write

TYPES = ["mine", "mine.other", "wandb.note.1"]
COLUMNS = ["id", "feedback_type", "weave_ref", "creator", "payload"]
ITEMS = 40
Item = dict[str, Any]


@pytest.fixture(scope="module")
def feedback(servers: Servers) -> World:
    random = Random(f"{SEED}-feedback")
    return servers.write([Write("/feedback/create", _item(random)) for _ in range(ITEMS)])


def _item(random: Random) -> Item:
    kind = random.choice(TYPES)
    payload = {"note": "größe"} if kind == "wandb.note.1" else json_values.mapping(random)
    call = f"weave:///{PROJECT}/call/{random.choice('ab')}"
    who = random.choice([None, "me", "You"])
    return {
        "project_id": PROJECT,
        "id": new_id(random),
        "weave_ref": call,
        "feedback_type": kind,
        "payload": payload,
        "creator": who,
    }


def test_feedback_reads_alike(feedback: World) -> None:
    """objects 2.4: rows have the values that were written, in the order of arrival."""
    body = {"project_id": PROJECT, "fields": COLUMNS, "sort_by": [{"field": "created_at", "direction": "asc"}]}
    ours, reference = feedback.ask(Read("/feedback/query", body))
    assert canonical(ours.body["result"]) == canonical(reference.body["result"])
    assert ours.body["total_count"] == ITEMS


def test_feedback_expressions(feedback: World) -> None:
    """objects 11"""
    random = Random(f"{SEED}-feedback-query")
    items = {write.body["id"]: write.body for write in feedback.writes}
    expressions = Expressions(random, lambda: _field(random, list(items.values())))
    for _ in range(int(120 * SCALE)):
        expression = expressions.expression()
        why = _explain(feedback, items, expression)
        assert why is None, f"{canonical(expression)}: {why}"


def _field(random: Random, items: list[Item]) -> tuple[str, list[Any]]:
    name = random.choice(["payload." + json_values.path(random), "feedback_type", "creator", "weave_ref"])
    standing = [_value(random.choice(items), name).raw for _ in range(3)]
    usable = [raw for raw in standing if raw is not MISSING and not isinstance(raw, list | dict)]
    return name, [*usable, json_values.scalar(random)]


def _value(item: Item, name: str) -> Value:
    if name.startswith("payload."):
        return Value("json", json_at(item["payload"], name.removeprefix("payload.")))
    return Value("text", MISSING if item[name] is None else item[name])


def _explain(world: World, items: dict[str, Item], expression: Expression) -> str | None:
    body = {"project_id": PROJECT, "fields": ["id"], "query": {"$expr": expression}}
    ours, reference = world.ask(Read("/feedback/query", body))
    if ours.status != 200:
        return f"ours {ours.status}: {ours.body}"
    if reference.status != 200 and not _breaks_sqlite(expression):
        return f"the reference fails: {reference.body}"
    found = {row["id"] for row in ours.body["result"]}
    there = {row["id"] for row in reference.body["result"]} if reference.status == 200 else None
    for one in items.keys() if there is None else found ^ there:
        item = items[one]
        try:
            wanted = truth(expression, lambda name, item=item: _value(item, name)) is True
        except StructuredValueError:
            continue
        if wanted != (one in found):
            return f"ours is not the contract's answer for {canonical(item)}"
        if there is not None and not any(_differs(leaf, item) for leaf in leaves(expression)):
            return f"a difference that is not written down for {canonical(item)}"
    return None


def _breaks_sqlite(expression: Expression) -> bool:
    """True for the difference `feedback-convert`: the reference writes ClickHouse's casts into SQLite's statement."""
    return any("$convert" in str(leaf) or "\\x00" in str(leaf) for leaf in leaves(expression))


def _differs(leaf: Expression, item: Item) -> bool:
    """True for the written difference `feedback-types`: other types, tests for null, keys that SQLite does not find."""
    if "$convert" in str(leaf):
        return True
    names = [part.split("'")[0] for part in str(leaf).split("'$getField': '")[1:]]
    [(operator, operands)] = leaf.items()
    literals = [one["$literal"] for one in _flat(operands) if "$literal" in one]
    if (operator == "$contains" and operands.get("case_insensitive")) or len(names) > 1 or None in literals:
        return True
    raws = [_value(item, name.replace("\\\\", "\\")).raw for name in names]
    lost = any(name.startswith("payload.") and (not name.isascii() or any(map(str.isdigit, name))) for name in names)
    return lost or any(type(raw) is not type(literal) for raw in raws for literal in literals)


def _flat(operands: Any) -> list[Expression]:
    if isinstance(operands, dict):
        return [operands["input"], operands["substr"]]
    return [one for operand in operands for one in (operand if isinstance(operand, list) else [operand])]


def test_purged_feedback_is_gone(servers: Servers) -> None:
    """objects 5"""
    random = Random(f"{SEED}-purge")
    world = servers.write([Write("/feedback/create", _item(random)) for _ in range(5)])
    gone = [write.body["id"] for write in world.writes[:2]]
    wanted = {"$or": [{"$eq": [{"$getField": "id"}, {"$literal": one}]} for one in gone]}
    ours, reference = world.ask(Read("/feedback/purge", {"project_id": PROJECT, "query": {"$expr": wanted}}))
    assert ours.status == reference.status == 200
    body = {"project_id": PROJECT, "fields": ["id"], "sort_by": [{"field": "id", "direction": "desc"}]}
    ours, reference = world.ask(Read("/feedback/query", body))
    assert canonical(ours.body["result"]) == canonical(reference.body["result"])
    assert len(ours.body["result"]) == 3


PRICE_FIELDS = ["llm_id", "prompt_token_cost", "completion_token_cost", "prompt_token_cost_unit", "provider_id"]


def test_prices(servers: Servers) -> None:
    """objects 8: one price after another, found by model and in every order."""
    random = Random(f"{SEED}-prices")
    models = ["gpt-4o", "größe", "it's", "own"]
    writes = []
    for day in range(1, 13):
        price = {"prompt_token_cost": random.choice([0.5, 1e-06, 2.0]), "completion_token_cost": day / 8}
        price |= random.choice([{}, {"provider_id": "mine"}, {"prompt_token_cost_unit": "EUR"}])
        costs = {random.choice(models): {**price, "effective_date": f"2026-01-{day:02d}T00:00:00Z"}}
        writes.append(Write("/cost/create", {"project_id": PROJECT, "costs": costs}))
    world = servers.write(writes)
    for _ in range(int(20 * SCALE)):
        keys = [random.choice(["llm_id", "provider_id", "prompt_token_cost_unit"]), "effective_date"]
        sort_by = [{"field": key, "direction": random.choice(["asc", "desc"])} for key in keys]
        wanted = {"$in": [{"$getField": "llm_id"}, [{"$literal": one} for one in random.sample(models, 2)]]}
        query = random.choice([{}, {"query": {"$expr": wanted}}])
        page = random.choice([{}, {"limit": 4}, {"limit": 3, "offset": 2}])
        body = {"project_id": PROJECT, "fields": PRICE_FIELDS, "sort_by": sort_by, **query, **page}
        ours, reference = world.ask(Read("/cost/query", body))
        assert ours.status == reference.status == 200, (body, ours, reference)
        assert canonical(_numbers(ours.body)) == canonical(_numbers(reference.body)), body


def _numbers(body: Any) -> Any:
    """Prices with all numbers as floats, since SQLite mixes both kinds; without cached tokens (`price-columns`)."""
    rows = [{name: row[name] for name in PRICE_FIELDS} for row in body["results"]]
    return [{name: float(v) if isinstance(v, int) else v for name, v in row.items()} for row in rows]
