"""A LoRA adapter as parameters: the view that training hands to the decoder.

All parameters live in one flat fp32 buffer, and their gradients in another, so that the optimizer,
clipping and snapshots work on two tensors whatever the number of layers. Compute runs in the base
model's dtype, the same cast as in serving (engine 4.5).
"""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import progress
from ..model.decoder import SITE_MODULES
from ..model.linear import FrozenLinear
from ..model.lora import LoraModule, LoraWeights


@dataclass(frozen=True)
class _Part:
    """One module inside a fused site: its rows of the stacked A and its scale."""

    module: str
    ranks: slice
    scale: float


@dataclass(frozen=True)
class _Site:
    """``a`` [sum of ranks, in] stacks the A of every part; ``b[i]`` is [out_i, rank_i]."""

    parts: list[_Part]
    a: Tensor
    b: list[Tensor]


class TrainableLora:
    """``masters`` and ``gradient`` are the flat fp32 buffers [P]; everything else is a view of them.

    The backward pass adds to ``gradient``; whoever takes the step clears it.
    """

    def __init__(self, weights: LoraWeights, device: torch.device) -> None:
        self._initial = weights
        size = sum(module.a.numel() + module.b.numel() for module in weights.modules.values())
        self.masters = torch.empty(size, device=device)
        self.gradient = torch.zeros(size, device=device)
        self._used = 0
        self._copy, self._copied = self.masters, -1
        self._sites: dict[tuple[int, str], _Site] = {}
        for layer in sorted({layer for layer, _ in weights.modules}):
            for site, modules in SITE_MODULES.items():
                present = {m: weights.modules[layer, m] for m in modules if (layer, m) in weights.modules}
                if present:
                    self._sites[layer, site] = self._make_site(present)

    def project(self, layer: int, site: str, x: Tensor, frozen: FrozenLinear) -> Tensor:
        """x [N, in] -> [N, out]; part of the `LoraView` protocol."""
        here = self._sites.get((layer, site))
        if here is None:
            return _Frozen.apply(x, frozen)
        return _Project.apply(x, frozen, self, here, here.a, *here.b)

    def in_format(self, leaf: Tensor, dtype: torch.dtype) -> Tensor:
        """A part of the masters in the format of a pass: all of them are cast at once, after each change."""
        if dtype == self.masters.dtype:
            return leaf.detach()
        if self._copied != self.masters._version or self._copy.dtype != dtype:
            self._copy, self._copied = self.masters.detach().to(dtype), self.masters._version
        return self._copy.as_strided(leaf.shape, leaf.stride(), leaf.storage_offset())

    def snapshot(self) -> LoraWeights:
        """A copy of the current weights."""
        modules = {}
        for (layer, _), site in self._sites.items():
            for part, b in zip(site.parts, site.b, strict=True):
                a = site.a.detach()[part.ranks].clone()
                modules[layer, part.module] = LoraModule(a, b.detach().clone(), part.scale)
        return LoraWeights(self._initial.rank, self._initial.alpha, modules, self._initial.rslora)

    def shape(self) -> dict[str, Any]:
        """JSON from which :meth:`from_shape` makes an adapter whose flat buffers have the same layout."""
        modules = [
            [layer, name, list(module.a.shape), list(module.b.shape), module.scale]
            for (layer, name), module in self._initial.modules.items()
        ]
        return {
            "rank": self._initial.rank,
            "alpha": self._initial.alpha,
            "rslora": self._initial.rslora,
            "modules": modules,
        }

    @staticmethod
    def from_shape(shape: dict[str, Any], masters: Tensor, device: torch.device) -> "TrainableLora":
        modules = {
            (layer, name): LoraModule(torch.zeros(a), torch.zeros(b), scale)
            for layer, name, a, b, scale in shape["modules"]
        }
        lora = TrainableLora(LoraWeights(shape["rank"], shape["alpha"], modules, shape["rslora"]), device)
        with torch.no_grad():
            lora.masters.copy_(masters)
        return lora

    def layout(self) -> list[tuple[str, list[int]]]:
        """Names and shapes in the order of the flat buffers; two adapters with equal layouts share moments."""
        entries = []
        for (layer, site), at in self._sites.items():
            tensors = [("a", at.a), *((f"b.{part.module}", b) for part, b in zip(at.parts, at.b, strict=True))]
            entries += [(f"{layer}.{site}.{name}", list(tensor.shape)) for name, tensor in tensors]
        return entries

    def _make_site(self, modules: dict[str, LoraModule]) -> _Site:
        parts, start = [], 0
        for name, module in modules.items():
            parts.append(_Part(name, slice(start, start + module.rank), module.scale))
            start += module.rank
        a = self._leaf(torch.cat([module.a for module in modules.values()]))
        return _Site(parts, a, [self._leaf(module.b) for module in modules.values()])

    def _leaf(self, value: Tensor) -> Tensor:
        own = slice(self._used, self._used + value.numel())
        self._used = own.stop
        leaf = self.masters[own].view(value.shape)
        leaf.copy_(value)
        leaf.requires_grad_()
        leaf.grad = self.gradient[own].view(value.shape)
        return leaf


def _columns(frozen: FrozenLinear, module: str) -> slice:
    """The columns of ``module`` in the fused output."""
    part = next(part for part in frozen.parts if part.module == module)
    return slice(part.start, part.start + part.rows)


class _Frozen(torch.autograd.Function):
    """x W^T with a gradient to x alone."""

    @staticmethod
    def forward(ctx, x, frozen):
        ctx.frozen = frozen
        return frozen(x)

    @staticmethod
    def backward(ctx, grad):
        return ctx.frozen.transposed(grad.contiguous()), None


class _Project(torch.autograd.Function):
    """y = x W^T + scale (x A^T) B^T for every part; keeps x and x A^T only.

    The gradients to A and B are added where they belong in the flat buffer, without a copy of their own.
    """

    @staticmethod
    def forward(ctx, x, frozen, lora, site, a, *b):
        u = F.linear(x, lora.in_format(a, x.dtype))
        y = frozen(x)
        for part, b_part in zip(site.parts, b, strict=True):
            columns = y[:, _columns(frozen, part.module)]
            columns.addmm_(u[:, part.ranks], lora.in_format(b_part, x.dtype).t(), alpha=part.scale)
        ctx.save_for_backward(x, u)
        ctx.frozen, ctx.lora, ctx.site = frozen, lora, site
        return y

    @staticmethod
    def backward(ctx, grad):
        progress.advance()
        x, u = ctx.saved_tensors
        a, b = ctx.site.a, ctx.site.b
        grad = grad.contiguous()
        grad_u = torch.empty_like(u)
        for part, b_part in zip(ctx.site.parts, b, strict=True):
            columns = grad[:, _columns(ctx.frozen, part.module)]
            own, weights = grad_u[:, part.ranks], ctx.lora.in_format(b_part, x.dtype)
            torch.addmm(own, columns, weights, beta=0, alpha=part.scale, out=own)
            b_part.grad.add_(u[:, part.ranks].t().mm(columns).t(), alpha=part.scale)
        a.grad.add_(grad_u.t().mm(x))
        grad_x = None
        if ctx.needs_input_grad[0]:
            grad_x = ctx.frozen.transposed(grad).addmm_(grad_u, ctx.lora.in_format(a, x.dtype))
        return grad_x, None, None, None, None, *[None] * len(b)
