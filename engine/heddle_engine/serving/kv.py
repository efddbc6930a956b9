"""Memory for keys and values: one dense line for each sequence, side by side, so decode attends without gathering.

On a CPU every line is as long as a sequence may become, and a page of it takes memory when it is first
written (vAttention, arXiv:2405.04437, has the operating system page in the same way). A sequence never moves as it
grows, and the limit counts what is written, in granules. Elsewhere memory is taken when it is allocated,
so lines come in capacities that double, a sequence that outgrows its line moves to a longer one, and the limit
counts what is allocated.

Decode waits for memory, so it reads runs of lines, each up to the longest line in it. Lines are therefore
kept roughly by falling length: a freed line's place goes to the last one, which is short.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ..model.decoder import Decoder
from ..model.delta.delta_net import DeltaState
from ..pages import Pages
from .delta_states import begun_state

GRANULE = 64
"""Tokens in one unit of a paged line's room."""
SMALLEST_LINE = 128
"""Capacity of the shortest line where lines have capacities."""
_MOST_BLOCKS = 24
"""The most blocks of neighbouring lines among which runs are chosen."""
_RUN_COST_BYTES = 800_000
"""The cost of one more run per layer, in bytes that could be read meanwhile.

Chosen by what whole steps take (docs/decisions/0007). Its operators alone take about 20 us on one core of a Xeon.
"""
_STEPS_TO_PAY = 32
"""Lines are sorted only if that saves its own cost within so many steps."""
SPARE_BYTES = 8 << 20
"""The most memory that ended lines keep for the next ones, so that each short chat need not fault it in again."""


@dataclass(eq=False)
class Line:
    """A `KvLine` that is one stretch of a slab. `state`: of a model with delta nets, [delta layers, ...]."""

    slab: "Slab"
    index: int
    room: int
    length: int = 0
    state: DeltaState | None = None

    @property
    def bytes(self) -> int:
        return self.slab.decoder.sequence_bytes(self.room)

    @property
    def is_full(self) -> bool:
        return self.length == self.room

    def read(self) -> Tensor:
        return self.slab.tokens(self, 0, self.length)

    def fill(self, kv: Tensor) -> None:
        self.length = kv.shape[3]
        self.read().copy_(kv)

    def wipe(self) -> None:
        self.slab.tokens(self, 0, self.room).zero_()


class Slab:
    """Lines of one capacity, at most `most`; the lines in use always have the first places.

    `data` [layers, 2, lines, kv_heads, capacity, D] is finite everywhere, because attention multiplies what it
    does not see by zero, which a stray NaN would survive.
    """

    def __init__(self, decoder: Decoder, capacity: int, most: int):
        config = decoder.config
        self.decoder, self.capacity, self.most = decoder, capacity, most
        self.lines: list[Line] = []
        self.token_bytes = decoder.kv_token_bytes
        layers = len(config.attention_layers)
        self._layer_token_bytes = self.token_bytes // layers
        self._place = {"device": decoder.device, "dtype": decoder.dtype}
        self._line_shape = (config.num_kv_heads, capacity, config.head_dim)
        self._planes = (layers, 2)
        self.data: Tensor

    def add(self, room: int) -> Line:
        line = Line(self, len(self.lines), room, state=begun_state(self.decoder))
        self.lines.append(line)
        return line

    def remove(self, line: Line) -> None:
        """Free `line`; the last line moves into its place."""
        last = self.lines.pop()
        left = last.index
        if last is not line:
            self._copy(self.tokens(last, 0, last.length), line.index)
            self.lines[line.index] = last
            last.index = line.index
            self._freed(line.index, last.room, line.room)
        self._freed(left, 0, last.room)

    def tokens(self, line: Line, start: int, end: int) -> Tensor:
        """View [layers, 2, kv_heads, end - start, D] of a line."""
        return self.data[:, :, line.index, :, start:end]

    def runs(self, lengths: list[int]) -> list[range]:
        """Cut lines 0, 1, … into the runs that are cheapest to read; line i has `lengths[i]` tokens to read."""
        blocks = _blocks(lengths)
        longest = [max(lengths[block.start : block.stop]) for block in blocks]
        # best[k]: least cost of the first k blocks, and where the last of their runs begins.
        best = [(0, 0)]
        for end in range(1, len(blocks) + 1):
            ways, reach = [], 0
            for start in range(end - 1, -1, -1):
                reach = max(reach, longest[start])
                tokens = (blocks[end - 1].stop - blocks[start].start) * reach
                ways.append((best[start][0] + tokens * self._layer_token_bytes + _RUN_COST_BYTES, start))
            best.append(min(ways))
        runs, end = [], len(blocks)
        while end > 0:
            start = best[end][1]
            runs.append(range(blocks[start].start, blocks[end - 1].stop))
            end = start
        return runs[::-1]

    def sort(self) -> None:
        """Put the lines in order of falling length, roughly, where that pays."""
        lengths = [line.length for line in self.lines]
        order = sorted(range(len(lengths)), key=lambda index: -_level(lengths[index]))
        falling = [lengths[index] for index in order]
        saved = self._cost(self.runs(lengths), lengths) - self._cost(self.runs(falling), falling)
        # Each line that moves is read, copied and written back.
        moved = 3 * sum(lengths[index] for place, index in enumerate(order) if place != index)
        if saved * _STEPS_TO_PAY < moved * self._layer_token_bytes:
            return
        self._permute(order)

    def _permute(self, order: list[int]) -> None:
        """Move line `order[i]` to place i; a copy of at most one line is held meanwhile."""
        before = self.lines
        rooms = [line.room for line in before]
        for cycle in _cycles(order):
            first = before[cycle[0]]
            held = self.tokens(first, 0, first.length).clone()
            for place in cycle[:-1]:
                source = before[order[place]]
                self._copy(self.tokens(source, 0, source.length), place)
            self._copy(held, cycle[-1])
        self.lines = [before[index] for index in order]
        for place, line in enumerate(self.lines):
            line.index = place
            self._freed(place, line.room, rooms[place])

    def _copy(self, tokens: Tensor, index: int) -> None:
        self.data[:, :, index, :, : tokens.shape[3]] = tokens

    def _cost(self, runs: list[range], lengths: list[int]) -> int:
        """Bytes that the runs read of one layer, plus `_RUN_COST_BYTES` for each run."""
        tokens = sum(len(run) * max(lengths[run.start : run.stop]) for run in runs)
        return tokens * self._layer_token_bytes + len(runs) * _RUN_COST_BYTES

    def _freed(self, index: int, start: int, end: int) -> None:
        """Called when tokens `start … end` at place `index` are not used any more."""


class PagedSlab(Slab):
    """Room for `most` lines from the start, in pages that take memory as they are written.

    Pages of lines that ended stay for the next ones, up to `SPARE_BYTES`; above that all of them are given back.
    """

    def __init__(self, decoder: Decoder, capacity: int, most: int):
        super().__init__(decoder, capacity, most)
        shape = (*self._planes, most, *self._line_shape)
        dtype = self._place["dtype"]
        self._pages = Pages(torch.Size(shape).numel() * dtype.itemsize)
        self.data = self._pages.tensor(shape, dtype)
        # By place: lines that are gone wrote no token at or beyond this one.
        self._written: dict[int, int] = {}
        # An upper bound of the spare tokens: tokens that were reused since are still counted.
        self._most_spare = 0

    def _freed(self, index: int, start: int, end: int) -> None:
        if start >= end:
            return
        self._written[index] = max(end, self._written.get(index, 0))
        self._most_spare += end - start
        if self._most_spare * self.token_bytes <= SPARE_BYTES:
            return
        spare = self._spare()
        self._most_spare = sum(len(tokens) for tokens in spare.values())
        if self._most_spare * self.token_bytes > SPARE_BYTES:
            for place, tokens in spare.items():
                self._give_back(place, tokens.start, tokens.stop)
            self._written, self._most_spare = {}, 0

    def _spare(self) -> dict[int, range]:
        """By place: the tokens that lines which are gone wrote beyond the room of the line there now, if any."""
        rooms = [line.room for line in self.lines]
        starts = {place: rooms[place] if place < len(rooms) else 0 for place in self._written}
        return {place: range(starts[place], end) for place, end in self._written.items() if starts[place] < end}

    def _give_back(self, index: int, start: int, end: int) -> None:
        heads, capacity, dim = self._line_shape
        token = dim * self.data.itemsize
        for plane in range(self._planes[0] * self._planes[1]):
            line = (plane * self.most + index) * heads * capacity * token
            if start == 0:
                self._pages.give_back(line, line + heads * capacity * token)
                continue
            for head in range(heads):
                at = line + head * capacity * token
                self._pages.give_back(at + start * token, at + end * token)


class DenseSlab(Slab):
    """Memory for `held` lines. They are copied into larger memory when it is full, and smaller when most is unused."""

    def __init__(self, decoder: Decoder, capacity: int, most: int):
        super().__init__(decoder, capacity, most)
        self.resize(0)

    @property
    def held(self) -> int:
        return self.data.shape[2]

    @property
    def line_bytes(self) -> int:
        return self.decoder.sequence_bytes(self.capacity)

    def resize(self, held: int) -> None:
        resized = torch.zeros((*self._planes, held, *self._line_shape), **self._place)
        for line in self.lines:
            resized[:, :, line.index, :, : line.length] = self.tokens(line, 0, line.length)
        self.data = resized

    def _freed(self, index: int, start: int, end: int) -> None:
        """Nothing is wiped: attention does not see what is left there, and it is finite."""


def _blocks(lengths: list[int]) -> list[range]:
    """Blocks of neighbouring lines of like length; if those are too many, blocks of about equal size."""
    starts = [i for i in range(len(lengths)) if i == 0 or _level(lengths[i]) != _level(lengths[i - 1])]
    if len(starts) > _MOST_BLOCKS:
        starts = list(range(0, len(lengths), -(-len(lengths) // _MOST_BLOCKS)))
    return [range(start, end) for start, end in zip(starts, [*starts[1:], len(lengths)], strict=True)]


def _level(length: int) -> int:
    """The class of a length. Lengths of one class differ by less than a factor of about 1.4."""
    return (length * length).bit_length()


def _cycles(order: list[int]) -> Iterator[list[int]]:
    """The cycles i, order[i], order[order[i]], … of places; a place that keeps its line is in none."""
    seen = [place == index for place, index in enumerate(order)]
    for first in range(len(order)):
        cycle, place = [], first
        while not seen[place]:
            seen[place] = True
            cycle.append(place)
            place = order[place]
        if cycle:
            yield cycle


class SlabMemory:
    """A `KvMemory` with lines for at most `most` sequences."""

    def __init__(self, decoder: Decoder, limit: int, most: int):
        self._decoder, self.limit, self.most_lines = decoder, limit, most
        self.max_length, self.token_bytes = decoder.config.max_position, decoder.kv_token_bytes
        self._pages = self._make_pages() if decoder.device.type == "cpu" else None
        self._slabs: dict[int, DenseSlab] = {}
        self.used_bytes = 0

    def _make_pages(self) -> PagedSlab | None:
        """The paged slab, or None where the system reserves memory for everything that is mapped."""
        try:
            return PagedSlab(self._decoder, _rounded(self.max_length), self.most_lines)
        except OSError:
            return None

    def room_for(self, length: int) -> int:
        """The tokens of room that a line for `length` tokens gets, and is counted with."""
        if self._pages:
            return _rounded(length)
        capacity = SMALLEST_LINE
        while capacity < length:
            capacity *= 2
        return min(capacity, self.max_length)

    def bytes_for(self, length: int) -> int:
        return self._decoder.sequence_bytes(self.room_for(length))

    def allocate(self, length: int) -> Line | None:
        """A line for at least `length` tokens, or None when the limit is reached."""
        room = self.room_for(length)
        if not self._pages:
            return self._allocate_dense(room)
        if self.used_bytes + self._decoder.sequence_bytes(room) > self.limit:
            return None
        line = self._pages.add(room)
        self.used_bytes += line.bytes
        return line

    def release(self, line: Line) -> None:
        line.slab.remove(line)
        if line.slab is self._pages:
            self.used_bytes -= line.bytes
        else:
            self._shrink(line.slab)

    def grow(self, line: Line) -> Line | None:
        """`line` with more room, or the longer line that it moved to; None, and `line` as it was, without memory."""
        if line.slab is self._pages:
            return self._grow_in_place(line)
        longer = self.allocate(line.room + 1)
        if longer is None:
            return None
        longer.slab.tokens(longer, 0, line.length)[:] = line.slab.tokens(line, 0, line.length)
        longer.length, longer.state = line.length, line.state
        self.release(line)
        return longer

    def _grow_in_place(self, line: Line) -> Line | None:
        more = GRANULE * self.token_bytes
        if self.used_bytes + more > self.limit:
            return None
        line.room += GRANULE
        self.used_bytes += more
        return line

    def _allocate_dense(self, capacity: int) -> Line | None:
        slab = self._slabs.get(capacity) or DenseSlab(self._decoder, capacity, self.most_lines)
        if len(slab.lines) == slab.held and not self._enlarge(slab):
            return None
        self._slabs[capacity] = slab
        return slab.add(capacity)

    def _enlarge(self, slab: DenseSlab) -> bool:
        """Double the lines, or add one. Old and new memory must fit under the limit together: lines are copied."""
        held = slab.held
        for lines in (min(max(8, 2 * held), self.most_lines), held + 1):
            if self.used_bytes + lines * slab.line_bytes <= self.limit:
                self._resize(slab, lines)
                return True
        return False

    def _shrink(self, slab: DenseSlab) -> None:
        if not slab.lines:
            del self._slabs[slab.capacity]
            self.used_bytes -= slab.held * slab.line_bytes
        elif len(slab.lines) <= slab.held // 4 and self.used_bytes + slab.held // 2 * slab.line_bytes <= self.limit:
            self._resize(slab, slab.held // 2)

    def _resize(self, slab: DenseSlab, held: int) -> None:
        self.used_bytes += (held - slab.held) * slab.line_bytes
        slab.resize(held)


def _rounded(length: int) -> int:
    return -(-length // GRANULE) * GRANULE
