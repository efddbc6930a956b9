"""The Triton kernels of `paged_attention`: parts of a row's keys side by side (Flash-Decoding), then their sum.

One program reads the keys of one key head, for all query heads that share it, so that nothing is read twice.
"""

# ruff: noqa: N803 (what a kernel is compiled for stands in capitals, as Triton's users write it)

import torch
import triton
import triton.language as tl
from torch import Tensor

_LEAST_ROWS = 16
"""Of a matrix product on tensor cores."""


def attend_in_blocks(
    q: Tensor,
    keys: Tensor,
    values: Tensor,
    table: Tensor,
    lengths: Tensor,
    block: int,
    splits: int,
    window: int | None,
    sinks: Tensor | None = None,
) -> Tensor:
    """As `paged_attention`; the keys of a row are read in `splits` parts."""
    rows, heads, dim = q.shape
    kv_heads = keys.shape[1]
    group = heads // kv_heads
    out = torch.empty_like(q)
    parts = torch.empty(rows, heads, splits, dim, dtype=torch.float32, device=q.device)
    sums = torch.empty(rows, heads, splits, dtype=torch.float32, device=q.device)
    _attend[rows, kv_heads, splits](
        q, keys, values, table, lengths, parts, sums,
        q.stride(0), q.stride(1), keys.stride(0), keys.stride(1), table.stride(0), dim**-0.5,
        SPLITS=splits, GROUP=group, PADDED=max(_LEAST_ROWS, triton.next_power_of_2(group)), D=dim, BLOCK=block,
        WINDOW=window or 0, num_stages=_stages(keys),
    )  # fmt: skip
    has_sinks = sinks is not None
    _join[rows, heads](
        parts, sums, sinks if has_sinks else sums, out, SINKS=has_sinks, HEADS=heads, SPLITS=splits, D=dim
    )
    return out


def _stages(keys: Tensor) -> int:
    """How many blocks are on their way at once: they lie in a multiprocessor's memory, which holds three of 512 bytes a
    key."""
    return 3 if keys.shape[2] * keys.element_size() <= 512 else 1


@triton.jit
def _attend(
    q, keys, values, table, lengths, parts, sums,
    q_row, q_head, token, key_head, table_row, scale,
    SPLITS: tl.constexpr, GROUP: tl.constexpr, PADDED: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr,
    WINDOW: tl.constexpr,
):  # fmt: skip
    row, kv_head, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    length = tl.load(lengths + row)
    blocks = tl.cdiv(length, BLOCK)
    # Of a window of 0 every key is seen.
    oldest = tl.maximum(length - WINDOW, 0) if WINDOW else 0
    before = oldest // BLOCK
    share = tl.cdiv(blocks - before, SPLITS)
    first = before + split * share
    last = tl.minimum(first + share, blocks)
    group, dim, place = tl.arange(0, PADDED), tl.arange(0, D), tl.arange(0, BLOCK)
    head = kv_head * GROUP + group
    own = (group < GROUP)[:, None]
    query = tl.load(q + row * q_row + head[:, None] * q_head + dim[None, :], mask=own, other=0.0)
    highest = tl.full([PADDED], -float("inf"), tl.float32)
    total = tl.zeros([PADDED], tl.float32)
    mixed = tl.zeros([PADDED, D], tl.float32)
    for number in range(first, last):
        at = tl.load(table + row * table_row + number).to(tl.int64) * BLOCK
        tokens = (at + place) * token + kv_head * key_head
        seen = number * BLOCK + place < length
        if WINDOW:
            seen = seen & (number * BLOCK + place >= oldest)
        k = tl.load(keys + tokens[None, :] + dim[:, None], mask=seen[None, :], other=0.0)
        scores = tl.dot(query, k, input_precision="ieee") * scale
        scores = tl.where(seen[None, :], scores, -float("inf"))
        now = tl.maximum(highest, tl.max(scores, 1))
        kept = tl.exp(highest - now)
        p = tl.exp(scores - now[:, None])
        v = tl.load(values + tokens[:, None] + dim[None, :], mask=seen[:, None], other=0.0)
        mixed = mixed * kept[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        total = total * kept + tl.sum(p, 1)
        highest = now
    # A part without keys has no weight.
    some = total > 0
    divisor = tl.where(some, total, 1.0)
    entry = (row * (tl.num_programs(1) * GROUP) + head) * SPLITS + split
    tl.store(parts + entry[:, None] * D + dim[None, :], mixed / divisor[:, None], mask=own)
    tl.store(sums + entry, tl.where(some, highest + tl.log(divisor), -float("inf")), mask=group < GROUP)


@triton.jit
def _join(
    parts, sums, sinks, out, SINKS: tl.constexpr, HEADS: tl.constexpr, SPLITS: tl.constexpr, D: tl.constexpr
):  # fmt: skip
    row, head = tl.program_id(0), tl.program_id(1)
    entry = (row * HEADS + head) * SPLITS
    split, dim = tl.arange(0, SPLITS), tl.arange(0, D)
    logarithm = tl.load(sums + entry + split)
    highest = tl.max(logarithm, 0)
    if SINKS:
        sink = tl.load(sinks + head)
        highest = tl.maximum(highest, sink)
    weight = tl.exp(logarithm - highest)
    total = tl.sum(weight, 0)
    if SINKS:
        total += tl.exp(sink - highest)
    part = tl.load(parts + (entry + split)[:, None] * D + dim[None, :])
    mixed = tl.sum(part * weight[:, None], 0) / total
    tl.store(out + (row * HEADS + head) * D + dim, mixed.to(out.dtype.element_ty))
