"""LoRA of rows in tiles, each of one adapter (the problem of Punica, arXiv:2310.18547), without gathering weights.

Down to the ranks in parts of the input that are added up afterwards, so that few rows keep a GPU busy, then up and
added to what the base model gives.
"""

# ruff: noqa: N803 (what a kernel is compiled for stands in capitals, as Triton's users write it)

import torch
import triton
import triton.language as tl
from torch import Tensor

_LEAST = 16
"""Rows, and ranks, of a matrix product on tensor cores."""
_DEPTH = 64
"""Inputs that a program takes at a time."""
_MOST_PARTS = 8
_MOST_RANKS = 64
"""Ranks of one program."""
_COLUMNS = 128
"""Outputs of one program."""


def down(x: Tensor, a: Tensor, tiles: Tensor, height: int) -> Tensor:
    """x [N, in], a [slots, in, R], tiles int64 [T] with the slot of each `height` rows -> parts of x A, fp32 [P, N, R].

    R is a power of 2, and at least 16.
    """
    (rows, inputs), ranks = x.shape, a.shape[2]
    parts = max(1, min(_MOST_PARTS, inputs // (2 * _DEPTH)))
    found = torch.empty(parts, rows, ranks, dtype=torch.float32, device=x.device)
    chunk = min(ranks, _MOST_RANKS)
    _down[(len(tiles), parts, ranks // chunk)](
        x, a, tiles, found, x.stride(0), rows, inputs, ranks,
        HEIGHT=height, TALL=_tall(height), DEPTH=_DEPTH, STEPS=triton.cdiv(triton.cdiv(inputs, _DEPTH), parts),
        RANKS=chunk,
    )  # fmt: skip
    return found


def up(y: Tensor, parts: Tensor, b: Tensor, tiles: Tensor, height: int) -> Tensor:
    """Adds the sum of the parts times B, b [slots, R, out], to y [N, out]."""
    ranks, outputs = b.shape[1:]
    _up[(len(tiles), triton.cdiv(outputs, _COLUMNS))](
        y, parts, b, tiles, y.stride(0), len(y), outputs, ranks,
        HEIGHT=height, TALL=_tall(height), PARTS=len(parts), RANKS=min(ranks, _MOST_RANKS),
        CHUNKS=triton.cdiv(ranks, _MOST_RANKS), COLUMNS=_COLUMNS,
    )  # fmt: skip
    return y


def _tall(height: int) -> int:
    return max(_LEAST, triton.next_power_of_2(height))


@triton.jit(do_not_specialize=["rows"])
def _down(
    x, a, tiles, found, x_row, rows, inputs, ranks,
    HEIGHT: tl.constexpr, TALL: tl.constexpr, DEPTH: tl.constexpr, STEPS: tl.constexpr, RANKS: tl.constexpr,
):  # fmt: skip
    tile, part = tl.program_id(0), tl.program_id(1)
    slot = tl.load(tiles + tile)
    place = tl.arange(0, TALL)
    row = tile * HEIGHT + place
    own = ((place < HEIGHT) & (row < rows))[:, None]
    rank = tl.program_id(2) * RANKS + tl.arange(0, RANKS)
    total = tl.zeros([TALL, RANKS], tl.float32)
    for step in range(STEPS):
        column = (part * STEPS + step) * DEPTH + tl.arange(0, DEPTH)
        there = column < inputs
        some = tl.load(x + row[:, None] * x_row + column[None, :], mask=own & there[None, :], other=0.0)
        weights = tl.load(a + (slot * inputs + column[:, None]) * ranks + rank[None, :], mask=there[:, None], other=0.0)
        total += tl.dot(some, weights, input_precision="ieee")
    tl.store(found + (part * rows + row[:, None]) * ranks + rank[None, :], total, mask=own)


@triton.jit(do_not_specialize=["rows"])
def _up(
    y, parts, b, tiles, y_row, rows, outputs, ranks,
    HEIGHT: tl.constexpr, TALL: tl.constexpr, PARTS: tl.constexpr, RANKS: tl.constexpr, CHUNKS: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    slot = tl.load(tiles + tile)
    place = tl.arange(0, TALL)
    row = tile * HEIGHT + place
    own = ((place < HEIGHT) & (row < rows))[:, None]
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    there = (column < outputs)[None, :]
    total = tl.zeros([TALL, COLUMNS], tl.float32)
    for chunk in range(CHUNKS):
        rank = chunk * RANKS + tl.arange(0, RANKS)
        inner = tl.zeros([TALL, RANKS], tl.float32)
        for part in range(PARTS):
            inner += tl.load(parts + (part * rows + row[:, None]) * ranks + rank[None, :], mask=own, other=0.0)
        weights = tl.load(b + (slot * ranks + rank[:, None]) * outputs + column[None, :], mask=there, other=0.0)
        total += tl.dot(inner.to(weights.dtype), weights, input_precision="ieee")
    at = y + row[:, None] * y_row + column[None, :]
    before = tl.load(at, mask=own & there, other=0.0).to(tl.float32)
    tl.store(at, (before + total).to(y.dtype.element_ty), mask=own & there)
