"""RMSNorm (arXiv 1910.07467) with a hand-written gradient.

On a CPU the step is bound by memory: torch's own gradient makes about three times as many passes.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from .kernels import have_kernels


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x [N, …, D] / rms over D * weight, which is frozen and broadcasts against x. Computed in fp32.

    The weight has the format of x or 32 bits.
    """
    if have_kernels(x) and x.dim() == 2:
        return add_norm(x, None, weight, eps)[1]
    if torch.is_grad_enabled() and x.requires_grad:
        return _RmsNorm.apply(x, weight, eps)
    if weight.dtype != x.dtype:
        return rms_norm(x.float(), weight, eps).to(x.dtype)
    if weight.dim() == 1:
        return F.rms_norm(x, weight.shape, weight, eps)
    return F.rms_norm(x, x.shape[-1:], None, eps) * weight


def add_norm(x: Tensor, added: Tensor | None, weight: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """x and added [N, D], weight [D] -> x + added, and the norm of that."""
    if have_kernels(x):
        if torch.is_grad_enabled() and (x.requires_grad or (added is not None and added.requires_grad)):
            return _AddNorm.apply(x, added, weight, eps)
        return _add_norm(x, added, weight, eps)
    total = x if added is None else x + added
    return total, rms_norm(total, weight, eps)


def _add_norm(x: Tensor, added: Tensor | None, weight: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    from .kernels import norm

    return norm.add_norm(x, added, weight, eps)


def normalise(x: Tensor, weight: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """The norm and 1 / rms [N, …, 1], which its gradient needs."""
    exact = x.float()
    inverse = (torch.linalg.vector_norm(exact, dim=-1, keepdim=True).square_() / x.shape[-1] + eps).rsqrt_()
    return (exact * inverse).mul_(weight).to(x.dtype), inverse


def normalise_gradient(grad: Tensor, x: Tensor, weight: Tensor, inverse: Tensor, out: Tensor) -> Tensor:
    """Writes dx = (g w - x mean(g w x) / rms^2) / rms to ``out``."""
    exact = x.float()
    scaled = grad.float() * weight
    along = torch.linalg.vecdot(scaled, exact)[..., None] * inverse.square() / x.shape[-1]
    return torch.mul(scaled.addcmul_(exact, along, value=-1), inverse, out=out)


class _RmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, eps):
        normal, inverse = normalise(x, weight, eps)
        ctx.save_for_backward(x, weight, inverse)
        return normal

    @staticmethod
    def backward(ctx, grad):
        x, weight, inverse = ctx.saved_tensors
        return normalise_gradient(grad, x, weight, inverse, torch.empty_like(x)), None, None


class _AddNorm(torch.autograd.Function):
    """By the kernels of a GPU."""

    @staticmethod
    def forward(ctx, x, added, weight, eps):
        total, normal = _add_norm(x, added, weight, eps)
        ctx.save_for_backward(total, weight)
        ctx.eps, ctx.adds = eps, added is not None
        ctx.set_materialize_grads(False)
        return total, normal

    @staticmethod
    def backward(ctx, grad_total, grad_normal):
        from .kernels import norm

        total, weight = ctx.saved_tensors
        slope = grad_total
        if grad_normal is not None:
            slope = norm.add_norm_gradient(grad_total, grad_normal, total, weight, ctx.eps)
        return slope, slope if ctx.adds else None, None, None
