"""Frozen projections of the base model: fused, prepacked, without gradient to the weight."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from .number_format import multiplies_bf16

# Private operators of torch's oneDNN build: 2-4 times faster than F.linear on some CPUs. Every use
# is behind `_prepacks`, so a build without them only loses speed.
_PACK_HINT_ROWS = 64
_UPCAST_WEIGHTS = 2**22
"""Weights that are held in fp32 at a time where a CPU without bf16 instructions multiplies bf16 ones."""


def _prepacks(weight: Tensor) -> bool:
    return (
        weight.device.type == "cpu"
        and (weight.dtype == torch.float32 or (weight.dtype == torch.bfloat16 and multiplies_bf16(weight.device)))
        and torch.backends.mkldnn.is_available()
        and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    )


@dataclass(frozen=True)
class Part:
    """Rows `start … start + rows` of a fused projection that belong to one module of the checkpoint."""

    module: str
    start: int
    rows: int


class FrozenLinear:
    """`x [N, in] -> x W^T + bias [N, out]` with a fixed W [out, in].

    `parts` are the modules fused into W, in row order (`q_proj`, `k_proj`, `v_proj`).
    """

    def __init__(self, weight: Tensor, parts: tuple[Part, ...], bias: Tensor | None = None):
        self.out_features, self.in_features = weight.shape
        self.parts = parts
        self.bias = bias
        self.dtype = weight.dtype
        self._packed = _prepacks(weight)
        self._weight = _pack(weight) if self._packed else weight.contiguous()
        self._transposed: Tensor | None = None

    def __call__(self, x: Tensor) -> Tensor:
        if self._packed:
            return torch.ops.mkldnn._linear_pointwise(x, self._weight, self.bias, "none", [], "")
        return F.linear(x, self._weight, self.bias)

    def in_fp32(self, x: Tensor) -> Tensor:
        """As a call, but the result is fp32 whatever the weight is: a logit of 40 in bf16 may be off by 0.12."""
        if self.dtype == torch.float32:
            return self(x)
        if self._packed:
            return self._sum_in_fp32(x)
        if x.device.type == "cuda":
            out = torch.mm(x, self._weight.t(), out_dtype=torch.float32)
        else:
            rows = self._weight.split(max(1, _UPCAST_WEIGHTS // self.in_features))
            out = torch.cat([F.linear(x.float(), part.float()) for part in rows], -1)
        return out if self.bias is None else out + self.bias.float()

    def _sum_in_fp32(self, x: Tensor) -> Tensor:
        """The sums of a bf16 product, which oneDNN has in fp32, as their rounding plus what it lost.

        A second product subtracts the rounding before it rounds itself: 2^-17 of each sum is lost at most. Twice a bf16
        product takes as long as one in fp32, whose weights would take twice the memory.
        """
        linear = torch.ops.mkldnn._linear_pointwise
        rounded = linear(x, self._weight, None, "none", [], "")
        lost = linear.binary(-x, rounded, self._weight, None, "add")
        out = rounded.float().sub_(lost)
        return out if self.bias is None else out.add_(self.bias)

    def transposed(self, g: Tensor) -> Tensor:
        """`g [N, out] -> g W [N, in]`, the gradient to the input. The packed W^T is made on first use."""
        if not self._packed:
            return g @ self._weight
        if self._transposed is None:
            self._transposed = _pack(self.weight.t())
        return torch.ops.mkldnn._linear_pointwise(g, self._transposed, None, "none", [], "")

    @property
    def weight(self) -> Tensor:
        """W [out, in] in plain layout; a copy when the projection is prepacked."""
        return self._weight.to_dense() if self._packed else self._weight


def _pack(weight: Tensor) -> Tensor:
    return torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), _PACK_HINT_ROWS)


def fuse(weights: dict[str, Tensor], biases: dict[str, Tensor] | None = None) -> FrozenLinear:
    """Stack the named weights [out_i, in] into one projection, in the order given."""
    parts, start = [], 0
    for module, weight in weights.items():
        parts.append(Part(module, start, weight.shape[0]))
        start += weight.shape[0]
    bias = torch.cat([biases[module] for module in weights]) if biases else None
    return FrozenLinear(torch.cat(list(weights.values())), tuple(parts), bias)
