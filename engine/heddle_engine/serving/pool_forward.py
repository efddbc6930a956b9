"""Forward passes over keys and values in a pool, for a GPU: chunks of prompts, and one token for every running row."""

from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from ..model.attention.varlen import Stretches, attend_stretches
from ..model.decoder import Decoder, LoraView
from .delta_states import SlotStretches
from .generation import Generation
from .kv_pool import KvPool
from .lora_batch import decode_view, segments
from .lora_slots import LoraSlots
from .pool_step import CapturedStep, Layout, PoolStep, StepGraphs, lay_out
from .prompt_pass import run_chunks


class PoolForward:
    """A `Forward` (`batching`) over blocks of a pool."""

    goes_ahead = True

    def __init__(self, decoder: Decoder, kv_bytes: int, max_rows: int):
        self._decoder = decoder
        self.memory = KvPool(decoder, kv_bytes, max_rows)
        self._slots = LoraSlots(decoder)
        self._graphs = StepGraphs(decoder, self.memory, self._slots)

    def prefill(self, chunks: list[tuple[Generation, int]]) -> list[Tensor]:
        memory = self.memory
        written, seen, stretches = self._places(chunks)

        def attend(layer: int, q: Tensor, k: Tensor, v: Tensor, window: int | None, sinks: Tensor | None) -> Tensor:
            keys, values = memory.keys[layer], memory.values[layer]
            keys.index_copy_(0, written, k)
            values.index_copy_(0, written, v)
            if seen is not None:
                k, v = keys.index_select(0, seen), values.index_select(0, seen)
            return attend_stretches(q, k, v, stretches.within(window), sinks)

        recur = None
        if memory.states is not None:
            counted = [(generation.line.slot, count) for generation, count in chunks]
            recur = SlotStretches(memory.states, counted, self._decoder.device).recur
        return run_chunks(self._decoder, chunks, attend, recur)

    def _places(self, chunks: list[tuple[Generation, int]]) -> tuple[Tensor, Tensor | None, Stretches]:
        """Where the new tokens are written, and what they see: None where that is the new tokens alone."""
        device = self._decoder.device
        bounds = [
            (generation.line, generation.line.length, generation.line.length + count) for generation, count in chunks
        ]
        written = np.concatenate([line.places(start, end) for line, start, end in bounds])
        seen = None
        if any(start for _, start, _ in bounds):
            seen = torch.from_numpy(np.concatenate([line.places(0, end) for line, _, end in bounds])).to(device)
        counts, ends = [count for _, count in chunks], [end for _, _, end in bounds]
        starts = [torch.tensor([0, *accumulate(each)], dtype=torch.int32, device=device) for each in (counts, ends)]
        return torch.from_numpy(written).to(device), seen, Stretches(*starts, max(counts), max(ends), causal=True)

    def batch(self, rows: list[Generation]) -> "PoolBatch":
        rows = sorted(rows, key=lambda row: row.adapter.key if row.adapter else "")
        runs = segments((row.adapter, 1) for row in rows)
        adapters = [run.adapter for run in runs]
        if len(runs) == 1:
            slots = []
            if adapters[0]:
                self._slots.find_one(adapters[0])
        else:
            slots = self._slots.find(adapters)
        if slots is None:
            lora = decode_view([row.adapter for row in rows], self._decoder.device, None)
            return PoolBatch(rows, self._eager(len(rows), lora), list(range(len(rows))), [])
        layout, places, tiles = lay_out([run.end - run.start for run in runs], any(adapters))
        return PoolBatch(rows, self._graphs.step(layout), places, [slots[run] for run in tiles])

    def _eager(self, rows: int, lora: LoraView) -> PoolStep:
        return PoolStep(self._decoder, self.memory, lora, Layout(0, rows))


class PoolBatch:
    """A fixed set of rows that decode together, sorted by adapter, at `places` of a step."""

    def __init__(self, rows: list[Generation], step: PoolStep | CapturedStep, places: list[int], slots: list[int]):
        self.rows, self._step = rows, step
        self._blocks: list[int] = []
        self._contiguous = places == list(range(len(rows)))
        self._places = torch.tensor(places, device=step.ids.device)
        step.begin([row.line for row in rows], self._places, slots)
        self.ids = torch.tensor([row.ids[-1] for row in rows], device=step.ids.device)

    def step(self) -> Tensor:
        """Write the last token of every row; hidden states [rows, hidden]."""
        self._find_blocks()
        self._step.ids.index_copy_(0, self._places, self.ids)
        hidden = self._step.run()
        for row in self.rows:
            row.line.length += 1
        return hidden[: len(self.rows)] if self._contiguous else hidden.index_select(0, self._places)

    def _find_blocks(self) -> None:
        """Tell the step of blocks that came since: lines grow in place."""
        counts = [len(row.line.blocks) for row in self.rows]
        if counts == self._blocks:
            return
        table = np.zeros((len(counts), max(counts)), np.int32)
        for entry, row in zip(table, self.rows, strict=True):
            entry[: len(row.line.blocks)] = row.line.blocks
        self._step.table[self._places, : table.shape[1]] = torch.from_numpy(table).to(self._step.table.device)
        self._blocks = counts
