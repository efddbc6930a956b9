"""Attention with sinks: each head has a score that takes part in its softmax and gives no value (gpt-oss).

A softmax over one score more is that over the others, times their share of the sum: exp(lse - lse'), where lse is the
logarithm of the sum without the sink and lse' that with it. So sinks are applied once, behind all parts of a row.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


def as_keys(k: Tensor, v: Tensor, seen: Tensor, sinks: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """k and v [..., K, S, D] with a key and a value of zeros more, and a mask [..., H, T, S + 1] that adds its scores.

    `seen` is bool and broadcasts to [..., H, T, S]; sinks [H].
    """
    scores = torch.zeros(seen.shape, dtype=k.dtype, device=k.device).masked_fill_(~seen, -torch.inf)
    scores = scores.expand(*scores.shape[:-3], len(sinks), *scores.shape[-2:])
    more = sinks.to(k.dtype)[:, None, None].expand(*scores.shape[:-1], 1)
    k, v = (F.pad(each, (0, 0, 0, 1)) for each in (k, v))
    return k, v, torch.cat([scores, more], -1)


def apply_sinks(out: Tensor, lse: Tensor, sinks: Tensor) -> Tensor:
    """out [..., D] in place, by its lse [...], which sinks broadcast to; returns the log-sum-exp with the sinks."""
    total = torch.logaddexp(lse, sinks)
    out.mul_((lse - total).exp_()[..., None].to(out.dtype))
    return total


def attend_with_sinks(q: Tensor, k: Tensor, v: Tensor, sinks: Tensor, mask: Tensor | None, is_causal: bool) -> Tensor:
    """q [B, H, T, D], k and v [B, K, S, D] -> [B, H, T, D] on a CPU, without a gradient.

    `sinks` [H, 1], or [H, T] where the rows of a head are heads themselves. `mask` as torch's attention takes it.
    """
    if mask is not None and mask.dtype == torch.bool:
        mask = torch.zeros(mask.shape, dtype=q.dtype).masked_fill_(~mask, -torch.inf)
    kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    out, lse = kernel(q, k, v, 0.0, is_causal, attn_mask=mask)
    apply_sinks(out, lse, sinks)
    return out
