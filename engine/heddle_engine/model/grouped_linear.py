"""Frozen projections of many experts at once, over rows that are sorted by expert.

A product for each expert that has rows. Where a device multiplies groups in one call (torch's `grouped_mm`), that call
belongs here: whoever uses the class sees sorted rows and their counts only.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from .linear import FrozenLinear


class GroupedLinear:
    """`x [S, in] -> [S, out]`: the first `counts[0]` rows through the first projection, and so on."""

    def __init__(self, projections: list[FrozenLinear]):
        self._projections = projections
        self.out_features, self.in_features = projections[0].out_features, projections[0].in_features

    def __call__(self, x: Tensor, counts: list[int]) -> Tensor:
        return self._each(FrozenLinear.__call__, x, counts, self.out_features)

    def transposed(self, g: Tensor, counts: list[int]) -> Tensor:
        """g [S, out] -> [S, in], the gradient to the input."""
        return self._each(FrozenLinear.transposed, g, counts, self.in_features)

    def along_bias(self, g: Tensor, counts: list[int]) -> Tensor:
        """g [S, out] -> [S] fp32, its product with the bias of each row's projection; zeros where there are none."""
        if self._projections[0].bias is None:
            return g.new_zeros(len(g), dtype=torch.float32)
        return self._each(lambda projection, rows: rows @ projection.bias.float()[:, None], g.float(), counts, 1)[:, 0]

    def _each(
        self, product: Callable[[FrozenLinear, Tensor], Tensor], rows: Tensor, counts: list[int], columns: int
    ) -> Tensor:
        out = rows.new_empty(len(rows), columns)
        start = 0
        for projection, count in zip(self._projections, counts, strict=True):
            if count:
                own = slice(start, start + count)
                out[own] = product(projection, rows[own])
                start += count
        return out
