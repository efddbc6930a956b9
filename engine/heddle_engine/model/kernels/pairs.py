"""Sums over the pairs of a token and an expert that belong to one token, wherever they stand, in fp32."""

# ruff: noqa: N803 (what a kernel is compiled for stands in capitals, as Triton's users write it)

import torch
import triton
import triton.language as tl
from torch import Tensor

_COLUMNS = 1024
"""Of one program."""


def sum_pairs(pairs: Tensor, places: Tensor, weights: Tensor | None = None) -> Tensor:
    """pairs [S, D], places int64 [N, k] -> [N, D]: the sum of those at a token's places, times weights [N, k]."""
    (tokens, count), width = places.shape, pairs.shape[1]
    out = torch.empty(tokens, width, dtype=pairs.dtype, device=pairs.device)
    columns = min(_COLUMNS, triton.next_power_of_2(width))
    _sum_pairs[(tokens, triton.cdiv(width, columns))](
        pairs.contiguous(), places.contiguous(), None if weights is None else weights.contiguous(), out, width,
        COUNT=count, WEIGHTED=weights is not None, COLUMNS=columns,
    )  # fmt: skip
    return out


@triton.jit
def _sum_pairs(pairs, places, weights, out, width, COUNT: tl.constexpr, WEIGHTED: tl.constexpr, COLUMNS: tl.constexpr):
    token, column = tl.program_id(0).to(tl.int64), tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = column < width
    total = tl.zeros([COLUMNS], tl.float32)
    for number in range(COUNT):
        place = tl.load(places + token * COUNT + number)
        pair = tl.load(pairs + place * width + column, mask=inside, other=0.0).to(tl.float32)
        if WEIGHTED:
            pair *= tl.load(weights + token * COUNT + number).to(tl.float32)
        total += pair
    tl.store(out + token * width + column, total.to(out.dtype.element_ty), mask=inside)
