"""A mixture of experts (arXiv 1701.06538): a router picks the experts that compute each token.

Router and experts are frozen, and the gradient to the input goes through both. It is written by hand: the gradient to
the weight of an expert is a product in the expert's inner space, so no expert's output is kept for it.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from .gated_unit import Unit
from .grouped_linear import GroupedLinear
from .linear import FrozenLinear
from .shared_expert import SharedExpert


@dataclass(frozen=True)
class _Routes:
    """Where N tokens go, k experts each: S = N k pairs of a token and an expert.

    probabilities [N, E], experts and weights [N, k]; `order` [S] sorts pairs by expert, `counts` of them for each.
    """

    probabilities: Tensor
    experts: Tensor
    weights: Tensor
    order: Tensor
    counts: list[int]

    @property
    def tokens(self) -> Tensor:
        """The token of each sorted pair."""
        return self.order // self.experts.shape[1]

    def by_token(self, sorted_pairs: Tensor) -> Tensor:
        """[S, …] in sorted order -> [N, k, …]."""
        pairs = torch.empty_like(sorted_pairs)
        pairs[self.order] = sorted_pairs
        return pairs.unflatten(0, self.experts.shape)


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
        gate_up = self.gate_up(x[routes.tokens], routes.counts)
        out = routes.by_token(self.down(self.unit.of(gate_up), routes.counts))
        return torch.bmm(routes.weights.to(x.dtype)[:, None], out)[:, 0], routes, gate_up

    def gradient(self, grad: Tensor, routes: _Routes, gate_up: Tensor) -> Tensor:
        """The gradient to x of that to the result."""
        of_pairs = grad[routes.tokens]
        inner = self.down.transposed(of_pairs, routes.counts)
        # That to a weight is the gradient times the expert's output, which is down(unit) with its bias.
        along = torch.linalg.vecdot(inner.float(), self.unit.of(gate_up).float())
        grad_weights = routes.by_token(along + self.down.along_bias(of_pairs, routes.counts))
        inner *= routes.weights.flatten()[routes.order, None].to(inner.dtype)
        pairs = self.gate_up.transposed(self.unit.gradient(inner, gate_up), routes.counts)
        grad_logits = self._logits_gradient(grad_weights, routes)
        return routes.by_token(pairs).sum(1) + self.router.transposed(grad_logits.to(grad.dtype))

    def _routes(self, x: Tensor) -> _Routes:
        probabilities = self.router.in_fp32(x).softmax(-1)
        weights, experts = probabilities.topk(self.per_token)
        if self.normalised:
            weights = weights / weights.sum(-1, keepdim=True)
        pairs = experts.flatten()
        counts = torch.bincount(pairs, minlength=self.router.out_features).tolist()
        return _Routes(probabilities, experts, weights, pairs.argsort(stable=True), counts)

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
