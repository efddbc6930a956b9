"""Attention of the last token of each line over the keys of that line, on a CPU."""

import torch
import torch.nn.functional as F
from torch import Tensor

_LEAST_DIM = 64
_LEAST_KEYS = 1 << 18
"""Products need heads of so many features and so many numbers of keys: below, their five operators gain nothing."""


def attend_last(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
    """q [B, K, G, D], the G queries of each key head; k and v [B, K, S, D]; bias [B, 1, 1, S] -> [B, K, G, D].

    In fp32 two batched products around a softmax take less time than torch's kernel, keys times queries less than
    queries times keys (docs/decisions/0007). In other formats the scores between them would be rounded.
    """
    if q.dtype != torch.float32 or q.shape[-1] < _LEAST_DIM or k.numel() < _LEAST_KEYS:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
    scaled = (q * q.shape[-1] ** -0.5).flatten(0, 1)
    scores = torch.bmm(k.flatten(0, 1), scaled.transpose(1, 2)).view(*k.shape[:3], -1).transpose(2, 3)
    # One pass hides what a line may not see and lays the scores of a query side by side.
    scores = torch.add(scores, bias, out=q.new_empty(scores.shape))
    return torch.bmm(scores.softmax(-1).flatten(0, 1), v.flatten(0, 1)).view(q.shape)
