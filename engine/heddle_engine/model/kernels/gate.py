"""Gated linear units over a fused gate and up projection, and their gradient.

SiLU and the tanh form of GELU are both x sigmoid(s(x)), with s(x) = x, or sqrt(8 / pi) (x + 0.044715 x^3).
"""

# ruff: noqa: N803 (what a kernel is compiled for stands in capitals, as Triton's users write it)

import torch
import triton
import triton.language as tl
from torch import Tensor

_COLUMNS = 1024
"""Of one program."""


def gate(gate_up: Tensor, gelu: bool) -> Tensor:
    """gate_up [N, 2 I] -> silu(gate) * up [N, I], or with `gelu` that of the gate."""
    gate_up = gate_up.contiguous()
    inner = gate_up.shape[1] // 2
    out = torch.empty(len(gate_up), inner, dtype=gate_up.dtype, device=gate_up.device)
    _gate[(len(gate_up), triton.cdiv(inner, _COLUMNS))](gate_up, out, inner, GELU=gelu, COLUMNS=_COLUMNS)
    return out


def gate_gradient(grad: Tensor, gate_up: Tensor, gelu: bool) -> Tensor:
    """The gradient to gate_up [N, 2 I] of that to the result [N, I]."""
    gate_up = gate_up.contiguous()
    slope, inner = torch.empty_like(gate_up), grad.shape[1]
    _gate_gradient[(len(grad), triton.cdiv(inner, _COLUMNS))](
        grad.contiguous(), gate_up, slope, inner, GELU=gelu, COLUMNS=_COLUMNS
    )
    return slope


def weighted_gate_gradient(grad: Tensor, gate_up: Tensor, weights: Tensor, gelu: bool) -> tuple[Tensor, Tensor]:
    """The gradients to gate_up [N, 2 I] and to weights, fp32 [N], of that to weights * result [N, I]."""
    gate_up = gate_up.contiguous()
    slope, inner = torch.empty_like(gate_up), grad.shape[1]
    along = torch.empty(len(grad), dtype=torch.float32, device=grad.device)
    columns = min(_COLUMNS, triton.next_power_of_2(inner))
    _weighted_gate_gradient[(len(grad),)](
        grad.contiguous(), gate_up, weights.contiguous(), slope, along,
        INNER=inner, CHUNKS=triton.cdiv(inner, columns), GELU=gelu, COLUMNS=columns,
    )  # fmt: skip
    return slope, along


@triton.jit
def _inside(x, GELU: tl.constexpr):
    """s(x) and its slope."""
    if GELU:
        factor: tl.constexpr = 1.5957691216057308
        return factor * (x + 0.044715 * x * x * x), factor * (1 + 3 * 0.044715 * x * x)
    return x, x * 0 + 1


@triton.jit
def _gate(gate_up, out, inner, GELU: tl.constexpr, COLUMNS: tl.constexpr):
    row, column = tl.program_id(0).to(tl.int64), tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside, at = column < inner, row * (2 * inner) + column
    x = tl.load(gate_up + at, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(gate_up + at + inner, mask=inside, other=0.0).to(tl.float32)
    s, _ = _inside(x, GELU)
    tl.store(out + row * inner + column, (x * tl.sigmoid(s) * up).to(out.dtype.element_ty), mask=inside)


@triton.jit
def _gate_gradient(grad, gate_up, slope, inner, GELU: tl.constexpr, COLUMNS: tl.constexpr):
    row, column = tl.program_id(0).to(tl.int64), tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    given = tl.load(grad + row * inner + column, mask=column < inner, other=0.0).to(tl.float32)
    _store_slope(given, gate_up, slope, row, column, inner, GELU)


@triton.jit
def _weighted_gate_gradient(
    grad, gate_up, weights, slope, along,
    INNER: tl.constexpr, CHUNKS: tl.constexpr, GELU: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    weight = tl.load(weights + row).to(tl.float32)
    total = tl.zeros([COLUMNS], tl.float32)
    for chunk in range(CHUNKS):
        column = chunk * COLUMNS + tl.arange(0, COLUMNS)
        given = tl.load(grad + row * INNER + column, mask=column < INNER, other=0.0).to(tl.float32)
        total += given * _store_slope(given * weight, gate_up, slope, row, column, INNER, GELU)
    tl.store(along + row, tl.sum(total, 0))


@triton.jit
def _store_slope(given, gate_up, slope, row, column, inner, GELU: tl.constexpr):
    """Writes the gradient to both inputs of that `given` to the result, which it returns."""
    inside, at = column < inner, row * (2 * inner) + column
    x = tl.load(gate_up + at, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(gate_up + at + inner, mask=inside, other=0.0).to(tl.float32)
    s, ds = _inside(x, GELU)
    open_ = tl.sigmoid(s)
    to_gate = given * up * open_ * (1 + x * (1 - open_) * ds)
    tl.store(slope + at, to_gate.to(slope.dtype.element_ty), mask=inside)
    tl.store(slope + at + inner, (given * x * open_).to(slope.dtype.element_ty), mask=inside)
    return x * open_ * up
