"""What stands before and behind the rule of a delta net: decays and strengths of tokens, and the norm of what is gated.

None has a gradient: a pass that needs one computes in plain operators.
"""

# ruff: noqa: N803 (what a kernel is compiled for stands in capitals, as Triton's users write it)

import torch
import triton
import triton.language as tl
from torch import Tensor

_HEADS = 8
"""Of one program."""


def weigh(decay: Tensor, strength: Tensor, rate: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """decay and strength [N, H], columns of one projection, rate and bias fp32 [H] -> -rate softplus(decay + bias) and
    sigmoid(strength), fp32 [N, H]."""
    found = [torch.empty(decay.shape, dtype=torch.float32, device=decay.device) for _ in range(2)]
    heads = decay.shape[1]
    _weigh[(len(decay),)](
        decay, strength, rate, bias, *found, decay.stride(0), strength.stride(0), heads,
        WIDTH=triton.next_power_of_2(heads),
    )  # fmt: skip
    return found[0], found[1]


def gated_norm(mixed: Tensor, gate: Tensor, norm: Tensor, eps: float) -> Tensor:
    """mixed fp32 [N, H, D], gate [N, H D], norm fp32 [D] -> the norm of each head times silu(gate), [N, H D] in the
    format of `gate`."""
    rows, heads, dim = mixed.shape
    mixed = mixed.contiguous()
    out = torch.empty(rows, heads * dim, dtype=gate.dtype, device=gate.device)
    _gated_norm[(rows, triton.cdiv(heads, _HEADS))](
        mixed, gate, norm, out, gate.stride(0), eps, H=heads, D=dim, WIDTH=triton.next_power_of_2(dim), HEADS=_HEADS
    )
    return out


@triton.jit
def _weigh(decay, strength, rate, bias, to_decay, to_strength, decay_row, strength_row, heads, WIDTH: tl.constexpr):
    row, head = tl.program_id(0).to(tl.int64), tl.arange(0, WIDTH)
    inside = head < heads
    x = tl.load(decay + row * decay_row + head, mask=inside, other=0.0).to(tl.float32)
    x += tl.load(bias + head, mask=inside, other=0.0)
    # log(1 + e), which keeps the digits of a small e.
    e = tl.exp(tl.minimum(x, 20.0))
    sum_ = 1 + e
    logarithm = tl.where(sum_ == 1, e, tl.log(sum_) * (e / tl.where(sum_ == 1, 1.0, sum_ - 1)))
    softplus = tl.where(x > 20.0, x, logarithm)
    tl.store(to_decay + row * heads + head, -tl.load(rate + head, mask=inside, other=0.0) * softplus, mask=inside)
    y = tl.load(strength + row * strength_row + head, mask=inside, other=0.0).to(tl.float32)
    tl.store(to_strength + row * heads + head, tl.sigmoid(y), mask=inside)


@triton.jit
def _gated_norm(
    mixed, gate, norm, out, gate_row, eps,
    H: tl.constexpr, D: tl.constexpr, WIDTH: tl.constexpr, HEADS: tl.constexpr,
):  # fmt: skip
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1) * HEADS + tl.arange(0, HEADS)[:, None]
    column = tl.arange(0, WIDTH)[None, :]
    inside, at = (head < H) & (column < D), head * D + column
    x = tl.load(mixed + row * (H * D) + at, mask=inside, other=0.0)
    inverse = 1 / tl.sqrt(tl.sum(x * x, 1) / D + eps)
    opening = tl.load(gate + row * gate_row + at, mask=inside, other=0.0).to(tl.float32)
    x *= inverse[:, None] * tl.load(norm + column, mask=column < D, other=0.0) * opening * tl.sigmoid(opening)
    tl.store(out + row * (H * D) + at, x.to(out.dtype.element_ty), mask=inside)
