"""Attention over a forest of shared prefixes: a token sees its own stretch up to itself, and its ancestors.

Every part is a plain causal or a plain full attention, so no mask is ever built: each node attends
causally to itself, then all descendants of a node attend to the whole of it, and the parts are joined
by their log-sum-exp (cascade attention). One sequence never sees another (engine 4.5).

With a sliding window nodes are cut so that none is longer than it, and descendants attend to as much of a node as
their windows reach. That alone takes a mask, of a row for each such descendant and no wider than a window.
"""

from dataclasses import dataclass

import numpy as np
import torch

from ...model.attention.sinks import apply_sinks
from .prefix_tree import Forest, Node

#: Nodes up to this long are padded to a common length and attend in one call; above, a call costs less than padding.
SHORT = 48

#: The gradient of parts whose keys have fewer features in all is computed in fp32, which takes less time than in bf16:
#: 96 tokens of 12 heads of 64 features 0.9 instead of 2.3 ms, but 1,024 tokens 69 instead of 43.
FEW_FEATURES = 2**15

_KERNEL = "_scaled_dot_product_flash_attention_for_cpu"


@dataclass(frozen=True)
class _Batch:
    """Short nodes padded to one length T: ``index`` [B, T] into the row, ``padding`` [B, T, 1, 1] true there.

    ``rows`` [R] are the places in the row of the real tokens, ``slots`` [R] those in the flattened batch.
    """

    index: torch.Tensor
    padding: torch.Tensor
    rows: torch.Tensor
    slots: torch.Tensor


@dataclass(frozen=True)
class _Part:
    """Tokens ``own`` of a node and those ``below`` that see them, all or as ``mask`` [below, own] (0, -inf) says."""

    own: slice
    below: slice | torch.Tensor
    mask: torch.Tensor | None = None


class CascadeAttention:
    """By torch's flash kernel for CPUs; scores and their sums are fp32 whatever the dtype is."""

    @staticmethod
    def has_kernel() -> bool:
        return hasattr(torch.ops.aten, _KERNEL)

    def __init__(self, forest: Forest, window: int | None = None) -> None:
        if window is not None:
            forest = forest.cut(window)
        self.long = [node for node in forest.nodes if node.length > SHORT]
        self.batches = _batches([node for node in forest.nodes if node.length <= SHORT])
        inner = [node for node in forest.nodes if node.children]
        if window is None:
            self.parts = [_Part(*_ranges(node)) for node in inner]
        else:
            parts = (_part_within(node, forest.positions, window) for node in inner)
            self.parts = [part for part in parts if part is not None]

    def __call__(
        self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sinks: torch.Tensor | None = None
    ) -> torch.Tensor:
        return _Cascade.apply(q, k, v, sinks, self)


def _batches(nodes: list[Node]) -> list[_Batch]:
    """Nodes of similar length together: one batch for every power of two."""
    by_size: dict[int, list[Node]] = {}
    for node in nodes:
        by_size.setdefault((node.length - 1).bit_length(), []).append(node)
    return [_padded(members) for members in by_size.values()]


def _padded(nodes: list[Node]) -> _Batch:
    starts = torch.tensor([node.start for node in nodes])[:, None]
    lengths = torch.tensor([node.length for node in nodes])[:, None]
    t = torch.arange(int(lengths.max()))
    # Padding repeats the node's last token: under a causal mask no real token sees what comes after it.
    index, real = starts + torch.minimum(t, lengths - 1), t < lengths
    return _Batch(index, ~real[..., None, None], index[real], real.flatten().nonzero()[:, 0])


class _Cascade(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, sinks, plan):  # type: ignore[no-untyped-def]
        out = torch.empty_like(q)
        lse = torch.empty(q.shape[:2])
        for node in plan.long:
            own = slice(node.start, node.start + node.length)
            out[own], lse[own] = _attend(q[own], k[own], v[own], causal=True)
        for batch in plan.batches:
            part, part_lse = _attend(q[batch.index], k[batch.index], v[batch.index], causal=True)
            out[batch.rows] = part.flatten(0, 1)[batch.slots]
            lse[batch.rows] = part_lse.flatten(0, 1)[batch.slots]
        for each in plan.parts:
            own, below = each.own, each.below
            part, part_lse = _attend(q[below], k[own], v[own], causal=False, mask=each.mask)
            joined, joined_lse = out[below], lse[below]
            _join(joined, joined_lse, part, part_lse)
            if not isinstance(below, slice):
                out[below], lse[below] = joined, joined_lse
        if sinks is not None:
            # The gradient of a part asks for the joined output and sum alone, whatever else is in them.
            lse = apply_sinks(out, lse, sinks)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.plan = plan
        return out

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        q, k, v, out, lse = ctx.saved_tensors
        # fp32, because a prompt's gradient is a sum over its completions.
        dq, dk, dv = (torch.empty_like(x, dtype=torch.float32) for x in (q, k, v))
        for node in ctx.plan.long:
            own = slice(node.start, node.start + node.length)
            part = _backward(grad[own], q[own], k[own], v[own], out[own], lse[own], causal=True)
            dq[own], dk[own], dv[own] = part
        for batch in ctx.plan.batches:
            at = batch.index
            padded_grad = grad[at].masked_fill_(batch.padding, 0.0)
            part = _backward(padded_grad, q[at], k[at], v[at], out[at], lse[at], causal=True)
            dq[batch.rows], dk[batch.rows], dv[batch.rows] = (x.flatten(0, 1)[batch.slots] for x in part)
        for each in ctx.plan.parts:
            own, below = each.own, each.below
            seen = (grad[below], q[below], k[own], v[own], out[below], lse[below])
            part = _backward(*seen, causal=False, mask=each.mask)
            dq[below] += part[0]
            dk[own] += part[1]
            dv[own] += part[2]
        return *(x.to(q.dtype) for x in (dq, dk, dv)), None, None


def _ranges(node: Node) -> tuple[slice, slice]:
    own_end = node.start + node.length
    return slice(node.start, own_end), slice(own_end, node.end)


def _part_within(node: Node, positions: np.ndarray, window: int) -> _Part | None:
    """None where no window reaches the node from below."""
    own, below = _ranges(node)
    behind = node.depth + node.length
    reaching = below.start + np.flatnonzero(positions[below] < behind + window - 1)
    if not len(reaching):
        return None
    own = slice(max(own.start, own.stop - (window - 1)), own.stop)
    hidden = torch.from_numpy(positions[reaching, None] - positions[own] >= window)
    mask = torch.zeros(hidden.shape).masked_fill_(hidden, -torch.inf) if hidden.any() else None
    return _Part(own, torch.from_numpy(reaching), mask)


def _attend(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Output [.., T, H, D] and log-sum-exp [.., T, H] of one part; the leading batch axis is optional."""
    batched = q.dim() == 4
    if not batched:
        q, k, v = q[None], k[None], v[None]
    kernel = getattr(torch.ops.aten, _KERNEL)
    out, lse = kernel(*(x.transpose(1, 2) for x in (q, k, v)), 0.0, causal, attn_mask=mask)
    out, lse = out.transpose(1, 2), lse.transpose(1, 2)
    return (out, lse) if batched else (out[0], lse[0])


def _backward(grad, q, k, v, out, lse, causal, mask=None):  # type: ignore[no-untyped-def]
    """Gradients of one part, fp32, given the joined output and log-sum-exp, in the layout of :func:`_attend`."""
    batched = q.dim() == 4
    tensors = (grad, q, k, v, out, lse) if batched else tuple(x[None] for x in (grad, q, k, v, out, lse))
    if k.shape[-3] * k.shape[-1] < FEW_FEATURES:
        tensors = tuple(x.float() for x in tensors)
    kernel = getattr(torch.ops.aten, _KERNEL + "_backward")
    found = kernel(*(x.transpose(1, 2) for x in tensors), 0.0, causal, attn_mask=mask)
    grads = [g.transpose(1, 2).float() for g in found]
    return grads if batched else [g[0] for g in grads]


def _join(out: torch.Tensor, lse: torch.Tensor, part: torch.Tensor, part_lse: torch.Tensor) -> None:
    """Merges a further part into ``out`` and ``lse``, in place."""
    total = torch.logaddexp(lse, part_lse)
    out.mul_((lse - total).exp_()[..., None]).add_(part.mul_((part_lse - total).exp_()[..., None]))
    lse.copy_(total)
