"""Log-probabilities, entropy and the gradient to logits: a row is read twice and nothing of it is kept in fp32."""

# ruff: noqa: N803 (what a kernel is compiled for stands in capitals, as Triton's users write it)

import torch
import triton
import triton.language as tl
from torch import Tensor

_COLUMNS = 4096
"""Read at a time."""


def read_logits(
    logits: Tensor, targets: Tensor, logprobs: Tensor, entropy: Tensor, slope_dtype: torch.dtype | None
) -> Tensor | None:
    """logits fp32 [M, V], targets int64 [M]: fills log p(target) and entropy, fp32 [M].

    Returns p - onehot(target) [M, V] in `slope_dtype`, if there is one.
    """
    slope = None if slope_dtype is None else torch.empty(logits.shape, dtype=slope_dtype, device=logits.device)
    _read_logits[(len(logits),)](
        logits, targets, logprobs, entropy, logits if slope is None else slope, logits.shape[1],
        WRITES=slope is not None, COLUMNS=_COLUMNS, num_warps=8,
    )  # fmt: skip
    return slope


@triton.jit
def _read_logits(logits, targets, logprobs, entropy, slope, vocab, WRITES: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = row * vocab
    highest, total, along = -float("inf"), 0.0, 0.0
    for start in range(0, vocab, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        x = tl.load(logits + at + column, mask=column < vocab, other=-float("inf"))
        now = tl.maximum(highest, tl.max(x, 0))
        kept = tl.exp(highest - now)
        p = tl.exp(x - now)
        total = total * kept + tl.sum(p, 0)
        along = along * kept + tl.sum(tl.where(p > 0, p * x, 0.0), 0)
        highest = now
    normaliser = highest + tl.log(total)
    target = tl.load(targets + row)
    tl.store(logprobs + row, tl.load(logits + at + target) - normaliser)
    tl.store(entropy + row, normaliser - along / total)
    if WRITES:
        for start in range(0, vocab, COLUMNS):
            column = start + tl.arange(0, COLUMNS)
            x = tl.load(logits + at + column, mask=column < vocab, other=0.0)
            change = tl.exp(x - normaliser) - tl.where(column == target, 1.0, 0.0)
            tl.store(slope + at + column, change.to(slope.dtype.element_ty), mask=column < vocab)
