"""LoRA of a batch whose rows use many adapters (the problem of Punica, arXiv:2310.18547, and S-LoRA, 2311.03285).

Those gather weights per row on a GPU. Here rows are sorted by adapter and cut into tiles of equal
height, so that each projection costs two batched products however many adapters take part.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from ..model.adapters import ServedAdapter
from ..model.decoder import LoraView, NoLora
from ..model.linear import FrozenLinear

_TILE_COST = 4
"""The cost of one more tile, in padded rows (measured on CPUs at hidden sizes 256 and 768)."""


@dataclass(frozen=True)
class Segment:
    """Rows `start … end` use `adapter` (None: the base model)."""

    adapter: ServedAdapter | None
    start: int
    end: int


def segments(counted: Iterable[tuple[ServedAdapter | None, int]]) -> list[Segment]:
    """Runs of equal adapters among consecutive rows, of which so many follow one another for each entry."""
    runs: list[Segment] = []
    end = 0
    for adapter, count in counted:
        start, end = end, end + count
        if runs and runs[-1].adapter is adapter:
            start = runs.pop().start
        runs.append(Segment(adapter, start, end))
    return runs


class SegmentLora:
    """One pair of products per run of rows: best for few runs, or long ones."""

    def __init__(self, runs: list[Segment]):
        self._runs = [run for run in runs if run.adapter]

    def project(self, layer: int, site: str, x: Tensor, frozen: FrozenLinear) -> Tensor:
        y = frozen(x)
        for run in self._runs:
            if pair := run.adapter.sites[layer, site]:
                y[run.start : run.end].addmm_(x[run.start : run.end] @ pair[0], pair[1])
        return y


class TileStacks:
    """Weights of a tile sequence, stacked per site on first use: A [tiles, in, R], B [tiles, R, out]."""

    def __init__(self, tiles: list[ServedAdapter | None]):
        self.tiles = tiles
        self._stacks: dict[tuple[int, str], tuple[Tensor, Tensor] | None] = {}

    def at(self, layer: int, site: str) -> tuple[Tensor, Tensor] | None:
        key = (layer, site)
        if key not in self._stacks:
            self._stacks[key] = self._stack(key)
        return self._stacks[key]

    def _stack(self, key: tuple[int, str]) -> tuple[Tensor, Tensor] | None:
        pairs = [tile.sites[key] if tile else None for tile in self.tiles]
        rank = max((pair[0].shape[1] for pair in pairs if pair), default=0)
        if not rank:
            return None
        known = next(pair for pair in pairs if pair)
        nothing = (known[0][:, :0], known[1][:0])
        padded = [_pad_rank(*(pair or nothing), rank) for pair in pairs]
        return torch.stack([a for a, _ in padded]), torch.stack([b for _, b in padded])


def _pad_rank(a: Tensor, b: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    missing = rank - a.shape[1]
    return (F.pad(a, (0, missing)), F.pad(b, (0, 0, 0, missing))) if missing else (a, b)


class TiledLora:
    """Two batched products per projection over tiles of `height` rows.

    Where every run fills its tiles the rows are used in place; else they are gathered into padded
    tiles and the result back.
    """

    def __init__(self, runs: list[Segment], device: torch.device, last: "TiledLora | None" = None):
        self._height = _tile_height([run.end - run.start for run in runs])
        tiles = [(run, start) for run in runs for start in range(run.start, run.end, self._height)]
        adapters = [run.adapter for run, _ in tiles]
        reusable = last is not None and last.stacks.tiles == adapters
        self.stacks = last.stacks if reusable else TileStacks(adapters)
        self._gather = self._scatter = None
        if any((run.end - run.start) % self._height for run in runs):
            self._gather, self._scatter = (t.to(device) for t in self._indices(tiles))

    def _indices(self, tiles: list[tuple[Segment, int]]) -> tuple[Tensor, Tensor]:
        """Row of each tile place (a short tile repeats its first row), and tile place of each row."""
        gather = torch.empty(len(tiles) * self._height, dtype=torch.long)
        scatter = torch.empty(tiles[-1][0].end, dtype=torch.long)
        for number, (run, start) in enumerate(tiles):
            count = min(self._height, run.end - start)
            place = number * self._height
            gather[place : place + self._height] = start
            gather[place : place + count] = torch.arange(start, start + count)
            scatter[start : start + count] = torch.arange(place, place + count)
        return gather, scatter

    def project(self, layer: int, site: str, x: Tensor, frozen: FrozenLinear) -> Tensor:
        y = frozen(x)
        stack = self.stacks.at(layer, site)
        if stack is None:
            return y
        a, b = stack
        if self._gather is None:
            tiled = x.view(-1, self._height, x.shape[1])
            y.view(-1, self._height, y.shape[1]).baddbmm_(torch.bmm(tiled, a), b)
            return y
        tiled = x.index_select(0, self._gather).view(-1, self._height, x.shape[1])
        change = torch.bmm(torch.bmm(tiled, a), b).view(-1, y.shape[1])
        return y.add_(change.index_select(0, self._scatter))


def _tile_height(counts: list[int]) -> int:
    """The height with the least padded rows and tiles together."""

    def cost(height: int) -> int:
        tiles = sum(-(-count // height) for count in counts)
        return tiles * (height + _TILE_COST)

    return min({1, 2, 4, 8, 16, *counts}, key=cost)


def decode_view(adapters: list[ServedAdapter | None], device: torch.device, last: LoraView | None) -> LoraView:
    """The LoRA view for one token per row, rows sorted by adapter. `last` may lend its stacked weights."""
    runs = segments((adapter, 1) for adapter in adapters)
    if all(run.adapter is None for run in runs):
        return NoLora()
    if len(runs) == 1:
        return SegmentLora(runs)
    return TiledLora(runs, device, last if isinstance(last, TiledLora) else None)
