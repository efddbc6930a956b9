"""The seam between the engine and what samples: token ids in, token ids and raw log-probabilities out."""

from collections.abc import Callable
from typing import Protocol

from ..bases import Base
from .generation import Request


class Backend(Protocol):
    """Samples for all base models. Called from the event loop; tells a request's progress to its sink."""

    @property
    def running(self) -> int:
        """Choices and prompts that are being computed."""
        ...

    @property
    def waiting(self) -> int: ...

    def submit(self, base: Base, request: Request) -> None:
        """Begin `request`. Whatever goes wrong is told to its sink."""
        ...

    def cancel(self, request: Request) -> None:
        """Its places are free soon; its sink hears nothing more of it."""
        ...

    def forget(self, base: Base, forgotten: Callable[[], None]) -> None:
        """Give up what is held for `base`, which nobody uses; calls `forgotten` when that is done."""
        ...
