"""Frozen projections of many experts at once, over rows that are sorted by expert."""

from collections.abc import Callable
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from ..linear import FrozenLinear
from .routing import Groups

_DEVICES = {"cuda"}
"""Where torch multiplies all groups in one call. A CPU's packed weights are faster one by one."""
_ROW_BYTES = 16
"""Of which a row has to have a multiple, for that call."""
_CAPABILITIES = (9, 10)
"""Of NVIDIA's GPUs (Hopper, Blackwell of data centres), where the call does not ask the processor for the groups."""


class GroupedLinear(Protocol):
    """`x [S, in] -> [S, out]`: the rows of an expert through its projection.

    `stays_on_device`: nothing is read back from the device meanwhile.
    """

    in_features: int
    out_features: int
    stays_on_device: bool

    def __call__(self, x: Tensor, groups: Groups) -> Tensor: ...

    def transposed(self, g: Tensor, groups: Groups) -> Tensor:
        """g [S, out] -> [S, in], the gradient to the input."""
        ...

    def along_bias(self, g: Tensor, groups: Groups) -> Tensor | None:
        """g [S, out] -> [S] fp32, its product with the bias of each row's projection; None where there are none."""
        ...


def group(projections: list[FrozenLinear]) -> GroupedLinear:
    """Projections of one shape, by expert; all have a bias or none."""
    weight = projections[0].weight
    is_aligned = all(size * weight.itemsize % _ROW_BYTES == 0 for size in weight.shape)
    return _Together(projections) if weight.device.type in _DEVICES and is_aligned else _OneByOne(projections)


class _OneByOne:
    """A product for each expert that has rows."""

    stays_on_device = False

    def __init__(self, projections: list[FrozenLinear]):
        self._projections = projections
        self.out_features, self.in_features = projections[0].out_features, projections[0].in_features

    def __call__(self, x: Tensor, groups: Groups) -> Tensor:
        return self._each(FrozenLinear.__call__, x, groups, self.out_features)

    def transposed(self, g: Tensor, groups: Groups) -> Tensor:
        return self._each(FrozenLinear.transposed, g, groups, self.in_features)

    def along_bias(self, g: Tensor, groups: Groups) -> Tensor | None:
        if self._projections[0].bias is None:
            return None
        return self._each(lambda projection, rows: rows @ projection.bias.float()[:, None], g.float(), groups, 1)[:, 0]

    def _each(
        self, product: Callable[[FrozenLinear, Tensor], Tensor], rows: Tensor, groups: Groups, columns: int
    ) -> Tensor:
        out = rows.new_empty(len(rows), columns)
        start = 0
        for projection, count in zip(self._projections, groups.counts, strict=True):
            if count:
                own = slice(start, start + count)
                out[own] = product(projection, rows[own])
                start += count
        return out


class _Together:
    """All weights in one tensor [experts, out, in], biases in one [experts, out]."""

    def __init__(self, projections: list[FrozenLinear]):
        first = projections[0]
        self.out_features, self.in_features = first.out_features, first.in_features
        self._weight = torch.stack([projection.weight for projection in projections])
        self._bias = None if first.bias is None else torch.stack([projection.bias for projection in projections])
        self.stays_on_device = first.dtype == torch.bfloat16 and _capability(self._weight.device) in _CAPABILITIES

    def __call__(self, x: Tensor, groups: Groups) -> Tensor:
        out = F.grouped_mm(x, self._weight.mT, offs=groups.ends)
        return out if self._bias is None else out.add_(self._bias[groups.experts])

    def transposed(self, g: Tensor, groups: Groups) -> Tensor:
        return F.grouped_mm(g, self._weight, offs=groups.ends)

    def along_bias(self, g: Tensor, groups: Groups) -> Tensor | None:
        if self._bias is None:
            return None
        return torch.linalg.vecdot(g.float(), self._bias[groups.experts].float())


def _capability(device: torch.device) -> int:
    return torch.cuda.get_device_capability(device)[0] if device.type == "cuda" else 0
