"""Key and value memory: dense lines of equal capacity side by side, so decode attends without gathering.

A line holds one sequence. Lines of one capacity form a slab [layers, 2, lines, kv_heads, capacity, D];
lines in use are always the first ones. A sequence that outgrows its line moves to one four times as
long. Untouched pages of a slab cost no physical memory on a CPU.

Decode waits for memory, so it reads runs of lines, each up to the longest line in it. Lines are therefore
kept roughly by falling length: a freed line's place goes to the last one, which is short.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..model.decoder import Decoder

SMALLEST_LINE = 128
GROWTH = 4
RUNS = (1, 2, 4, 8)
"""Into how many runs of lines a slab may be cut."""
_RUN_COST_BYTES = 200_000
"""What one more run costs a layer, in bytes that could be read meanwhile (one core of a Xeon: about 20 us)."""
_STEPS_TO_PAY = 32
"""Sorting lines must save its cost in so many steps."""


@dataclass(eq=False)
class Line:
    """Place of one sequence: `length` tokens are written."""

    slab: "Slab"
    index: int
    length: int = 0

    def wipe(self) -> None:
        """Zero what a failed sequence wrote: not finite values would spoil the line for the next one."""
        self.slab.tokens(self, 0, self.slab.capacity).zero_()


class Slab:
    """All lines of one capacity, at most `most`."""

    def __init__(self, decoder: Decoder, capacity: int, most: int):
        config = decoder.config
        self.capacity, self._most = capacity, most
        self.lines: list[Line] = []
        self._place = (decoder.device, decoder.dtype)
        self.data = _zeros((config.num_layers, 2, 0, config.num_kv_heads, capacity, config.head_dim), *self._place)

    def add(self) -> Line:
        if len(self.lines) == self.data.shape[2]:
            self._enlarge(min(max(8, 2 * len(self.lines)), self._most))
        line = Line(self, len(self.lines))
        self.lines.append(line)
        return line

    def remove(self, line: Line) -> None:
        """Free `line`; the last line moves into its place."""
        last = self.lines.pop()
        if last is not line:
            self.data[:, :, line.index, :, : last.length] = self.data[:, :, last.index, :, : last.length]
            self.lines[line.index] = last
            last.index = line.index

    def runs(self, lengths: list[int]) -> list[range]:
        """Cut lines 0, 1, … of which `lengths` tokens are to be read into the runs that cost least."""
        return min((_cut(len(lengths), count) for count in RUNS), key=lambda runs: self._cost(runs, lengths))

    def _cost(self, runs: list[range], lengths: list[int]) -> int:
        """Bytes to read of a layer, with what the runs themselves cost."""
        token_bytes = 2 * self.data.shape[3] * self.data.shape[5] * self.data.itemsize
        tokens = sum(len(run) * max(lengths[run.start : run.stop]) for run in runs)
        return tokens * token_bytes + len(runs) * _RUN_COST_BYTES

    def sort(self) -> None:
        """Put the lines in order of falling length where that pays."""
        lengths = [line.length for line in self.lines]
        falling = sorted(lengths, reverse=True)
        saved = self._cost(self.runs(lengths), lengths) - self._cost(self.runs(falling), falling)
        # Every line is read, copied and written back.
        moved = 3 * self._cost(_cut(len(lengths), 1), lengths)
        if saved * _STEPS_TO_PAY < moved:
            return
        self.lines.sort(key=lambda line: -line.length)
        order = [line.index for line in self.lines]
        used = self.data[:, :, : len(order), :, : falling[0]]
        used[:] = used[:, :, order]
        for index, line in enumerate(self.lines):
            line.index = index

    def _enlarge(self, lines: int) -> None:
        grown = _zeros((*self.data.shape[:2], lines, *self.data.shape[3:]), *self._place)
        for line in self.lines:
            grown[:, :, line.index, :, : line.length] = self.data[:, :, line.index, :, : line.length]
        self.data = grown

    def tokens(self, line: Line, start: int, end: int) -> Tensor:
        """View [layers, 2, kv_heads, end - start, D] of a line."""
        return self.data[:, :, line.index, :, start:end]


def _cut(count: int, runs: int) -> list[range]:
    """0 … count in at most `runs` equal parts."""
    height = -(-count // runs)
    return [range(start, min(start + height, count)) for start in range(0, count, height)]


def _zeros(shape: tuple[int, ...], device: torch.device, dtype: torch.dtype) -> Tensor:
    """Zeros, because attention multiplies what it does not see by zero, which a stray NaN would survive.

    NumPy's come from untouched pages, torch's are written.
    """
    if device.type != "cpu" or 0 in shape:
        return torch.zeros(shape, device=device, dtype=dtype)
    return torch.from_numpy(np.zeros(math.prod(shape) * dtype.itemsize, np.uint8)).view(dtype).view(shape)


class KvMemory:
    """Lines of every capacity under one limit in bytes."""

    def __init__(self, decoder: Decoder, limit: int):
        config = decoder.config
        self._decoder, self._limit = decoder, limit
        self.max_length = config.max_position
        self.token_bytes = 2 * config.num_layers * config.num_kv_heads * config.head_dim * decoder.dtype.itemsize
        self._slabs: dict[int, Slab] = {}
        self.used_bytes = 0

    def capacity_for(self, length: int) -> int:
        capacity = SMALLEST_LINE
        while capacity < length:
            capacity *= GROWTH
        return min(capacity, self.max_length)

    def fits_alone(self, length: int) -> bool:
        """Whether a sequence of `length` could ever be held."""
        return self.capacity_for(length) * self.token_bytes <= self._limit

    def allocate(self, length: int) -> Line | None:
        """A line for at least `length` tokens, or None when the limit is reached."""
        capacity = self.capacity_for(length)
        line_bytes = capacity * self.token_bytes
        if self.used_bytes + line_bytes > self._limit:
            return None
        if capacity not in self._slabs:
            self._slabs[capacity] = Slab(self._decoder, capacity, self._limit // line_bytes)
        line = self._slabs[capacity].add()
        self.used_bytes += line_bytes
        return line

    def release(self, line: Line) -> None:
        self.used_bytes -= line.slab.capacity * self.token_bytes
        line.slab.remove(line)
        if not line.slab.lines:
            del self._slabs[line.slab.capacity]

    def grow(self, line: Line) -> Line | None:
        """Move a full line to a longer one; None when there is no room, the line then stays."""
        longer = self.allocate(line.slab.capacity + 1)
        if longer is None:
            return None
        longer.slab.tokens(longer, 0, line.length)[:] = line.slab.tokens(line, 0, line.length)
        longer.length = line.length
        self.release(line)
        return longer
