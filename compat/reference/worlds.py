"""Worlds: lists of writes that are sent to both servers before queries, and can be replayed."""

import json
from dataclasses import dataclass
from typing import Any

from answers import Answer
from our_server import OurServer
from reference_server import ReferenceServer

PROJECT = "local/project-placeholder"
# The first group of calls' ids, replaced for each world: the reference keeps an id once for all projects.
ID_GROUP = "f0f0f0f0-"


@dataclass(frozen=True)
class Write:
    """One request. `PROJECT` stands for the project wherever it occurs, refs included."""

    path: str
    body: dict[str, Any]


@dataclass(frozen=True)
class Read:
    """One query; `PROJECT` stands for the project, as in a `Write`."""

    path: str
    body: dict[str, Any]


class Servers:
    """Both servers. Every world is written to a project of its own."""

    def __init__(self, ours: OurServer, reference: ReferenceServer, name: str) -> None:
        self.ours = ours
        self.reference = reference
        self._name = name
        self._projects = 0

    def write(self, writes: list[Write]) -> "World":
        """Writes a world to both servers. Raises AssertionError when one of them refuses a write."""
        self._projects += 1
        world = World(self, f"local/{self._name}-{self._projects}", f"f0{self._projects:06x}-", writes)
        for write in writes:
            ours, reference = world.ask(Read(write.path, write.body))
            assert ours.status == reference.status == 200, (write, ours, reference)
        return world


@dataclass(frozen=True)
class World:
    """A project that both servers have."""

    servers: Servers
    project: str
    id_group: str
    writes: list[Write]

    def ask(self, read: Read) -> tuple[Answer, Answer]:
        """Our answer and the reference's, with `PROJECT` for the project in both."""
        return self.ask_ours(read), self.ask_reference(read)

    def ask_ours(self, read: Read) -> Answer:
        body = self._named(read.body)
        path = read.path.replace(PROJECT, self.project)
        return self._anonymous(self.servers.ours.ask(path, body))

    def ask_reference(self, read: Read) -> Answer:
        body = self._named(read.body)
        return self._anonymous(self.servers.reference.ask(read.path, body))

    def _named(self, body: dict[str, Any]) -> dict[str, Any]:
        return json.loads(json.dumps(body).replace(PROJECT, self.project).replace(ID_GROUP, self.id_group))

    def _anonymous(self, answer: Answer) -> Answer:
        text = json.dumps(answer.body, default=str).replace(self.project, PROJECT).replace(self.id_group, ID_GROUP)
        return Answer(answer.status, json.loads(text))
