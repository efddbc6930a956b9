"""objects 3, 9: after random histories, versions, reads by every name, lists and refs are alike on both servers."""

from random import Random
from typing import Any

import pytest

import json_values
from answers import Answer, canonical
from conftest import SCALE, SEED
from worlds import PROJECT, Read, Servers, Write

OBJECT_IDS = ["model", "data.set", "größe", "op-one"]
CLASSES = [
    {},
    {"_class_name": "Mine", "_bases": ["Model", "Object", "BaseModel"]},
    {"_class_name": "Other", "_bases": ["Object", "BaseModel"]},
]
# Fields that differ by nature, because each server sets them itself.
SERVER_MADE = ("created_at", "deleted_at", "size_bytes", "wb_user_id")


class History:
    """A random history of publishing and deleting, written to both servers."""

    def __init__(self, servers: Servers, random: Random) -> None:
        self.world = servers.write([Write("/obj/create", _object("model", {"first": 1}))])
        self.digests: dict[str, list[str]] = {"model": []}
        self.deleted: set[str] = set()
        self.revived: set[str] = set()
        self._values: dict[str, list[Any]] = {}
        for _ in range(40):
            self._step(random)

    def _step(self, random: Random) -> None:
        name = random.choice(OBJECT_IDS)
        known = self.digests.setdefault(name, [])
        if known and random.random() < 0.2:
            digest = random.choice(known)
            ours, reference = self.world.ask(Read("/obj/delete", _named(name, digests=[digest])))
            assert ours.status == reference.status, (ours, reference)
            if ours.status == 200:
                self.deleted.add(digest)
            return
        values = self._values.setdefault(name, [])
        if not values or random.random() < 0.7:
            values.append(self._value(random, name))
        ours, reference = self.world.ask(Read("/obj/create", _object(name, random.choice(values))))
        assert canonical(ours.body) == canonical(reference.body), (name, ours, reference)
        digest = ours.body["digest"]
        if digest in self.deleted:
            self.revived.add(name)
            self.deleted.discard(digest)
        if digest not in known:
            known.append(digest)

    @staticmethod
    def _value(random: Random, name: str) -> Any:
        if name == "op-one":
            return {"_type": "CustomWeaveType", "weave_type": {"type": "Op"}, "n": json_values.scalar(random)}
        index = OBJECT_IDS.index(name) % len(CLASSES)
        return {**json_values.mapping(random), **CLASSES[index]}


@pytest.fixture(scope="module")
def history(servers: Servers) -> History:
    return History(servers, Random(f"{SEED}-objects"))


def test_reads_by_every_name(history: History) -> None:
    """objects 3.2: digest, latest, version index."""
    random = Random(f"{SEED}-reads")
    for name, digests in history.digests.items():
        versions = [*digests, "latest", *(f"v{index}" for index in range(4)), "no-such-alias"]
        for version in versions:
            metadata_only = random.random() < 0.3
            body = _named(name, digest=version, metadata_only=metadata_only)
            ours, reference = history.world.ask(Read("/obj/read", body))
            if name in history.revived and version.startswith("v"):
                continue  # `revived`: the index stays ours, is new there.
            assert ours.status == reference.status, (body, ours, reference)
            if ours.status == 200:
                assert _comparable(history, ours.body["obj"]) == _comparable(history, reference.body["obj"]), body


def test_lists(history: History) -> None:
    """objects 3.3: every filter, order and page."""
    random = Random(f"{SEED}-lists")
    members: dict[str, Any] = {
        "object_ids": ["model", "größe"],
        "is_op": False,
        "latest_only": True,
        "base_object_classes": ["Model"],
        "exclude_base_object_classes": ["Model"],
        "leaf_object_classes": ["Mine", "Other"],
    }
    for _ in range(int(40 * SCALE)):
        chosen = {name: members[name] for name in random.sample(sorted(members), random.randrange(3))}
        body: dict[str, Any] = {"project_id": PROJECT, "filter": chosen}
        if not history.revived:
            body |= random.choice([{}, {"limit": 3}, {"limit": 4, "offset": 2}])
        if random.random() < 0.4:
            body["sort_by"] = [{"field": "object_id", "direction": random.choice(["asc", "desc"])}]
        ours, reference = history.world.ask(Read("/objs/query", body))
        assert _list(history, ours, body) == _list(history, reference, body), body


def test_refs(history: History) -> None:
    """objects 9: whole values and paths into them; null for a deleted version."""
    for name, digests in history.digests.items():
        kind = "op" if name == "op-one" else "object"
        for digest in digests:
            ref = f"weave:///{PROJECT}/{kind}/{name}:{digest}"
            ours, reference = history.world.ask(Read("/refs/read_batch", {"refs": [ref]}))
            assert canonical(ours.body) == canonical(reference.body), ref
            for key in ours.body["vals"][0] or {}:
                if key.isidentifier() and key.isascii():
                    ours_part, part = history.world.ask(Read("/refs/read_batch", {"refs": [f"{ref}/attr/{key}"]}))
                    assert canonical(ours_part.body) == canonical(part.body), (ref, key)


def _list(history: History, answer: Answer, body: dict[str, Any]) -> list[str]:
    """Rows to compare, without two differences: `class-less`, and the time of revived objects."""
    assert answer.status == 200, answer
    objects = answer.body["objs"]
    if body["filter"].get("exclude_base_object_classes"):
        objects = [one for one in objects if one["base_object_class"] is not None]
    shown = [_comparable(history, one) for one in objects]
    return sorted(shown) if history.revived else shown


def _comparable(history: History, one: dict[str, Any]) -> str:
    without = [*SERVER_MADE, *(["version_index"] if one["object_id"] in history.revived else [])]
    return canonical({name: value for name, value in one.items() if name not in without})


def _object(name: str, value: Any) -> dict[str, Any]:
    return {"obj": {"project_id": PROJECT, "object_id": name, "val": value}}


def _named(name: str, **fields: Any) -> dict[str, Any]:
    return {"project_id": PROJECT, "object_id": name, **fields}
