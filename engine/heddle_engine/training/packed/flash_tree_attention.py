"""Attention over a forest of shared prefixes on a GPU: a few calls whatever the number of sequences.

As on a CPU (`cascade_attention`) each node attends causally to itself, and what continues a node attends to the
whole of it; here all nodes, and then all nodes of one generation, are the stretches of one call. Memory grows with
the tokens.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from ...model.attention.sinks import apply_sinks
from ...model.attention.varlen import Stretches, flash_backward, flash_forward
from .prefix_tree import Forest, Node


@dataclass(frozen=True)
class Kernel:
    """`forward` and `backward` as in `model.attention.varlen`."""

    forward: Callable[..., tuple[Tensor, Tensor]]
    backward: Callable[..., tuple[Tensor, Tensor, Tensor]]


FLASH = Kernel(flash_forward, flash_backward)


@dataclass(frozen=True)
class _Generation:
    """The nodes at one distance from their roots that have children: ``below`` [Q] are the places in the row of all
    that continues them, ``own`` [K] those of their own tokens."""

    below: Tensor
    own: Tensor
    stretches: Stretches


class FlashTreeAttention:
    def __init__(self, forest: Forest, device: torch.device, kernel: Kernel = FLASH) -> None:
        self.kernel = kernel
        starts, longest = bounds([node.length for node in forest.nodes], device)
        self.nodes = Stretches(starts, starts, longest, longest, causal=True)
        self.generations = [_generation(nodes, device) for nodes in _inner_by_distance(forest)]

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor, sinks: Tensor | None = None) -> Tensor:
        return attend_tree(q, k, v, sinks, self)


class Plan(Protocol):
    """All ``nodes`` in one call of the ``kernel``, then what continues each of the ``generations`` in another."""

    kernel: Kernel
    nodes: Stretches
    generations: list[_Generation]


def attend_tree(q: Tensor, k: Tensor, v: Tensor, sinks: Tensor | None, plan: Plan) -> Tensor:
    """q [N, heads, D], the keys and values that the stretches of ``plan`` are of, sinks [heads] -> [N, heads, D]."""
    return _Tree.apply(q, k, v, sinks, plan)


def _inner_by_distance(forest: Forest) -> list[list[Node]]:
    distances: dict[int, int] = {}
    generations: list[list[Node]] = []
    for node in forest.nodes:
        parent = node.parent
        distance = distances[id(node)] = distances.get(id(parent), -1) + 1
        if node.children:
            generations += [[] for _ in range(distance + 1 - len(generations))]
            generations[distance].append(node)
    return generations


def _generation(nodes: list[Node], device: torch.device) -> _Generation:
    ends = [node.start + node.length for node in nodes]
    below = [np.arange(end, node.end) for node, end in zip(nodes, ends, strict=True)]
    own = [np.arange(node.start, end) for node, end in zip(nodes, ends, strict=True)]
    queries, longest_query = bounds([len(places) for places in below], device)
    keys, longest_keys = bounds([len(places) for places in own], device)
    places = (torch.from_numpy(np.concatenate(parts)).to(device) for parts in (below, own))
    return _Generation(*places, Stretches(queries, keys, longest_query, longest_keys, causal=False))


def bounds(lengths: list[int], device: torch.device) -> tuple[Tensor, int]:
    ends = np.cumsum([0, *lengths], dtype=np.int32)
    return torch.from_numpy(ends).to(device), max(lengths)


class _Tree(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, sinks, plan):  # type: ignore[no-untyped-def]
        own_out, lse = plan.kernel.forward(q, k, v, plan.nodes)
        joined = own_out.float() if plan.generations else own_out
        for generation in plan.generations:
            below, own = generation.below, generation.own
            part, part_lse = plan.kernel.forward(q[below], k[own], v[own], generation.stretches)
            before = lse[:, below]
            total = torch.logaddexp(before, part_lse)
            kept = joined[below] * _weights(before - total)
            joined.index_copy_(0, below, kept.addcmul_(part.float(), _weights(part_lse - total)))
            lse[:, below] = total
        if sinks is not None:
            lse = apply_sinks(joined, lse.t(), sinks).t().contiguous()
        out = joined.to(q.dtype)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.plan = plan
        return out

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        q, k, v, out, lse = ctx.saved_tensors
        kernel, grad = ctx.plan.kernel, grad.contiguous()
        gradients = kernel.backward(grad, q, k, v, out, lse, ctx.plan.nodes)
        if ctx.plan.generations:
            gradients = [each.float() for each in gradients]
        for generation in ctx.plan.generations:
            below, own = generation.below, generation.own
            seen = (grad[below], q[below], k[own], v[own], out[below], lse[:, below].contiguous())
            parts = kernel.backward(*seen, generation.stretches)
            for whole, part, places in zip(gradients, parts, (below, own, own), strict=True):
                whole.index_add_(0, places, part.float())
        return *(each.to(q.dtype) for each in gradients), None, None


def _weights(logarithms: Tensor) -> Tensor:
    """[heads, T] -> [T, heads, 1]."""
    return logarithms.exp().t()[..., None]
