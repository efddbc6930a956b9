"""Queries and keys of a layer from its fused projection, normalised and rotated, and the gradient of that.

One program makes a few heads of a token. What is rotated of a head is read in halves, since a rotation pairs their
elements; the rest, in some families, by itself.
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
        qkv, qkv if norm is None else norm, cos, sin, q, k, eps, **_sizes(heads, dim, cos.shape[2], norm)
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
        **_sizes(heads, qkv.shape[2], cos.shape[2], norm),
    )  # fmt: skip
    return slope


def _sizes(heads: tuple[int, int], dim: int, rotary: int, norm: Tensor | None) -> dict:
    rest = triton.next_power_of_2(dim - rotary) if rotary < dim else 0
    return {
        "QUERIES": heads[0], "KEYS": heads[1], "D": dim, "HALF": rotary // 2,
        "WIDTH": triton.next_power_of_2(rotary // 2), "REST": rest, "HEADS": _HEADS, "NORMS": norm is not None,
    }  # fmt: skip


@triton.jit
def _make_heads(
    qkv, norm, cos, sin, q, k, eps,
    QUERIES: tl.constexpr, KEYS: tl.constexpr, D: tl.constexpr, HALF: tl.constexpr, WIDTH: tl.constexpr,
    REST: tl.constexpr, HEADS: tl.constexpr, NORMS: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1) * HEADS + tl.arange(0, HEADS)[:, None]
    column = tl.arange(0, WIDTH)[None, :]
    inside = (head < QUERIES + KEYS) & (column < HALF)
    of_head = head * D + column
    at = token * ((QUERIES + 2 * KEYS) * D) + of_head
    low = tl.load(qkv + at, mask=inside, other=0.0).to(tl.float32)
    high = tl.load(qkv + at + HALF, mask=inside, other=0.0).to(tl.float32)
    if REST:
        behind = 2 * HALF + tl.arange(0, REST)[None, :]
        there = (head < QUERIES + KEYS) & (behind < D)
        rest_of_head = head * D + behind
        rest_at = qkv + token * ((QUERIES + 2 * KEYS) * D) + rest_of_head
        rest = tl.load(rest_at, mask=there, other=0.0).to(tl.float32)
    if NORMS:
        squares = tl.sum(low * low, 1) + tl.sum(high * high, 1)
        if REST:
            squares += tl.sum(rest * rest, 1)
        inverse = 1 / tl.sqrt(squares / D + eps)
        low *= inverse[:, None] * tl.load(norm + of_head, mask=inside, other=0.0).to(tl.float32)
        high *= inverse[:, None] * tl.load(norm + of_head + HALF, mask=inside, other=0.0).to(tl.float32)
        if REST:
            rest *= inverse[:, None] * tl.load(norm + rest_of_head, mask=there, other=0.0).to(tl.float32)
    turn, angle = token * (2 * HALF) + column, column < HALF
    made_low = low * tl.load(cos + turn, mask=angle, other=0.0).to(tl.float32)
    made_low += high * tl.load(sin + turn, mask=angle, other=0.0).to(tl.float32)
    made_high = high * tl.load(cos + turn + HALF, mask=angle, other=0.0).to(tl.float32)
    made_high += low * tl.load(sin + turn + HALF, mask=angle, other=0.0).to(tl.float32)
    is_query = inside & (head < QUERIES)
    to_q = q + token * (QUERIES * D) + of_head
    tl.store(to_q, made_low.to(q.dtype.element_ty), mask=is_query)
    tl.store(to_q + HALF, made_high.to(q.dtype.element_ty), mask=is_query)
    is_key = inside & (head >= QUERIES)
    to_k = k + token * (KEYS * D) + of_head - QUERIES * D
    tl.store(to_k, made_low.to(k.dtype.element_ty), mask=is_key)
    tl.store(to_k + HALF, made_high.to(k.dtype.element_ty), mask=is_key)
    if REST:
        rest_to_q = q + token * (QUERIES * D) + rest_of_head
        rest_to_k = k + token * (KEYS * D) + rest_of_head - QUERIES * D
        tl.store(rest_to_q, rest.to(q.dtype.element_ty), mask=there & (head < QUERIES))
        tl.store(rest_to_k, rest.to(k.dtype.element_ty), mask=there & (head >= QUERIES))


@triton.jit
def _part(grad, token, head, column, END: tl.constexpr, FIRST: tl.constexpr, COUNT: tl.constexpr, D: tl.constexpr):
    """Columns up to END of the gradient to heads FIRST … FIRST + COUNT; zeros for other heads."""
    own = (head >= FIRST) & (head < FIRST + COUNT) & (column < END)
    at = grad + (token * COUNT + head - FIRST) * D + column
    return tl.load(at, mask=own, other=0.0).to(tl.float32)


@triton.jit
def _heads_gradient(
    grad_q, grad_k, grad_v, qkv, norm, cos, sin, slope, eps,
    QUERIES: tl.constexpr, KEYS: tl.constexpr, D: tl.constexpr, HALF: tl.constexpr, WIDTH: tl.constexpr,
    REST: tl.constexpr, HEADS: tl.constexpr, NORMS: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1) * HEADS + tl.arange(0, HEADS)[:, None]
    column = tl.arange(0, WIDTH)[None, :]
    turned = (head < QUERIES + KEYS) & (column < HALF)
    upper = tl.where(column < HALF, column + HALF, D)
    v_low = _part(grad_v, token, head, column, HALF, QUERIES + KEYS, KEYS, D)
    v_high = _part(grad_v, token, head, upper, D, QUERIES + KEYS, KEYS, D)
    given_low = _part(grad_q, token, head, column, HALF, 0, QUERIES, D)
    given_low += _part(grad_k, token, head, column, HALF, QUERIES, KEYS, D)
    given_high = _part(grad_q, token, head, upper, D, 0, QUERIES, D)
    given_high += _part(grad_k, token, head, upper, D, QUERIES, KEYS, D)
    if REST:
        behind = 2 * HALF + tl.arange(0, REST)[None, :]
        rest = _part(grad_q, token, head, behind, D, 0, QUERIES, D)
        rest += _part(grad_k, token, head, behind, D, QUERIES, KEYS, D)
        v_rest = _part(grad_v, token, head, behind, D, QUERIES + KEYS, KEYS, D)
        rest_of_head = head * D + behind
        rest_at = token * ((QUERIES + 2 * KEYS) * D) + rest_of_head
        rest_turned = (head < QUERIES + KEYS) & (behind < D)
    turn, angle = token * (2 * HALF) + column, column < HALF
    low = given_low * tl.load(cos + turn, mask=angle, other=0.0).to(tl.float32)
    low += given_high * tl.load(sin + turn + HALF, mask=angle, other=0.0).to(tl.float32)
    high = given_high * tl.load(cos + turn + HALF, mask=angle, other=0.0).to(tl.float32)
    high += given_low * tl.load(sin + turn, mask=angle, other=0.0).to(tl.float32)
    of_head = head * D + column
    at = token * ((QUERIES + 2 * KEYS) * D) + of_head
    if NORMS:
        x_low = tl.load(qkv + at, mask=turned, other=0.0).to(tl.float32)
        x_high = tl.load(qkv + at + HALF, mask=turned, other=0.0).to(tl.float32)
        low *= tl.load(norm + of_head, mask=turned, other=0.0).to(tl.float32)
        high *= tl.load(norm + of_head + HALF, mask=turned, other=0.0).to(tl.float32)
        squares = tl.sum(x_low * x_low, 1) + tl.sum(x_high * x_high, 1)
        products = tl.sum(low * x_low, 1) + tl.sum(high * x_high, 1)
        if REST:
            x_rest = tl.load(qkv + rest_at, mask=rest_turned, other=0.0).to(tl.float32)
            rest *= tl.load(norm + rest_of_head, mask=rest_turned, other=0.0).to(tl.float32)
            squares += tl.sum(x_rest * x_rest, 1)
            products += tl.sum(rest * x_rest, 1)
        inverse = (1 / tl.sqrt(squares / D + eps))[:, None]
        along = products[:, None] * inverse * inverse / D
        low = (low - x_low * along) * inverse
        high = (high - x_high * along) * inverse
        if REST:
            rest = (rest - x_rest * along) * inverse
    inside = (head < QUERIES + 2 * KEYS) & (column < HALF)
    tl.store(slope + at, (low + v_low).to(slope.dtype.element_ty), mask=inside)
    tl.store(slope + at + HALF, (high + v_high).to(slope.dtype.element_ty), mask=inside)
    if REST:
        there = (head < QUERIES + 2 * KEYS) & (behind < D)
        tl.store(slope + rest_at, (rest + v_rest).to(slope.dtype.element_ty), mask=there)
