"""Gated linear units (arXiv 2002.05202) over a fused gate and up projection, with a hand-written gradient.

torch's own gradient makes each half apart, widens it with zeros and adds the two; here both are
written where they belong.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from .kernels import have_kernels


class Unit(Protocol):
    """What a gate and an up projection, gate_up [N, 2 I], become."""

    def of(self, gate_up: Tensor) -> Tensor:
        """[N, I]."""
        ...

    def gradient(self, grad: Tensor, gate_up: Tensor) -> Tensor:
        """The gradient to gate_up [N, 2 I] of that to the result [N, I]."""
        ...

    def weighted_gradient(self, grad: Tensor, gate_up: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Those to gate_up [N, 2 I] and to the weights, fp32 [N], of that to weights * result [N, I]."""
        ...


@dataclass(frozen=True)
class Activation:
    """activation(gate) * up. `slope(grad, gate, grad_input=out)` writes the gradient to the gate."""

    activate: Callable[[Tensor], Tensor]
    slope: Callable[..., Tensor]
    is_gelu: bool = False

    def of(self, gate_up: Tensor) -> Tensor:
        if have_kernels(gate_up):
            from .kernels.gate import gate

            return gate(gate_up, self.is_gelu)
        gate, up = gate_up.chunk(2, -1)
        return self.activate(gate).mul_(up)

    def gradient(self, grad: Tensor, gate_up: Tensor) -> Tensor:
        if have_kernels(gate_up):
            from .kernels.gate import gate_gradient

            return gate_gradient(grad, gate_up, self.is_gelu)
        gate, up = gate_up.chunk(2, -1)
        slope = torch.empty_like(gate_up)
        slope_gate, slope_up = slope.chunk(2, -1)
        activated = self.activate(gate)
        torch.mul(grad, activated, out=slope_up)
        torch.mul(grad, up, out=activated)
        self.slope(activated, gate, grad_input=slope_gate)
        return slope

    def weighted_gradient(self, grad: Tensor, gate_up: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        if have_kernels(gate_up):
            from .kernels.gate import weighted_gate_gradient

            return weighted_gate_gradient(grad, gate_up, weights, self.is_gelu)
        return _weighted_gradient(self, grad, gate_up, weights)


@dataclass(frozen=True)
class ClampedSwiglu:
    """gate sigmoid(alpha gate) (up + 1), of a gate up to `limit` and an up between -limit and limit (gpt-oss)."""

    alpha: float
    limit: float

    def of(self, gate_up: Tensor) -> Tensor:
        gate, up = self._clamped(gate_up)
        return gate * torch.sigmoid(gate * self.alpha) * (up + 1)

    def gradient(self, grad: Tensor, gate_up: Tensor) -> Tensor:
        gate, up = self._clamped(gate_up)
        open_ = torch.sigmoid(gate * self.alpha)
        slope = torch.empty_like(gate_up)
        slope_gate, slope_up = slope.chunk(2, -1)
        torch.mul(grad, gate * open_, out=slope_up)
        torch.mul(grad * (up + 1), open_ * (1 + self.alpha * gate * (1 - open_)), out=slope_gate)
        # What lies beyond a limit has no gradient.
        raw_gate, raw_up = gate_up.chunk(2, -1)
        slope_gate.masked_fill_(raw_gate > self.limit, 0)
        slope_up.masked_fill_(raw_up.abs() > self.limit, 0)
        return slope

    def weighted_gradient(self, grad: Tensor, gate_up: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        return _weighted_gradient(self, grad, gate_up, weights)

    def _clamped(self, gate_up: Tensor) -> tuple[Tensor, Tensor]:
        gate, up = gate_up.chunk(2, -1)
        return gate.clamp(max=self.limit), up.clamp(-self.limit, self.limit)


def _weighted_gradient(unit: Unit, grad: Tensor, gate_up: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    along = torch.linalg.vecdot(grad.float(), unit.of(gate_up).float())
    return unit.gradient(grad * weights[:, None].to(grad.dtype), gate_up), along


SILU = Activation(F.silu, torch.ops.aten.silu_backward.grad_input)
GELU_TANH = Activation(
    partial(F.gelu, approximate="tanh"),
    partial(torch.ops.aten.gelu_backward.grad_input, approximate="tanh"),
    is_gelu=True,
)


def gated(gate_up: Tensor, unit: Unit) -> Tensor:
    """gate_up [N, 2 I] -> [N, I], differentiable."""
    if torch.is_grad_enabled() and gate_up.requires_grad:
        return _Gated.apply(gate_up, unit)
    return unit.of(gate_up)


class _Gated(torch.autograd.Function):
    @staticmethod
    def forward(ctx, gate_up, unit):
        ctx.save_for_backward(gate_up)
        ctx.unit = unit
        return unit.of(gate_up)

    @staticmethod
    def backward(ctx, grad):
        (gate_up,) = ctx.saved_tensors
        return ctx.unit.gradient(grad, gate_up), None
