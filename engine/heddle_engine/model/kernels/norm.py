"""RMSNorm (arXiv 1910.07467) of a sum, and its gradient: one program a row, which it reads once.

Sums and norms are computed in fp32; a sum is rounded to the format of its parts before it is normalised.
"""

# ruff: noqa: N803 (what a kernel is compiled for stands in capitals, as Triton's users write it)

import torch
import triton
import triton.language as tl
from torch import Tensor


def add_norm(x: Tensor, added: Tensor | None, weight: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """x and added [N, D], weight [D] -> x + added, and its norm times the weight."""
    x = x.contiguous()
    normal = torch.empty_like(x)
    total = x if added is None else torch.empty_like(x)
    _add_norm[(len(x),)](
        x, x if added is None else added.contiguous(), weight, total, normal, eps,
        ADDS=added is not None, **_sizes(x),
    )  # fmt: skip
    return total, normal


def add_norm_gradient(
    grad_total: Tensor | None, grad_normal: Tensor, total: Tensor, weight: Tensor, eps: float
) -> Tensor:
    """The gradient to x, and to what was added, of those to both results of `add_norm`."""
    slope = torch.empty_like(total)
    _add_norm_gradient[(len(total),)](
        grad_normal if grad_total is None else grad_total.contiguous(), grad_normal.contiguous(), total, weight, slope,
        eps, ADDS=grad_total is not None, **_sizes(total),
    )  # fmt: skip
    return slope


def _sizes(x: Tensor) -> dict:
    width = triton.next_power_of_2(x.shape[1])
    return {"D": x.shape[1], "WIDTH": width, "num_warps": 4 if width <= 2048 else 8}


@triton.jit
def _add_norm(x, added, weight, total, normal, eps, ADDS: tl.constexpr, D: tl.constexpr, WIDTH: tl.constexpr):
    column = tl.arange(0, WIDTH)
    at, inside = tl.program_id(0).to(tl.int64) * D + column, column < D
    value = tl.load(x + at, mask=inside, other=0.0)
    if ADDS:
        more = tl.load(added + at, mask=inside, other=0.0)
        value = (value.to(tl.float32) + more.to(tl.float32)).to(value.dtype)
        tl.store(total + at, value, mask=inside)
    exact = value.to(tl.float32)
    inverse = 1 / tl.sqrt(tl.sum(exact * exact, 0) / D + eps)
    scaled = exact * inverse * tl.load(weight + column, mask=inside, other=0.0).to(tl.float32)
    tl.store(normal + at, scaled.to(value.dtype), mask=inside)


@triton.jit
def _add_norm_gradient(
    grad_total, grad_normal, total, weight, slope, eps, ADDS: tl.constexpr, D: tl.constexpr, WIDTH: tl.constexpr
):
    # dx = (g w - x mean(g w x) / rms^2) / rms
    column = tl.arange(0, WIDTH)
    at, inside = tl.program_id(0).to(tl.int64) * D + column, column < D
    exact = tl.load(total + at, mask=inside, other=0.0).to(tl.float32)
    inverse = 1 / tl.sqrt(tl.sum(exact * exact, 0) / D + eps)
    scaled = tl.load(grad_normal + at, mask=inside, other=0.0).to(tl.float32)
    scaled *= tl.load(weight + column, mask=inside, other=0.0).to(tl.float32)
    along = tl.sum(scaled * exact, 0) * inverse * inverse / D
    found = (scaled - exact * along) * inverse
    if ADDS:
        found += tl.load(grad_total + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(slope + at, found.to(slope.dtype.element_ty), mask=inside)
