"""A mixture of experts (arXiv 1701.06538): a router picks the experts that compute each token.

Router and experts are frozen, and the gradient to the input goes through both. It is written by hand: the gradient to
the weight of an expert is a product in the expert's inner space, so no expert's output is kept for it.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from .gated_unit import Unit
from .grouped_linear import GroupedLinear, Groups
from .kernels import have_kernels
from .linear import FrozenLinear
from .shared_expert import SharedExpert


@dataclass(frozen=True)
class _Routes:
    """Where N tokens go, k experts each: S = N k pairs of a token and an expert.

    probabilities [N, E], experts and weights [N, k]; `order` [S] sorts pairs by expert, which makes `groups`, and
    `places` int64 [N, k] says where those of a token stand then.
    """

    probabilities: Tensor
    experts: Tensor
    weights: Tensor
    order: Tensor
    places: Tensor
    groups: Groups

    @cached_property
    def tokens(self) -> Tensor:
        """The token of each sorted pair."""
        return self.order // self.experts.shape[1]

    @property
    def shares(self) -> Tensor:
        """The weight of each sorted pair."""
        return self.weights.flatten()[self.order]

    def sum_by_token(self, pairs: Tensor, weights: Tensor | None = None) -> Tensor:
        """Sorted pairs [S, D] -> [N, D]: the sum of those of a token, times weights [N, k] where given."""
        if have_kernels(pairs):
            from .kernels.pairs import sum_pairs

            return sum_pairs(pairs, self.places, weights)
        of_token = pairs[self.places]
        return of_token.sum(1) if weights is None else torch.bmm(weights.to(pairs.dtype)[:, None], of_token)[:, 0]


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

    def compute(self, x: Tensor) -> tuple[Tensor, _Routes, Tensor]:
        """What the chosen experts give, and what its gradient needs: routes, and the inputs of the experts' activations
        [S, 2 I]."""
        routes = self._routes(x)
        gate_up = self.gate_up(x[routes.tokens], routes.groups)
        out = self.down(self.unit.of(gate_up), routes.groups)
        return routes.sum_by_token(out, routes.weights), routes, gate_up

    def gradient(self, grad: Tensor, routes: _Routes, gate_up: Tensor) -> Tensor:
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

    def _routes(self, x: Tensor) -> _Routes:
        probabilities = self.router.in_fp32(x).softmax(-1)
        weights, experts = probabilities.topk(self.per_token)
        if self.normalised:
            weights = weights / weights.sum(-1, keepdim=True)
        pairs, order = experts.flatten().sort(stable=True)
        places = torch.empty_like(order).scatter_(0, order, torch.arange(len(order), device=order.device))
        groups = Groups.of(pairs, self.router.out_features)
        return _Routes(probabilities, experts, weights, order, places.view_as(experts), groups)

    def _logits_gradient(self, grad_weights: Tensor, routes: _Routes) -> Tensor:
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
