"""The expert of a mixture that computes every token, times a gate: sigmoid(w x) down(unit(gate_up x)).

It is frozen. The gradient to its input is written by hand, as that of the other experts is: the gradient to the gate is
a product in the expert's inner space.
"""

import torch
from torch import Tensor

from ..gated_unit import Unit
from ..linear import FrozenLinear


class SharedExpert:
    """`x [N, hidden] -> [N, hidden]`, differentiable in x. The gate is computed in fp32."""

    def __init__(self, gate: FrozenLinear, gate_up: FrozenLinear, down: FrozenLinear, unit: Unit):
        """`gate` has one output. No projection has a bias."""
        self.gate, self.gate_up, self.down, self.unit = gate, gate_up, down, unit

    def __call__(self, x: Tensor) -> Tensor:
        if torch.is_grad_enabled() and x.requires_grad:
            return _SharedExpert.apply(x, self)
        return self.compute(x)[0]

    def compute(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The result, and what its gradient needs: how far the gate is open [N, 1] fp32, and the inputs of the
        activation [N, 2 I]."""
        opened, gate_up = self.gate.in_fp32(x).sigmoid(), self.gate_up(x)
        return self.down(self.unit.of(gate_up)) * opened.to(x.dtype), opened, gate_up

    def gradient(self, grad: Tensor, opened: Tensor, gate_up: Tensor) -> Tensor:
        """The gradient to x of that to the result."""
        of_unit, along = self.unit.weighted_gradient(self.down.transposed(grad), gate_up, opened[:, 0])
        of_gate = (along[:, None] * opened * (1 - opened)).to(grad.dtype)
        return self.gate_up.transposed(of_unit) + self.gate.transposed(of_gate)


class _SharedExpert(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, expert):
        y, opened, gate_up = expert.compute(x)
        ctx.save_for_backward(opened, gate_up)
        ctx.expert = expert
        return y

    @staticmethod
    def backward(ctx, grad):
        return ctx.expert.gradient(grad.contiguous(), *ctx.saved_tensors), None
