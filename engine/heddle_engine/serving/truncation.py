"""min_p, top_k and top_p: which of a row's tokens may be drawn. Rows that ask for none of them cost nothing."""

from collections.abc import Callable

import torch
from torch import Tensor

from .sampling import SamplingParams

_LEADING = 1024
"""Tokens that are looked at first: few distributions need more to reach top_p, and sorting all takes far longer."""


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
    leading = torch.topk(weights, min(_LEADING, vocab), -1).values
    count, known = _num_kept(leading, weights.sum(-1, keepdim=True, dtype=torch.double), top_k, top_p)
    least = leading.gather(1, count - 1)
    if leading.shape[1] < vocab and not known.all():
        rest = (~known)[:, 0].nonzero()[:, 0]
        ordered = torch.sort(weights[rest], dim=-1, descending=True).values
        total = ordered.sum(-1, keepdim=True, dtype=torch.double)
        count[rest], _ = _num_kept(ordered, total, top_k[rest], top_p[rest])
        least[rest] = ordered.gather(1, count[rest] - 1)
    return _first(weights, count, least)


def _num_kept(ordered: Tensor, total: Tensor, top_k: Tensor, top_p: Tensor) -> tuple[Tensor, Tensor]:
    """How many of the largest weights stay [rows, 1], at least one, and whether `ordered`, the largest, tells it."""
    width = ordered.shape[1]
    upto = ordered.double().cumsum(-1)
    by_k = torch.where(top_k > 0, top_k, width).clamp(max=width)
    # top_p is a share of what top_k leaves.
    total = torch.where(top_k > 0, upto.gather(1, by_k - 1), total)
    by_p = ((upto - ordered) < top_p * total).sum(-1, keepdim=True)
    count = torch.where(top_p < 1, torch.minimum(by_p, by_k), by_k).clamp(min=1)
    known = torch.where(top_k > 0, top_k <= width, (top_p < 1) & (by_p < width))
    return count, known


def _first(weights: Tensor, count: Tensor, least: Tensor) -> Tensor:
    """The `count` largest weights of each row, of which `least` is the smallest; of equal ones the first."""
    above, equal = weights > least, weights == least
    spare = count - above.sum(-1, keepdim=True)
    if ((equal.sum(-1, keepdim=True) > spare) & (least > 0)).any():
        equal &= equal.cumsum(-1) <= spare
    return torch.where(above | equal, weights, 0.0)


def _column(values: list, dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.tensor(values, dtype=dtype, device=device)[:, None]
