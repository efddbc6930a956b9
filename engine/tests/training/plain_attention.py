"""Attention within stretches of unequal length written out plainly, in place of the flash kernel of GPUs."""

import torch
from torch import Tensor

from heddle_engine.model.attention.varlen import Stretches
from heddle_engine.training.packed.flash_tree_attention import Kernel


def _scores(q: Tensor, k: Tensor, stretches: Stretches) -> Tensor:
    """[heads, Tq, Tk], -inf where a query does not see a key."""
    repeated = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
    scores = torch.einsum("qhd,khd->hqk", q, repeated) / q.shape[2] ** 0.5
    if stretches.causal:
        before = scores.shape[2] - scores.shape[1]
        seen = torch.ones(scores.shape[1:], dtype=torch.bool).tril(before)
        if stretches.window is not None:
            seen = seen.triu(before - stretches.window + 1)
        scores = scores.masked_fill(~seen, -torch.inf)
    return scores


def _parts(s: Stretches):
    bounds = zip(s.queries.tolist(), s.queries.tolist()[1:], s.keys.tolist(), s.keys.tolist()[1:], strict=False)
    for query_start, query_end, key_start, key_end in bounds:
        yield slice(query_start, query_end), slice(key_start, key_end)


def forward(q: Tensor, k: Tensor, v: Tensor, stretches: Stretches) -> tuple[Tensor, Tensor]:
    out, lse = torch.empty_like(q), torch.empty(q.shape[1], q.shape[0])
    for queries, keys in _parts(stretches):
        scores = _scores(q[queries], k[keys], stretches)
        values = v[keys].repeat_interleave(q.shape[1] // v.shape[1], 1)
        out[queries] = torch.einsum("hqk,khd->qhd", scores.softmax(-1), values)
        lse[:, queries] = scores.logsumexp(-1)
    return out, lse


def backward(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, stretches: Stretches
) -> tuple[Tensor, Tensor, Tensor]:
    """The formulas of FlashAttention-2, appendix: P = exp(S - lse), dS = P (dP - sum(grad * out))."""
    gradients = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    group, scale = q.shape[1] // k.shape[1], q.shape[2] ** -0.5
    for queries, keys in _parts(stretches):
        p = (_scores(q[queries], k[keys], stretches) - lse[:, queries, None]).exp()
        repeated_k, repeated_v = (x[keys].repeat_interleave(group, 1) for x in (k, v))
        d_p = torch.einsum("qhd,khd->hqk", grad[queries], repeated_v)
        delta = (grad[queries] * out[queries]).sum(-1).t()[..., None]
        d_scores = p * (d_p - delta) * scale
        d_q = torch.einsum("hqk,khd->qhd", d_scores, repeated_k)
        d_k = torch.einsum("hqk,qhd->khd", d_scores, q[queries]).unflatten(1, (-1, group)).sum(2)
        d_v = torch.einsum("hqk,qhd->khd", p, grad[queries]).unflatten(1, (-1, group)).sum(2)
        for whole, part, places in zip(gradients, (d_q, d_k, d_v), (queries, keys, keys), strict=True):
            whole[places] = part
    return gradients


KERNEL = Kernel(forward, backward)
