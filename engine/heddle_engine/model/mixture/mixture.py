"""A mixture of experts (arXiv 1701.06538): a router picks the experts that compute each token.

Router and experts are frozen, and the gradient to the input goes through both. It is written by hand: the gradient to
the weight of an expert is a product in the expert's inner space, so no expert's output is kept for it.
"""

import torch
from torch import Tensor

from ..gated_unit import Unit
from ..linear import FrozenLinear
from .grouped_linear import GroupedLinear
from .routing import Routes, route
from .shared_expert import SharedExpert


class Mixture:
    """`x [N, hidden] -> [N, hidden]`, differentiable in x. Routing is computed in fp32."""

    def __init__(
        self,
        router: FrozenLinear,
        gate_up: GroupedLinear,
        down: GroupedLinear,
        unit: Unit,
        per_token: int,
        normalised: bool,
        shared: SharedExpert | None = None,
    ):
        """`normalised`: the weights of a token's experts add up to 1. `shared` computes every token beside them."""
        self.router, self.gate_up, self.down, self.unit = router, gate_up, down, unit
        self.per_token, self.normalised, self.shared = per_token, normalised, shared

    def __call__(self, x: Tensor) -> Tensor:
        with_gradient = torch.is_grad_enabled() and x.requires_grad
        routed = _Mixture.apply(x, self) if with_gradient else self.compute(x)[0]
        return routed if self.shared is None else routed + self.shared(x)

    def compute(self, x: Tensor) -> tuple[Tensor, Routes, Tensor]:
        """What the chosen experts give, and what its gradient needs: routes, and the inputs of the experts' activations
        [S, 2 I]."""
        routes = route(self.router.in_fp32(x), self.per_token, self.normalised)
        gate_up = self.gate_up(x[routes.tokens], routes.groups)
        out = self.down(self.unit.of(gate_up), routes.groups)
        return routes.sum_by_token(out, routes.weights), routes, gate_up

    def gradient(self, grad: Tensor, routes: Routes, gate_up: Tensor) -> Tensor:
        """The gradient to x of that to the result."""
        of_pairs, groups = grad[routes.tokens], routes.groups
        inner = self.down.transposed(of_pairs, groups)
        # The gradient to a weight is that to the result times the expert's output, which is down(unit) with its bias.
        of_unit, of_shares = self.unit.weighted_gradient(inner, gate_up, routes.shares)
        along_bias = self.down.along_bias(of_pairs, groups)
        if along_bias is not None:
            of_shares = of_shares + along_bias
        grad_logits = self._logits_gradient(of_shares[routes.places], routes)
        to_experts = routes.sum_by_token(self.gate_up.transposed(of_unit, groups))
        return to_experts + self.router.transposed(grad_logits.to(grad.dtype))

    @property
    def stays_on_device(self) -> bool:
        """Whether nothing is read back from the device when this is computed."""
        return self.gate_up.stays_on_device and self.down.stays_on_device

    def _logits_gradient(self, grad_weights: Tensor, routes: Routes) -> Tensor:
        """[N, k] -> [N, E]: of a softmax over the chosen experts where weights are normalised, else over all."""
        pulled = routes.weights * grad_weights
        common = pulled.sum(-1, keepdim=True)
        if self.normalised:
            pulled -= routes.weights * common
            return torch.zeros_like(routes.probabilities).scatter_(1, routes.experts, pulled)
        return (-common * routes.probabilities).scatter_add_(1, routes.experts, pulled)


class _Mixture(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, mixture):
        y, ctx.routes, gate_up = mixture.compute(x)
        ctx.save_for_backward(gate_up)
        ctx.mixture = mixture
        return y

    @staticmethod
    def backward(ctx, grad):
        (gate_up,) = ctx.saved_tensors
        return ctx.mixture.gradient(grad.contiguous(), ctx.routes, gate_up), None
