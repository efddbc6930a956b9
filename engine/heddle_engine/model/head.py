"""Log-probabilities of given tokens from hidden states, without ever holding all logits.

Logits, log-sum-exp and entropy are fp32 in one code path (engine 4.5).
"""

import torch
from torch import Tensor

from .kernels import have_kernels
from .linear import FrozenLinear

#: Logits of one chunk, in bytes: small chunks stay in a CPU's cache, and bound memory on a device.
_CHUNK_BYTES = {"cpu": 32 * 2**20, "cuda": 1024 * 2**20}


def token_logprobs(hidden: Tensor, targets: Tensor, head: FrozenLinear, chunk_size: int) -> tuple[Tensor, Tensor]:
    """hidden [M, h], targets int64 [M] -> log p(target) [M] and entropy [M], natural log, fp32.

    The gradient goes from the log-probabilities to ``hidden`` only; the entropy carries none. At most
    ``chunk_size`` positions have their logits in memory at a time, fewer when the vocabulary is large.
    """
    by_memory = _CHUNK_BYTES.get(hidden.device.type, 2**28) // (4 * head.out_features)
    return _TokenLogprobs.apply(hidden, targets, head, max(16, min(chunk_size, by_memory)))


def _cache_blocks(logits: Tensor) -> list[slice]:
    """Few rows at a time on a CPU, where passes over whole chunks would wait for memory."""
    height = max(1, 2**18 // logits.shape[1]) if logits.device.type == "cpu" else len(logits)
    return [slice(start, start + height) for start in range(0, len(logits), height)]


def _read(
    logits: Tensor, targets: Tensor, logprobs: Tensor, entropy: Tensor, dtype: torch.dtype | None
) -> Tensor | None:
    """Fills log p(target) and entropy [M]; returns p - onehot(target) [M, V] in ``dtype``, if there is one.

    The logits [M, V] are overwritten.
    """
    targets = targets[:, None]
    for rows in _cache_blocks(logits):
        every = torch.log_softmax(logits[rows], -1)
        logprobs[rows] = every.gather(1, targets[rows])[:, 0]
        p = torch.exp(every, out=logits[rows])
        entropy[rows] = torch.linalg.vecdot(p, every).neg_()
    if dtype is None:
        return None
    return logits.scatter_add_(1, targets, logits.new_full(targets.shape, -1.0)).to(dtype)


def _read_by_kernel(
    logits: Tensor, targets: Tensor, logprobs: Tensor, entropy: Tensor, dtype: torch.dtype | None
) -> Tensor | None:
    from .kernels.logits import read_logits

    return read_logits(logits, targets, logprobs, entropy, dtype)


class _TokenLogprobs(torch.autograd.Function):
    """d log p(t) / d hidden = (onehot(t) - p) W is formed while the logits are at hand."""

    @staticmethod
    def forward(ctx, hidden, targets, head, chunk):
        logprobs = torch.empty(len(targets), device=hidden.device)
        entropy = torch.empty_like(logprobs)
        wanted = ctx.needs_input_grad[0]
        slope = torch.empty_like(hidden) if wanted else None
        for start in range(0, len(targets), chunk):
            at = slice(start, start + chunk)
            logits = head.in_fp32(hidden[at])
            read = _read_by_kernel if have_kernels(logits) else _read
            change = read(logits, targets[at], logprobs[at], entropy[at], hidden.dtype if wanted else None)
            if wanted:
                slope[at] = head.transposed(change)
        ctx.mark_non_differentiable(entropy)
        ctx.save_for_backward(slope)
        return logprobs, entropy

    @staticmethod
    def backward(ctx, grad, _):
        (slope,) = ctx.saved_tensors
        return (slope * -grad[:, None]).to(slope.dtype), None, None, None
