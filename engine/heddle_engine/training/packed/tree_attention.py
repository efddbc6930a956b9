"""Which attention over a forest of shared prefixes a device gets."""

from collections.abc import Callable

import torch
from torch import Tensor

from ...model.attention.varlen import flash_fits
from .cascade_attention import CascadeAttention
from .flash_tree_attention import FlashTreeAttention
from .flash_window_attention import FlashWindowAttention
from .masked_attention import MaskedTreeAttention
from .prefix_tree import Forest

_Attend = Callable[[int, Tensor, Tensor, Tensor, Tensor | None], Tensor]


class TreeAttention:
    """The ``attend`` of a packed row: q [N, heads, D], k and v [N, kv_heads, D], sinks [heads] -> [N, heads, D]."""

    def __init__(self, forest: Forest, device: torch.device) -> None:
        self._forest, self._device = forest, device
        self._longest = int(forest.positions.max()) + 1
        self._by_window: dict[int | None, _Attend] = {}

    def __call__(
        self, layer: int, q: Tensor, k: Tensor, v: Tensor, window: int | None = None, sinks: Tensor | None = None
    ) -> Tensor:
        if window is not None and window >= self._longest:
            window = None
        if window not in self._by_window:
            self._by_window[window] = self._choose(q, window)
        return self._by_window[window](layer, q, k, v, sinks)

    def _choose(self, q: Tensor, window: int | None) -> _Attend:
        """The flash kernels where there is one for the device and the numbers of the query, else the mask."""
        if self._device.type == "cpu" and CascadeAttention.has_kernel():
            return CascadeAttention(self._forest, window)
        if not flash_fits(q):
            return MaskedTreeAttention(self._forest, self._device, window)
        if window is None:
            return FlashTreeAttention(self._forest, self._device)
        return FlashWindowAttention(self._forest, self._device, window)
