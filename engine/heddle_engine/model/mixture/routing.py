"""Which experts compute a token, and the order in which they compute all of them.

On a GPU nothing of it is read back: a step over a few rows takes two kernels here, and can be captured.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import torch
from torch import Tensor

from ..kernels import have_kernels

_MOST_COMPARED = 2048
"""Up to so many pairs find their places by comparing each with all others, more by sorting."""


@dataclass(frozen=True)
class Groups:
    """Pairs of a token and an expert, sorted by expert.

    `chosen` int64 [S] are the experts of the pairs as they come, those of a token side by side; `order` int64 [S] sorts
    them, and `ends` int32 [E] says behind which place the pairs of each expert end.
    """

    chosen: Tensor
    order: Tensor
    ends: Tensor

    @cached_property
    def experts(self) -> Tensor:
        """Of the sorted pairs."""
        return self.chosen[self.order]

    @cached_property
    def counts(self) -> list[int]:
        """Pairs of each expert. Waits for the device."""
        return [end - start for start, end in pairwise([0, *self.ends.tolist()])]


@dataclass(frozen=True)
class Routes:
    """Where N tokens go, k experts each: S = N k pairs.

    probabilities [N, E] and weights [N, k] fp32, experts int64 [N, k]; `places` int64 [N, k] says where the pairs of a
    token stand in the order of `groups`.
    """

    probabilities: Tensor
    weights: Tensor
    experts: Tensor
    places: Tensor
    groups: Groups

    @cached_property
    def tokens(self) -> Tensor:
        """The token of each sorted pair."""
        return self.groups.order // self.experts.shape[1]

    @property
    def shares(self) -> Tensor:
        """The weight of each sorted pair."""
        return self.weights.flatten()[self.groups.order]

    def sum_by_token(self, pairs: Tensor, weights: Tensor | None = None) -> Tensor:
        """Sorted pairs [S, D] -> [N, D]: the sum of those of a token, times weights [N, k] where given."""
        if have_kernels(pairs):
            from ..kernels.pairs import sum_pairs

            return sum_pairs(pairs, self.places, weights)
        of_token = pairs[self.places]
        return of_token.sum(1) if weights is None else torch.bmm(weights.to(pairs.dtype)[:, None], of_token)[:, 0]


def route(logits: Tensor, per_token: int, normalised: bool) -> Routes:
    """logits fp32 [N, E]: each token goes to its likeliest experts. `normalised`: their weights add up to 1."""
    if have_kernels(logits):
        from ..kernels.routing import choose

        probabilities, weights, experts = choose(logits, per_token, normalised)
    else:
        probabilities = logits.softmax(-1)
        weights, experts = probabilities.topk(per_token)
        if normalised:
            weights = weights / weights.sum(-1, keepdim=True)
    chosen = experts.flatten()
    order, places, ends = _sorted(chosen, logits.shape[1])
    return Routes(probabilities, weights, experts, places.view_as(experts), Groups(chosen, order, ends))


def _sorted(chosen: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Experts int64 [S], of `count` -> their order, the place of each in it, and where each expert ends."""
    if have_kernels(chosen) and len(chosen) <= _MOST_COMPARED:
        from ..kernels.routing import sort_few

        return sort_few(chosen, count)
    in_order, order = chosen.sort(stable=True)
    numbers = torch.arange(max(count, len(chosen)), device=chosen.device)
    places = torch.empty_like(order).scatter_(0, order, numbers[: len(chosen)])
    return order, places, torch.searchsorted(in_order, numbers[:count], right=True, out_int32=True)
