"""Attention of one query a row over keys and values that lie in blocks of a pool (PagedAttention, arXiv:2309.06180)."""

import torch
import torch.nn.functional as F
from torch import Tensor

from ..kernels import have_kernels
from .sinks import as_keys

_DIMS = (16, 32, 64, 128, 256)
_PROGRAMS = 264
"""Two for each multiprocessor of a large GPU; a row is split where there would be fewer."""
_MOST_SPLITS = 16


def paged_attention(
    q: Tensor,
    keys: Tensor,
    values: Tensor,
    table: Tensor,
    lengths: Tensor,
    block: int,
    window: int | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """q [rows, heads, D] -> [rows, heads, D].

    `keys` and `values` [tokens, kv_heads, D] are pools of blocks of `block` tokens. `table` int32 [rows, width] names
    the blocks of each row, and `lengths` int32 [rows] says how many of its tokens are seen: 1 or more;
    with a `window` the last so many of these. `sinks` fp32 [heads].
    """
    if have_kernels(q) and q.shape[-1] in _DIMS:
        from ..kernels.paged_attention import attend_in_blocks

        splits = _splits(len(q) * keys.shape[1])
        return attend_in_blocks(q, keys, values, table, lengths, block, splits, window, sinks)
    return _gathered(q, keys, values, table, lengths, block, window, sinks)


def _splits(programs: int) -> int:
    """The number of rows and key heads alone decides, so that a captured graph serves every length."""
    return max(1, min(_MOST_SPLITS, 1 << (_PROGRAMS // programs).bit_length() - 1)) if programs < _PROGRAMS else 1


def _gathered(
    q: Tensor,
    keys: Tensor,
    values: Tensor,
    table: Tensor,
    lengths: Tensor,
    block: int,
    window: int | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """The same in plain operators, where there is no kernel."""
    width = -(-int(lengths.max()) // block)
    places = (table[:, :width, None].long() * block + torch.arange(block, device=q.device)).flatten(1)
    number = torch.arange(places.shape[1], device=q.device)
    seen = number < lengths[:, None]
    if window is not None:
        seen &= number >= lengths[:, None] - window
    k, v = (pool[places].transpose(1, 2) for pool in (keys, values))
    mask = seen[:, None, None]
    if sinks is not None:
        k, v, mask = as_keys(k, v, mask, sinks)
    out = F.scaled_dot_product_attention(q[:, :, None], k, v, attn_mask=mask, enable_gqa=True)
    return out[:, :, 0]
