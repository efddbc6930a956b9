"""The processes that train: the engine and its workers."""

from ...bases import Base
from .member import Member
from .tasks import BaseRef


class WorkerGroup:
    """``size`` processes with the engine; ``members`` are those but the engine."""

    def __init__(self, size: int):
        self.size = size
        self.members = [Member() for _ in range(size - 1)]

    def load(self, base: BaseRef) -> None:
        """A job is about to need ``base``."""
        self._tell({"load": base.as_json()})

    def forget(self, base: Base) -> None:
        self._tell({"forget": BaseRef.named(base).as_json()})

    def close(self) -> None:
        """Let the workers go."""

    def _tell(self, content: dict) -> None:
        for member in self.members:
            member.tell(content)
