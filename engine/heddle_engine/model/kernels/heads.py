"""Queries and keys of a layer from its fused projection, normalised and rotated, and the gradient of that.

One program makes a few heads of a token. A head is read in halves, since a rotation pairs their elements.
"""

# ruff: noqa: N803 (what a kernel is compiled for stands in capitals, as Triton's users write it)

import torch
import triton
import triton.language as tl
from torch import Tensor

_HEADS = 8
"""Of one program."""


def make_heads(
    qkv: Tensor, heads: tuple[int, int], norm: Tensor | None, eps: float, cos: Tensor, sin: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """As `attention_heads`; v is a view of `qkv`."""
    (queries, keys), dim = heads, qkv.shape[2]
    qkv = qkv.contiguous()
    q, k = (torch.empty(len(qkv), count, dim, dtype=qkv.dtype, device=qkv.device) for count in heads)
    _make_heads[(len(qkv), triton.cdiv(queries + keys, _HEADS))](
        qkv, qkv if norm is None else norm, cos, sin, q, k, eps, **_sizes(heads, dim, norm)
    )
    return q, k, qkv[:, queries + keys :]


def heads_gradient(
    grads: tuple[Tensor, Tensor, Tensor],
    qkv: Tensor,
    heads: tuple[int, int],
    norm: Tensor | None,
    eps: float,
    cos: Tensor,
    sin: Tensor,
) -> Tensor:
    """The gradient to qkv [N, H + 2 K, D] of those to q, k and v."""
    qkv = qkv.contiguous()
    slope = torch.empty_like(qkv)
    _heads_gradient[(len(qkv), triton.cdiv(heads[0] + 2 * heads[1], _HEADS))](
        *(grad.contiguous() for grad in grads), qkv, qkv if norm is None else norm, cos, sin, slope, eps,
        **_sizes(heads, qkv.shape[2], norm),
    )  # fmt: skip
    return slope


def _sizes(heads: tuple[int, int], dim: int, norm: Tensor | None) -> dict:
    return {
        "QUERIES": heads[0], "KEYS": heads[1], "HALF": dim // 2, "WIDTH": triton.next_power_of_2(dim // 2),
        "HEADS": _HEADS, "NORMS": norm is not None,
    }  # fmt: skip


@triton.jit
def _make_heads(
    qkv, norm, cos, sin, q, k, eps,
    QUERIES: tl.constexpr, KEYS: tl.constexpr, HALF: tl.constexpr, WIDTH: tl.constexpr, HEADS: tl.constexpr,
    NORMS: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1) * HEADS + tl.arange(0, HEADS)[:, None]
    column = tl.arange(0, WIDTH)[None, :]
    inside = (head < QUERIES + KEYS) & (column < HALF)
    of_head = head * (2 * HALF) + column
    at = token * ((QUERIES + 2 * KEYS) * 2 * HALF) + of_head
    low = tl.load(qkv + at, mask=inside, other=0.0).to(tl.float32)
    high = tl.load(qkv + at + HALF, mask=inside, other=0.0).to(tl.float32)
    if NORMS:
        inverse = 1 / tl.sqrt((tl.sum(low * low, 1) + tl.sum(high * high, 1)) / (2 * HALF) + eps)
        low *= inverse[:, None] * tl.load(norm + of_head, mask=inside, other=0.0).to(tl.float32)
        high *= inverse[:, None] * tl.load(norm + of_head + HALF, mask=inside, other=0.0).to(tl.float32)
    turn, angle = token * (2 * HALF) + column, column < HALF
    made_low = low * tl.load(cos + turn, mask=angle).to(tl.float32)
    made_low += high * tl.load(sin + turn, mask=angle).to(tl.float32)
    made_high = high * tl.load(cos + turn + HALF, mask=angle).to(tl.float32)
    made_high += low * tl.load(sin + turn + HALF, mask=angle).to(tl.float32)
    is_query = inside & (head < QUERIES)
    to_q = q + token * (QUERIES * 2 * HALF) + of_head
    tl.store(to_q, made_low.to(q.dtype.element_ty), mask=is_query)
    tl.store(to_q + HALF, made_high.to(q.dtype.element_ty), mask=is_query)
    is_key = inside & (head >= QUERIES)
    to_k = k + token * (KEYS * 2 * HALF) + of_head - QUERIES * 2 * HALF
    tl.store(to_k, made_low.to(k.dtype.element_ty), mask=is_key)
    tl.store(to_k + HALF, made_high.to(k.dtype.element_ty), mask=is_key)


@triton.jit
def _part(grad, token, head, column, FIRST: tl.constexpr, COUNT: tl.constexpr, HALF: tl.constexpr):
    """Both halves of the gradient to heads FIRST … FIRST + COUNT; zeros for other heads."""
    own = (head >= FIRST) & (head < FIRST + COUNT) & (column < HALF)
    at = grad + (token * COUNT + head - FIRST) * (2 * HALF) + column
    low, high = tl.load(at, mask=own, other=0.0), tl.load(at + HALF, mask=own, other=0.0)
    return low.to(tl.float32), high.to(tl.float32)


@triton.jit
def _heads_gradient(
    grad_q, grad_k, grad_v, qkv, norm, cos, sin, slope, eps,
    QUERIES: tl.constexpr, KEYS: tl.constexpr, HALF: tl.constexpr, WIDTH: tl.constexpr, HEADS: tl.constexpr,
    NORMS: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1) * HEADS + tl.arange(0, HEADS)[:, None]
    column = tl.arange(0, WIDTH)[None, :]
    turned = (head < QUERIES + KEYS) & (column < HALF)
    q_low, q_high = _part(grad_q, token, head, column, 0, QUERIES, HALF)
    k_low, k_high = _part(grad_k, token, head, column, QUERIES, KEYS, HALF)
    v_low, v_high = _part(grad_v, token, head, column, QUERIES + KEYS, KEYS, HALF)
    given_low, given_high = q_low + k_low, q_high + k_high
    turn, angle = token * (2 * HALF) + column, column < HALF
    low = given_low * tl.load(cos + turn, mask=angle).to(tl.float32)
    low += given_high * tl.load(sin + turn + HALF, mask=angle).to(tl.float32)
    high = given_high * tl.load(cos + turn + HALF, mask=angle).to(tl.float32)
    high += given_low * tl.load(sin + turn, mask=angle).to(tl.float32)
    of_head = head * (2 * HALF) + column
    at = token * ((QUERIES + 2 * KEYS) * 2 * HALF) + of_head
    if NORMS:
        x_low = tl.load(qkv + at, mask=turned, other=0.0).to(tl.float32)
        x_high = tl.load(qkv + at + HALF, mask=turned, other=0.0).to(tl.float32)
        inverse = (1 / tl.sqrt((tl.sum(x_low * x_low, 1) + tl.sum(x_high * x_high, 1)) / (2 * HALF) + eps))[:, None]
        low *= tl.load(norm + of_head, mask=turned, other=0.0).to(tl.float32)
        high *= tl.load(norm + of_head + HALF, mask=turned, other=0.0).to(tl.float32)
        along = (tl.sum(low * x_low, 1) + tl.sum(high * x_high, 1))[:, None] * inverse * inverse / (2 * HALF)
        low = (low - x_low * along) * inverse
        high = (high - x_high * along) * inverse
    inside = (head < QUERIES + 2 * KEYS) & (column < HALF)
    tl.store(slope + at, (low + v_low).to(slope.dtype.element_ty), mask=inside)
    tl.store(slope + at + HALF, (high + v_high).to(slope.dtype.element_ty), mask=inside)
