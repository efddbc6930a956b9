"""Adapters at fixed addresses, so that a captured graph of a decode step serves whatever adapters its rows use.

Rows are laid out in tiles of one height, each of one adapter, and a tile names its adapter by a slot.
"""

from collections import OrderedDict

import torch
from torch import Tensor

from ..model.adapters import ServedAdapter
from ..model.decoder import SITE_MODULES, Decoder
from ..model.kernels import have_kernels
from ..model.linear import FrozenLinear
from ..model.lora import lora_modules
from ..streams import SideStream

_MOST_BYTES = 2 << 30
_MOST_SLOTS = 8
_LEAST_RANK = 16
_HEIGHTS = (16, 64)
"""Rows of a tile where all have one adapter; a kernel is compiled for each."""


class LoraSlots:
    """Per site A [slots + 1, in, R] and B [slots + 1, R, out]; the last slot is that of no adapter, and stays zero.

    `version` changes when the memory is another: graphs that were captured before are void.
    """

    def __init__(self, decoder: Decoder):
        self._decoder = decoder
        self._sites: dict[tuple[int, str], tuple[Tensor, Tensor]] = {}
        self._ranks: dict[str, int] = dict.fromkeys(SITE_MODULES, 0)
        self._held: OrderedDict[str, int] = OrderedDict()
        self._count = 0
        self.side = SideStream(decoder.device)
        self.version = 0

    def find(self, adapters: list[ServedAdapter | None]) -> list[int] | None:
        """The slots of `adapters`, which are filled where they were not there; None if they are too many."""
        wanted = {adapter.key: adapter for adapter in adapters if adapter}
        self._make_room(list(wanted.values()))
        if len(wanted) > self._count:
            return None
        for key in wanted:
            if key in self._held:
                self._held.move_to_end(key)
        for key, adapter in wanted.items():
            if key not in self._held:
                self._held[key] = self._free_slot()
                self._write(self._held[key], adapter)
        return [self._held[adapter.key] if adapter else self._count for adapter in adapters]

    def find_one(self, adapter: ServedAdapter) -> None:
        """Have `adapter` in the first slot, which a batch of one adapter reads without being told."""
        self._make_room([adapter])
        if self._held.get(adapter.key) != 0:
            self._held.pop(adapter.key, None)
            self._held = OrderedDict((key, slot) for key, slot in self._held.items() if slot != 0)
            self._held[adapter.key] = 0
            self._write(0, adapter)
        self._held.move_to_end(adapter.key)

    def at(self, layer: int, site: str) -> tuple[Tensor, Tensor] | None:
        return self._sites.get((layer, site))

    def _free_slot(self) -> int:
        taken = set(self._held.values())
        free = next((slot for slot in range(self._count) if slot not in taken), None)
        return self._held.popitem(last=False)[1] if free is None else free

    def _make_room(self, adapters: list[ServedAdapter]) -> None:
        """Larger slots where an adapter's rank asks for it; all are filled anew then."""
        ranks = {site: max([_rank(adapter, site) for adapter in adapters], default=0) for site in SITE_MODULES}
        if all(ranks[site] <= self._ranks[site] for site in SITE_MODULES):
            return
        for site, rank in ranks.items():
            if rank > self._ranks[site]:
                self._ranks[site] = max(_LEAST_RANK, 1 << (rank - 1).bit_length())
        shapes = self._shapes()
        size = sum((rows + columns) * self._ranks[site] for (_, site), (rows, columns) in shapes.items())
        self._count = max(1, min(_MOST_SLOTS, _MOST_BYTES // (size * self._decoder.dtype.itemsize)))
        place = {"device": self._decoder.device, "dtype": self._decoder.dtype}
        self._sites = {
            (layer, site): (
                torch.zeros(self._count + 1, columns, self._ranks[site], **place),
                torch.zeros(self._count + 1, self._ranks[site], rows, **place),
            )
            for (layer, site), (rows, columns) in shapes.items()
            if self._ranks[site]
        }
        self._held.clear()
        self.version += 1

    def _shapes(self) -> dict[tuple[int, str], tuple[int, int]]:
        """Rows and columns of each site that an adapter may change, of each layer."""
        module_shape = self._decoder.config.module_shape
        of_site = {
            site: (sum(module_shape(module)[0] for module in modules), module_shape(modules[0])[1])
            for site, modules in SITE_MODULES.items()
        }
        return {
            (layer, site): of_site[site]
            for layer in range(self._decoder.config.num_layers)
            for site, modules in SITE_MODULES.items()
            if not set(modules).isdisjoint(lora_modules(self._decoder.config, layer))
        }

    def _write(self, slot: int, adapter: ServedAdapter) -> None:
        places: list[Tensor] = []
        targets: list[Tensor] = []
        sources: list[Tensor] = []
        for key, (a, b) in self._sites.items():
            places += [a[slot], b[slot]]
            if pair := adapter.sites[key]:
                rank = pair[0].shape[1]
                targets += [a[slot, :, :rank], b[slot, :rank]]
                sources += pair
        torch._foreach_zero_(places)
        torch._foreach_copy_(targets, sources)


class _SlotLora:
    """A `LoraView` of rows in tiles of `height`; `tiles` int64 [T] names the slot of each.

    A GPU computes by kernels: down to the ranks beside the frozen projection, up behind it.
    """

    def __init__(self, slots: LoraSlots, tiles: Tensor, height: int):
        self._slots, self._tiles, self._height = slots, tiles, height

    def project(self, layer: int, site: str, x: Tensor, frozen: FrozenLinear) -> Tensor:
        pair = self._slots.at(layer, site)
        if pair is None:
            return frozen(x)
        if have_kernels(x):
            return self._by_kernels(x, frozen, *pair)
        return self._add(frozen(x), x, *pair)

    def _by_kernels(self, x: Tensor, frozen: FrozenLinear, a: Tensor, b: Tensor) -> Tensor:
        from ..model.kernels.lora import down, up

        with self._slots.side.fork():
            parts = down(x, a, self._tiles, self._height)
        y = frozen(x)
        self._slots.side.join()
        return up(y, parts, b, self._tiles, self._height)

    def _add(self, y: Tensor, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        """`y`, to which what the adapters make of `x` is added, in plain operators."""
        raise NotImplementedError


class OneLora(_SlotLora):
    """Of rows that all have the adapter in the first slot."""

    def __init__(self, slots: LoraSlots, rows: int, device: torch.device):
        height = next((height for height in _HEIGHTS if height >= rows), _HEIGHTS[-1])
        super().__init__(slots, torch.zeros(-(-rows // height), dtype=torch.long, device=device), height)

    def _add(self, y: Tensor, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return y.addmm_(x @ a[0], b[0])


class TileLora(_SlotLora):
    """Of rows whose tiles have adapters of their own."""

    def _add(self, y: Tensor, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        a, b = (weights.index_select(0, self._tiles) for weights in (a, b))
        tiled = x.view(-1, self._height, x.shape[1])
        y.view(-1, self._height, y.shape[1]).baddbmm_(torch.bmm(tiled, a), b)
        return y


def _rank(adapter: ServedAdapter, site: str) -> int:
    return max((pair[0].shape[1] for key, pair in adapter.sites.items() if key[1] == site and pair), default=0)
