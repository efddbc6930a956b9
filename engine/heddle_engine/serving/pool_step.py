"""One decode step over rows at fixed addresses, captured as a CUDA graph once it is used often.

A step launches about a thousand small kernels; replaying a graph of them costs the processor next to nothing. A graph
is of one number of rows, so batches are filled up to a few sizes with rows that write to the scratch block.
"""

import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from ..model.attention.paged_attention import paged_attention
from ..model.decoder import Decoder, LoraView, NoLora
from ..model.delta.delta_net import DeltaNet, Stretches
from ..threads import use_cores_for
from .kv_pool import BLOCK, SCRATCH, KvPool, PoolLine
from .lora_slots import LoraSlots, OneLora, TileLora

_ROWS = (1, 2, 4, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128)
_TILE = 8
"""Rows of a tile where a batch has several adapters."""
_STEPS_TO_PAY = 8
"""A layout is captured after so many steps: capturing takes as long as some tens of them."""
_MOST_TRIES = 3

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Layout:
    """`tiles` of `height` rows with an adapter each; a single one has that of the first slot, none the base model."""

    tiles: int
    height: int

    @property
    def rows(self) -> int:
        return max(1, self.tiles) * self.height


def lay_out(counts: list[int], adapted: bool) -> tuple[Layout, list[int], list[int]]:
    """Rows of `counts` by adapter: their layout, each row's place in it, and which of `counts` each tile is of."""
    rows = sum(counts)
    if len(counts) == 1:
        return Layout(int(adapted), _filled(rows)), list(range(rows)), []
    places, tiles = [], []
    for run, count in enumerate(counts):
        places += range(len(tiles) * _TILE, len(tiles) * _TILE + count)
        tiles += [run] * -(-count // _TILE)
    return Layout(1 << (len(tiles) - 1).bit_length(), _TILE), places, tiles


def _filled(rows: int) -> int:
    return next((size for size in _ROWS if size >= rows), rows)


class PoolStep:
    """What a step reads: `ids`, `positions` and `states` int64 [rows], which are the slots of what delta nets remember,
    `table` int32 [rows, width] and `tiles` int64 [tiles]."""

    def __init__(self, decoder: Decoder, pool: KvPool, lora: LoraView, layout: Layout, tiles: Tensor | None = None):
        self._decoder, self._pool, self._lora = decoder, pool, lora
        self._work = decoder.operator_work(layout.rows)
        place = {"device": decoder.device}
        self.ids = torch.zeros(layout.rows, dtype=torch.long, **place)
        self.positions = torch.zeros_like(self.ids)
        self.states = torch.full_like(self.ids, SCRATCH)
        width = -(-decoder.config.max_position // BLOCK)
        self.table = torch.full((layout.rows, width), SCRATCH, dtype=torch.int32, **place)
        self._tiles = tiles

    def begin(self, lines: list[PoolLine], places: Tensor, slots: list[int]) -> None:
        """Other rows come, of `lines` at `places`; `slots` are those of the adapters of the first tiles."""
        self.ids.zero_()
        self.positions.zero_()
        self.states.fill_(SCRATCH)
        self.table.fill_(SCRATCH)
        device = self.positions.device
        self.positions[places] = torch.tensor([line.length for line in lines], device=device)
        self.states[places] = torch.tensor([line.slot for line in lines], device=device)
        if self._tiles is not None:
            self._tiles[: len(slots)] = torch.tensor(slots, device=self._tiles.device)
            self._tiles[len(slots) :] = slots[0]

    def run(self) -> Tensor:
        """Write the token `ids` of every row; hidden states [rows, hidden], which the next step may overwrite."""
        use_cores_for(self._work)
        positions, table, pool = self.positions, self.table, self._pool
        blocks = table.gather(1, (positions // BLOCK)[:, None])[:, 0].long()
        places, lengths = blocks * BLOCK + positions % BLOCK, (positions + 1).int()

        def attend(layer: int, q: Tensor, k: Tensor, v: Tensor, window: int | None, sinks: Tensor | None) -> Tensor:
            keys, values = pool.keys[layer], pool.values[layer]
            keys.index_copy_(0, places, k)
            values.index_copy_(0, places, v)
            return paged_attention(q, keys, values, table, lengths, BLOCK, window, sinks)

        def recur(place: int, net: DeltaNet, tokens: Stretches) -> Tensor:
            return net.step_in_slots(tokens, pool.states[place], self.states, SCRATCH)

        hidden = self._decoder.hidden(self.ids, positions, self._lora, attend, recur=recur)
        positions += 1
        return hidden


class CapturedStep:
    """A step that becomes a graph; as a `PoolStep` otherwise."""

    def __init__(self, step: PoolStep, pool: object):
        self._step, self._pool = step, pool
        self.ids, self.table, self.begin = step.ids, step.table, step.begin
        self._runs = self._tries = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._hidden: Tensor

    @property
    def is_captured(self) -> bool:
        return self._graph is not None

    def run(self) -> Tensor:
        if self._graph is None:
            self._runs += 1
            if self._runs < _STEPS_TO_PAY or self._tries == _MOST_TRIES or not self._capture():
                return self._step.run()
        self._graph.replay()
        return self._hidden

    def _capture(self) -> bool:
        graph = torch.cuda.CUDAGraph()
        try:
            # A trainer goes on allocating and launching in its own thread.
            with _no_collection(), torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
                self._hidden = self._step.run()
        except RuntimeError as error:
            self._runs, self._tries = 0, self._tries + 1
            log.warning("a decode step was not captured (try %d of %d): %s", self._tries, _MOST_TRIES, error)
            return False
        self._graph = graph
        return True


@contextmanager
def _no_collection() -> Iterator[None]:
    """No cyclic garbage is collected meanwhile: what frees something of the GPU ends a capture."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class StepGraphs:
    """The steps of one base model by layout."""

    def __init__(self, decoder: Decoder, pool: KvPool, slots: LoraSlots):
        self._decoder, self._pool, self._slots = decoder, pool, slots
        self._captures = decoder.device.type == "cuda" and decoder.stays_on_device
        self._memory = torch.cuda.graph_pool_handle() if self._captures else None
        self._steps: dict[Layout, PoolStep | CapturedStep] = {}
        self._version = slots.version

    def step(self, layout: Layout) -> PoolStep | CapturedStep:
        if self._version != self._slots.version:
            self._steps, self._version = {}, self._slots.version
        if layout not in self._steps:
            self._steps[layout] = self._make(layout)
        return self._steps[layout]

    def _make(self, layout: Layout) -> PoolStep | CapturedStep:
        device = self._decoder.device
        tiles, lora = None, OneLora(self._slots, layout.rows, device) if layout.tiles else NoLora()
        if layout.tiles > 1:
            tiles = torch.zeros(layout.tiles, dtype=torch.long, device=device)
            lora = TileLora(self._slots, tiles, layout.height)
        step = PoolStep(self._decoder, self._pool, lora, layout, tiles)
        return CapturedStep(step, self._memory) if self._captures else step
