"""What serving needs of memory for keys and values, however it is laid out."""

from typing import Protocol

from torch import Tensor

from ..model.delta.delta_net import DeltaState


class KvLine(Protocol):
    """The place of one sequence: `length` tokens are written, and there is memory for `room`.

    `state` is what delta nets remember of the `length` tokens; None of a model without any.
    """

    room: int
    length: int
    state: DeltaState | None

    @property
    def bytes(self) -> int:
        """Its bytes as the limit counts them."""
        ...

    @property
    def is_full(self) -> bool: ...

    def read(self) -> Tensor:
        """Keys and values [layers, 2, kv_heads, length, D]; a view where they lie so."""
        ...

    def fill(self, kv: Tensor) -> None:
        """Begin with `kv` [layers, 2, kv_heads, tokens, D]."""
        ...

    def wipe(self) -> None:
        """Zero what a failed sequence wrote: values that are not finite would spoil the place for the next sequence."""
        ...


class KvMemory(Protocol):
    """Lines under one limit in bytes, and at most so many."""

    limit: int
    most_lines: int

    def bytes_for(self, length: int) -> int:
        """What a line for `length` tokens counts."""
        ...

    def allocate(self, length: int) -> KvLine | None:
        """A line for at least `length` tokens, or None when the limit is reached."""
        ...

    def release(self, line: KvLine) -> None: ...

    def grow(self, line: KvLine) -> KvLine | None:
        """`line` with more room, or the longer line that it moved to; None, and `line` as it was, without memory."""
        ...
