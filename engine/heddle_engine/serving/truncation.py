"""min_p, top_k and top_p: which of a row's tokens may be drawn. Rows that ask for none of them cost nothing."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from .sampling import SamplingParams

_LEADING = {"cpu": 256}
"""Tokens that are looked at first: few distributions need more to reach top_p. On a GPU all of them, since sorting a
vocabulary costs less there than to ask whether some sufficed.
"""

_DIGIT_BITS = 10
"""The bits of a weight, which is at most 1, are three such digits."""


class Truncation:
    """Zeroes the weights of tokens that are excluded; made for a fixed set of rows."""

    def __init__(self, params: list[SamplingParams], device: torch.device):
        def those(condition: Callable[[SamplingParams], bool]) -> tuple[list[SamplingParams], Tensor]:
            places = [place for place, p in enumerate(params) if not p.greedy and condition(p)]
            return [params[place] for place in places], torch.tensor(places, dtype=torch.int64, device=device)

        least, self._least_rows = those(lambda p: p.min_p > 0)
        self._min_p = _column([p.min_p for p in least], torch.float32, device)
        cut, self._cut_rows = those(lambda p: p.top_k > 0 or p.top_p < 1)
        self._top_k = _column([p.top_k for p in cut], torch.int64, device)
        self._top_p = _column([p.top_p for p in cut], torch.float64, device)

    def apply(self, weights: Tensor) -> Tensor:
        """weights [rows, vocab] normalised; those of the rows that ask are changed in place."""
        if len(self._least_rows):
            asking = weights[self._least_rows]
            weights[self._least_rows] = torch.where(asking < self._min_p * asking.amax(-1, keepdim=True), 0.0, asking)
        if len(self._cut_rows):
            weights[self._cut_rows] = _cut(weights[self._cut_rows], self._top_k, self._top_p)
        return weights


def _cut(weights: Tensor, top_k: Tensor, top_p: Tensor) -> Tensor:
    vocab = weights.shape[1]
    total = weights.sum(-1, keepdim=True, dtype=torch.double)
    leading = torch.topk(weights, min(_LEADING.get(weights.device.type, vocab), vocab), -1).values
    count, known = _num_kept(leading, total, top_k, top_p)
    least = leading.gather(1, count - 1)
    if leading.shape[1] < vocab and not known.all():
        for row in (~known)[:, 0].nonzero()[:, 0].tolist():
            count[row], least[row] = _select(weights[row], total[row], top_k[row], top_p[row])
    return _first(weights, count, least)


def _num_kept(ordered: Tensor, total: Tensor, top_k: Tensor, top_p: Tensor) -> tuple[Tensor, Tensor]:
    """How many of the largest weights stay [rows, 1], at least one, and whether `ordered`, the largest, tells it.

    Where weights are not finite nothing is to be found, and any answer will do.
    """
    width = ordered.shape[1]
    upto = ordered.double().cumsum(-1)
    by_k = torch.where(top_k > 0, top_k, width).clamp(max=width)
    known = torch.where(top_k > 0, top_k <= width, (top_p < 1) & (upto[:, -1:] >= top_p * total))
    known |= ~total.isfinite()
    # top_p is a share of what top_k leaves.
    total = torch.where(top_k > 0, upto.gather(1, by_k - 1), total)
    by_p = ((upto - ordered) < top_p * total).sum(-1, keepdim=True)
    count = torch.where(top_p < 1, torch.minimum(by_p, by_k), by_k).clamp(min=1)
    return count, known


def _select(weights: Tensor, total: Tensor, top_k: Tensor, top_p: Tensor) -> tuple[Tensor, Tensor]:
    """For one row [vocab]: how many of the largest weights stay, and the smallest of those."""
    bits = weights.view(torch.int32)  # in the same order as the weights, none of which is negative
    count, least = torch.full_like(top_k, len(weights)), weights.new_zeros(1)
    if top_k > 0:
        count = top_k.clamp(max=len(weights))
        least, spare = _edge(bits, torch.ones_like(weights), count.double())
        total = torch.where(weights > least, weights, 0.0).sum(dtype=torch.double) + spare * least
    if top_p < 1:
        least, left = _edge(bits, weights, top_p * total)
        by_p = (weights > least).sum() + (left / least).ceil().long().clamp(min=1)
        count = torch.minimum(count, by_p)
    return count, least


def _edge(bits: Tensor, amounts: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """The largest values that together amount to `wanted` [1]: the smallest of them, and how much it has to bring.

    Radix selection: sorting a whole vocabulary takes ten times as long. `bits` are those of the values.
    """
    last = (1 << _DIGIT_BITS) - 1
    for shift in (2 * _DIGIT_BITS, _DIGIT_BITS, 0):
        digits = (bits >> shift) & last
        upto = torch.bincount(digits, amounts.double(), last + 1).flip(0).cumsum(0)
        # The sums of digits may miss a bit of what is wanted.
        place = torch.searchsorted(upto, torch.minimum(wanted, upto[-1:]))
        wanted = wanted - F.pad(upto, (1, 0))[place]
        inside = (digits == last - place).nonzero()[:, 0]
        bits, amounts = bits[inside], amounts[inside]
    return bits[:1].view(torch.float32), wanted


def _first(weights: Tensor, count: Tensor, least: Tensor) -> Tensor:
    """The `count` largest weights of each row, of which `least` is the smallest; of equal ones the first."""
    kept = weights >= least
    if ((kept.sum(-1, keepdim=True) > count) & (least > 0)).any():
        above, equal = weights > least, weights == least
        kept = above | (equal & (equal.cumsum(-1) <= count - above.sum(-1, keepdim=True)))
    return torch.where(kept, weights, 0.0)


def _column(values: list, dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.tensor(values, dtype=dtype, device=device)[:, None]
