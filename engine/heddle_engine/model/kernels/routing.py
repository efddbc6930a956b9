"""The router of a mixture of experts: which experts compute a token, and the order of few pairs of both."""

# ruff: noqa: N803 (what a kernel is compiled for stands in capitals, as Triton's users write it)

import torch
import triton
import triton.language as tl
from torch import Tensor

_PAIRS = 32
"""Of one program that finds their places."""
_COMPARED = 128
"""Pairs that they are compared with at a time."""


def choose(logits: Tensor, per_token: int, normalised: bool) -> tuple[Tensor, Tensor, Tensor]:
    """logits fp32 [N, E] -> probabilities [N, E], and weights and experts int64 [N, k] of the likeliest."""
    logits = logits.contiguous()
    tokens, experts = logits.shape
    probabilities = torch.empty_like(logits)
    weights = torch.empty(tokens, per_token, dtype=torch.float32, device=logits.device)
    chosen = torch.empty(tokens, per_token, dtype=torch.int64, device=logits.device)
    _choose[(tokens,)](
        logits, probabilities, weights, chosen,
        EXPERTS=experts, WIDTH=triton.next_power_of_2(experts), COUNT=per_token,
        WIDE=triton.next_power_of_2(per_token), NORMALISED=normalised, num_warps=1,
    )  # fmt: skip
    return probabilities, weights, chosen


def sort_few(chosen: Tensor, experts: int) -> tuple[Tensor, Tensor, Tensor]:
    """Experts int64 [S] of pairs, below `experts` -> order int64 [S], the place of each pair in it, and int32 [experts]
    behind which place each expert ends. Compares each pair with all.
    """
    chosen = chosen.contiguous()
    order, places = torch.empty_like(chosen), torch.empty_like(chosen)
    ends = torch.empty(experts, dtype=torch.int32, device=chosen.device)
    blocks = triton.cdiv(len(chosen), _PAIRS)
    _sort_few[(blocks + triton.cdiv(experts, _PAIRS),)](
        chosen, order, places, ends, len(chosen), blocks, EXPERTS=experts, PAIRS=_PAIRS, COMPARED=_COMPARED
    )
    return order, places, ends


@triton.jit
def _choose(
    logits, probabilities, weights, chosen,
    EXPERTS: tl.constexpr, WIDTH: tl.constexpr, COUNT: tl.constexpr, WIDE: tl.constexpr, NORMALISED: tl.constexpr,
):  # fmt: skip
    token, expert, number = tl.program_id(0).to(tl.int64), tl.arange(0, WIDTH), tl.arange(0, WIDE)
    inside = expert < EXPERTS
    logit = tl.load(logits + token * EXPERTS + expert, mask=inside, other=-float("inf"))
    likely = tl.exp(logit - tl.max(logit, 0))
    total = tl.sum(likely, 0)
    likely = likely / total
    tl.store(probabilities + token * EXPERTS + expert, likely, mask=inside)
    left = tl.where(inside, likely, -1.0)
    weight, best = tl.zeros([WIDE], tl.float32), tl.zeros([WIDE], tl.int32)
    for place in range(COUNT):
        # What is not a number compares with nothing: the place stays within the experts all the same.
        first = tl.minimum(tl.argmax(left, 0), EXPERTS - 1)
        weight = tl.where(number == place, tl.max(left, 0), weight)
        best = tl.where(number == place, first, best)
        left = tl.where(expert == first, -1.0, left)
    if NORMALISED:
        weight = weight / tl.sum(weight, 0)
    weight = tl.where(total == total, weight, total)
    tl.store(weights + token * COUNT + number, weight, mask=number < COUNT)
    tl.store(chosen + token * COUNT + number, best.to(tl.int64), mask=number < COUNT)


@triton.jit(do_not_specialize=["count", "blocks"])
def _sort_few(
    chosen, order, places, ends, count, blocks, EXPERTS: tl.constexpr, PAIRS: tl.constexpr, COMPARED: tl.constexpr
):
    """The first `blocks` programs place pairs, the others find the ends of experts."""
    program, lane = tl.program_id(0), tl.arange(0, PAIRS)
    before = tl.zeros([PAIRS], tl.int32)
    if program < blocks:
        pair = program * PAIRS + lane
        own = tl.load(chosen + pair, mask=pair < count, other=0)
        for start in range(0, count, COMPARED):
            other = start + tl.arange(0, COMPARED)
            expert = tl.load(chosen + other, mask=other < count, other=EXPERTS)[None, :]
            goes_first = (expert < own[:, None]) | ((expert == own[:, None]) & (other[None, :] < pair[:, None]))
            before += tl.sum(goes_first.to(tl.int32), 1)
        tl.store(places + pair, before.to(tl.int64), mask=pair < count)
        tl.store(order + before, pair.to(tl.int64), mask=pair < count)
    else:
        number = (program - blocks) * PAIRS + lane
        for start in range(0, count, COMPARED):
            other = start + tl.arange(0, COMPARED)
            expert = tl.load(chosen + other, mask=other < count, other=EXPERTS)[None, :]
            before += tl.sum((expert <= number[:, None]).to(tl.int32), 1)
        tl.store(ends + number, before, mask=number < EXPERTS)
