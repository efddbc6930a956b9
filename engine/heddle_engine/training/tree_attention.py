"""Which attention over a forest of shared prefixes a device gets."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..model.varlen import flash_fits
from .cascade_attention import CascadeAttention
from .flash_tree_attention import FlashTreeAttention
from .masked_attention import MaskedTreeAttention
from .prefix_tree import Forest

Attend = Callable[[int, Tensor, Tensor, Tensor], Tensor]


def tree_attention(forest: Forest, device: torch.device) -> Attend:
    """The ``attend`` of a packed row: q [N, heads, D], k and v [N, kv_heads, D] -> [N, heads, D]."""
    if device.type == "cpu" and CascadeAttention.has_kernel():
        return CascadeAttention(forest)
    return _ByFirstQuery(forest, device)


class _ByFirstQuery:
    """The flash kernel where it takes the numbers of the first query, else the mask."""

    def __init__(self, forest: Forest, device: torch.device) -> None:
        self._forest, self._device = forest, device
        self._chosen: Attend | None = None

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        if self._chosen is None:
            kind = FlashTreeAttention if flash_fits(q) else MaskedTreeAttention
            self._chosen = kind(self._forest, self._device)
        return self._chosen(layer, q, k, v)
