"""Forward passes over keys and values in slabs, for a CPU: chunks of prompts, and one token for every running row."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ..model.attention.last_tokens import attend_last
from ..model.attention.sinks import attend_with_sinks
from ..model.attention.varlen import seen_within
from ..model.decoder import Decoder, LoraView
from ..model.delta.delta_net import DeltaNet, Stretches
from ..threads import use_cores_for
from .delta_states import RowStates, advance_line
from .generation import Generation
from .kv import Line, Slab, SlabMemory
from .lora_batch import decode_view
from .prompt_pass import run_chunks

_BUCKET = 16
"""Decode attends over lengths rounded up to this, so that views of the slabs change rarely."""


class SlabForward:
    """A `Forward` (`batching`) over lines of slabs."""

    goes_ahead = False

    def __init__(self, decoder: Decoder, kv_bytes: int, max_rows: int):
        self._decoder = decoder
        self.memory = SlabMemory(decoder, kv_bytes, max_rows)
        self._last_lora: LoraView | None = None

    def prefill(self, chunks: list[tuple[Generation, int]]) -> list[Tensor]:
        parts, end = [], 0
        for generation, count in chunks:
            parts.append(_Part(generation.line, end, count, generation.line.length, self._decoder.device))
            end += count

        def attend(layer: int, q: Tensor, k: Tensor, v: Tensor, window: int | None, sinks: Tensor | None) -> Tensor:
            return torch.cat([part.attend(layer, q, k, v, window, sinks) for part in parts])

        def recur(place: int, net: DeltaNet, tokens: Stretches) -> Tensor:
            return torch.cat([part.recur(place, net, tokens) for part in parts])

        return run_chunks(self._decoder, chunks, attend, recur)

    def batch(self, rows: list[Generation]) -> "DecodeBatch":
        batch = DecodeBatch(self._decoder, rows, self._last_lora)
        self._last_lora = batch.lora
        return batch


class _Part:
    """One sequence's share of a prefill batch: rows `at … at + count`, positions from `start`."""

    def __init__(self, line: Line, at: int, count: int, start: int, device: torch.device):
        self.line, self._count = line, count
        self._rows, self._start, self._end = slice(at, at + count), start, start + count
        self._device = device
        self._reaches: dict[int | None, tuple[int, dict]] = {}

    def _reach(self, window: int | None) -> tuple[int, dict]:
        """The first key that any row sees, and the arguments by which each sees its own."""
        if window is not None and window >= self._end:
            window = None
        if window not in self._reaches:
            first = 0 if window is None else max(0, self._start - window + 1)
            # Rows see what was written before and themselves; from the beginning that is plain causality.
            is_causal = self._start == 0 and window is None
            seen = None if is_causal else seen_within(self._count, self._end - first, window, self._device)
            self._reaches[window] = first, {"attn_mask": seen, "is_causal": is_causal, "enable_gqa": True}
        return self._reaches[window]

    def recur(self, place: int, net: DeltaNet, tokens: Stretches) -> Tensor:
        own = Stretches(*(x[:, self._rows] for x in (tokens.inputs, tokens.decay, tokens.strength)))
        return advance_line(self.line, place, net, own)

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor, window: int | None, sinks: Tensor | None) -> Tensor:
        q, k, v = (t[self._rows].transpose(0, 1) for t in (q, k, v))
        cache = self.line.slab.data[layer, :, self.line.index]
        cache[0, :, self._start : self._end] = k
        cache[1, :, self._start : self._end] = v
        first, arguments = self._reach(window)
        keys, values = cache[:, None, :, first : self._end]
        if sinks is not None:
            mask, is_causal = arguments["attn_mask"], arguments["is_causal"]
            return attend_with_sinks(q[None], keys, values, sinks[:, None], mask, is_causal)[0].transpose(0, 1)
        return F.scaled_dot_product_attention(q[None], keys, values, **arguments)[0].transpose(0, 1)


class DecodeBatch:
    """A fixed set of rows that decode together, sorted by adapter and line; rebuilt when rows or lines change."""

    def __init__(self, decoder: Decoder, rows: list[Generation], last: LoraView | None):
        slabs = dict.fromkeys(row.line.slab for row in rows)
        for slab in slabs:
            slab.sort()
        self.rows = sorted(rows, key=lambda row: (row.adapter.key if row.adapter else "", row.line.index))
        self._decoder, self._work = decoder, decoder.operator_work(len(rows))
        self.lora: LoraView = decode_view([row.adapter for row in self.rows], decoder.device, last)
        place = {"device": decoder.device, "dtype": torch.long}
        self.ids = torch.tensor([row.ids[-1] for row in self.rows], **place)
        self._positions = torch.tensor([row.line.length for row in self.rows], **place)
        self._groups = [_SlabRows(decoder, slab, self.rows) for slab in slabs]
        self._recur = RowStates([row.line for row in self.rows]).recur if decoder.config.delta else None
        self._order = None
        if len(self._groups) > 1:
            after = [row for group in self._groups for row in group.numbers]
            self._order = torch.tensor(after, **place).argsort()

    def step(self) -> Tensor:
        """Write the last token of every row; hidden states [rows, hidden]."""
        use_cores_for(self._work)
        for group in self._groups:
            group.prepare(self._positions)
        hidden = self._decoder.hidden(self.ids, self._positions, self.lora, self._attend, recur=self._recur)
        self._positions += 1
        for row in self.rows:
            row.line.length += 1
        return hidden

    def _attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor, window: int | None, sinks: Tensor | None) -> Tensor:
        if self._order is None:
            return self._groups[0].attend(layer, q, k, v, window, sinks)
        mixed = [group.attend(layer, q, k, v, window, sinks) for group in self._groups]
        return torch.cat(mixed).index_select(0, self._order)


class _SlabRows:
    """The rows whose lines are in one slab. `numbers` are their places in the batch."""

    def __init__(self, decoder: Decoder, slab: Slab, rows: list[Generation]):
        config = decoder.config
        self.numbers = [number for number, row in enumerate(rows) if row.line.slab is slab]
        self._slab, self._device = slab, decoder.device
        self._lines = [rows[number].line for number in self.numbers]
        self._heads, self._kv_heads, self._dim = config.num_heads, config.num_kv_heads, config.head_dim
        self._rows = None if len(self.numbers) == len(rows) else self._tensor(self.numbers)
        self._used = max(line.index for line in self._lines) + 1
        indices = [line.index for line in self._lines]
        heads = torch.arange(self._kv_heads, device=decoder.device)
        self._write_base = (self._tensor(indices)[:, None] * self._kv_heads + heads) * slab.capacity
        # Row of the group whose query goes to each line; lines that do not decode get any row's and are ignored.
        self._query_of_line = self._line_of_row = None
        query = [0] * self._used
        for row, index in enumerate(indices):
            query[index] = row
        if indices != list(range(len(indices))):
            self._query_of_line, self._line_of_row = self._tensor(query), self._tensor(indices)
        flat = slab.data.flatten(2, 4)
        self._places = [tuple(map(_heads_of_tokens, flat[layer])) for layer in range(len(config.attention_layers))]
        lengths = [0] * self._used
        for line in self._lines:
            lengths[line.index] = line.length
        windows = [layer.window for layer in config.attention_layers]
        asked = [self._lines[row].length for row in query]
        self._runs = [
            _Run(slab, lines, max(lengths[lines.start : lines.stop]), min(asked[lines.start : lines.stop]), windows)
            for lines in slab.runs(lengths)
        ]

    def _tensor(self, values: list[int]) -> Tensor:
        return torch.tensor(values, device=self._device)

    def prepare(self, positions: Tensor) -> None:
        """Once per step: where to write, and what each line may see."""
        mine = positions if self._rows is None else positions.index_select(0, self._rows)
        self._write = (self._write_base + mine[:, None]).numpy()
        by_line = mine if self._query_of_line is None else mine.index_select(0, self._query_of_line)
        for run in self._runs:
            run.advance()
        self._biases = [run.biases(by_line) for run in self._runs]

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor, window: int | None, sinks: Tensor | None) -> Tensor:
        if self._rows is not None:
            q, k, v = (t.index_select(0, self._rows) for t in (q, k, v))
        keys, values = self._places[layer]
        keys[self._write], values[self._write] = _heads_of_tokens(k), _heads_of_tokens(v)
        if self._query_of_line is not None:
            q = q.index_select(0, self._query_of_line)
        # Query heads of one key head stand as rows, so keys and values are never repeated.
        grouped = q.view(self._used, self._kv_heads, -1, self._dim)
        mixed = [
            self._attend_run(grouped[run.lines], run.views[layer], biases[window], sinks)
            for run, biases in zip(self._runs, self._biases, strict=True)
        ]
        mixed = (torch.cat(mixed) if len(mixed) > 1 else mixed[0]).reshape(self._used, self._heads, self._dim)
        return mixed if self._line_of_row is None else mixed.index_select(0, self._line_of_row)

    def _attend_run(self, q: Tensor, cache: tuple[Tensor, Tensor], bias: Tensor, sinks: Tensor | None) -> Tensor:
        if sinks is None:
            return attend_last(q, *cache, bias)
        return attend_with_sinks(q, *cache, sinks.view(self._kv_heads, -1), bias, False)


def _heads_of_tokens(x: Tensor) -> np.ndarray:
    """`x [..., D]` as an array [...] whose elements are D numbers each.

    torch's `index_copy_` writes one feature of all tokens after another, each time to as many cache lines.
    """
    return x.view(torch.uint8).numpy().view(f"V{x.shape[-1] * x.itemsize}")[..., 0]


class _Run:
    """Consecutive lines of a slab, read up to the longest of them that decodes.

    `longest` tokens are written of that one, `shortest` of the row with fewest whose query goes to any of the lines.
    """

    def __init__(self, slab: Slab, lines: range, longest: int, shortest: int, windows: list[int | None]):
        """`windows` by layer."""
        self.lines = slice(lines.start, lines.stop)
        self._slab, self._longest, self._windows = slab, longest, windows
        # A line that does not decode gets any row's query, which may be beyond what is read here.
        self._shortest = min(shortest, longest)
        self._unlike = set(windows)
        self._places: dict[int | None, Tensor] = {}
        self._ranges: dict[int | None, range] = {}

    def advance(self) -> None:
        """Make room for one more token in what is read, and `views` (keys, values) of that per layer."""
        self._longest += 1
        self._shortest += 1
        end = min(-(-self._longest // _BUCKET) * _BUCKET, self._slab.capacity)
        ranges = {window: range(self._first(window), end) for window in self._unlike}
        if ranges != self._ranges:
            self._ranges = ranges
            data = self._slab.data[:, :, self.lines]
            reads = [ranges[window] for window in self._windows]
            self.views = [tuple(data[layer, ..., read.start : read.stop, :]) for layer, read in enumerate(reads)]
            self._places = {
                window: torch.arange(read.start, read.stop, device=data.device) for window, read in ranges.items()
            }

    def _first(self, window: int | None) -> int:
        return 0 if window is None else max(0, self._shortest - window) // _BUCKET * _BUCKET

    def biases(self, last: Tensor) -> dict[int | None, Tensor]:
        """By window: 0 where a line may be read, which is up to `last` of it, else -inf: [lines, 1, 1, keys]."""
        return {window: self._bias(last, window) for window in self._unlike}

    def _bias(self, last: Tensor, window: int | None) -> Tensor:
        places, last = self._places[window], last[self.lines, None]
        hidden = places > last
        if window is not None:
            hidden |= places <= last - window
        bias = torch.zeros(hidden.shape, dtype=self._slab.data.dtype, device=hidden.device)
        return bias.masked_fill_(hidden, -torch.inf)[:, None, None]
