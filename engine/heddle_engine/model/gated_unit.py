"""Gated linear units (arXiv 2002.05202) over a fused gate and up projection, with a hand-written gradient.

torch's own gradient makes each half apart, widens it with zeros and adds the two; here both are
written where they belong.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from .kernels import have_kernels


@dataclass(frozen=True)
class Activation:
    """What the gate goes through. `gradient(grad, gate, grad_input=out)` writes the gradient to the gate."""

    of: Callable[[Tensor], Tensor]
    gradient: Callable[..., Tensor]


SILU = Activation(F.silu, torch.ops.aten.silu_backward.grad_input)
GELU_TANH = Activation(
    partial(F.gelu, approximate="tanh"), partial(torch.ops.aten.gelu_backward.grad_input, approximate="tanh")
)


def gated(gate_up: Tensor, activation: Activation) -> Tensor:
    """gate_up [N, 2 I] -> activation(gate) * up [N, I]."""
    if torch.is_grad_enabled() and gate_up.requires_grad:
        return _Gated.apply(gate_up, activation)
    return _gated(gate_up, activation)


def _gated(gate_up: Tensor, activation: Activation) -> Tensor:
    if have_kernels(gate_up):
        from .kernels.gate import gate

        return gate(gate_up, activation is GELU_TANH)
    gate, up = gate_up.chunk(2, -1)
    return activation.of(gate).mul_(up)


def gated_gradient(grad: Tensor, gate_up: Tensor, activation: Activation) -> Tensor:
    """The gradient to gate_up [N, 2 I] of that to the result [N, I]."""
    if have_kernels(gate_up):
        from .kernels.gate import gate_gradient

        return gate_gradient(grad, gate_up, activation is GELU_TANH)
    gate, up = gate_up.chunk(2, -1)
    slope = torch.empty_like(gate_up)
    slope_gate, slope_up = slope.chunk(2, -1)
    activated = activation.of(gate)
    torch.mul(grad, activated, out=slope_up)
    torch.mul(grad, up, out=activated)
    activation.gradient(activated, gate, grad_input=slope_gate)
    return slope


class _Gated(torch.autograd.Function):
    @staticmethod
    def forward(ctx, gate_up, activation):
        ctx.save_for_backward(gate_up)
        ctx.activation = activation
        return _gated(gate_up, activation)

    @staticmethod
    def backward(ctx, grad):
        (gate_up,) = ctx.saved_tensors
        return gated_gradient(grad, gate_up, ctx.activation), None
