"""Makes the queries, keys and values of a layer from its fused projection.

Queries and keys are normalised, in some families, and rotated by their position. The gradients of all three are
written to their places in one tensor, instead of being padded with zeros and added.
"""

import torch
from torch import Tensor

from ..kernels import have_kernels
from ..rms_norm import normalise, normalise_gradient, rms_norm


def attention_heads(
    qkv: Tensor, heads: tuple[int, int], norm: Tensor | None, eps: float, cos: Tensor, sin: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """qkv [N, H + 2 K, D], heads (H, K), norm [H + K, D] -> q [N, H, D], k and v [N, K, D].

    cos and sin [N, 1, D or less] are as `rope_tables` makes them.
    """
    by_kernel, trains = have_kernels(qkv), torch.is_grad_enabled() and qkv.requires_grad
    if trains:
        return (_KernelHeads if by_kernel else _AttentionHeads).apply(qkv, heads, norm, eps, cos, sin)
    if by_kernel:
        return _make_heads(qkv, heads, norm, eps, cos, sin)
    qk, v = qkv.split([sum(heads), heads[1]], 1)
    q, k = rotate(qk if norm is None else rms_norm(qk, norm, eps), cos, sin).split(heads, 1)
    return q, k, v


def _make_heads(*arguments) -> tuple[Tensor, Tensor, Tensor]:
    from ..kernels.heads import make_heads

    return make_heads(*arguments)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x [N, heads, D] rotated by its position; `sin` holds the minus sign of the first half.

    Tables narrower than D rotate the first features of a head.
    """
    width = cos.shape[-1]
    if width < x.shape[-1]:
        return torch.cat([rotate(x[..., :width], cos, sin), x[..., width:]], -1)
    return torch.addcmul(x * cos, x.roll(x.shape[-1] // 2, -1), sin)


class _AttentionHeads(torch.autograd.Function):
    @staticmethod
    def forward(ctx, qkv, heads, norm, eps, cos, sin):
        qk, v = qkv.split([sum(heads), heads[1]], 1)
        inverse = None
        if norm is not None:
            normal, inverse = normalise(qk, norm, eps)
            q, k = rotate(normal, cos, sin).split(heads, 1)
        else:
            q, k = rotate(qk, cos, sin).split(heads, 1)
        ctx.save_for_backward(qkv, norm, inverse, cos, sin)
        ctx.heads = heads
        return q, k, v

    @staticmethod
    def backward(ctx, grad_q, grad_k, grad_v):
        qkv, norm, inverse, cos, sin = ctx.saved_tensors
        turned = sum(ctx.heads)
        slope = torch.empty_like(qkv)
        slope[:, turned:] = grad_v
        # A rotation's gradient is the rotation back.
        grad = rotate(torch.cat([grad_q, grad_k], 1), cos, -sin)
        if norm is None:
            slope[:, :turned] = grad
        else:
            normalise_gradient(grad, qkv[:, :turned], norm, inverse, slope[:, :turned])
        return slope, None, None, None, None, None


class _KernelHeads(torch.autograd.Function):
    """By the kernels of a GPU."""

    @staticmethod
    def forward(ctx, qkv, heads, norm, eps, cos, sin):
        ctx.save_for_backward(qkv, norm, cos, sin)
        ctx.heads, ctx.eps = heads, eps
        return _make_heads(qkv, heads, norm, eps, cos, sin)

    @staticmethod
    def backward(ctx, *grads):
        from ..kernels.heads import heads_gradient

        qkv, norm, cos, sin = ctx.saved_tensors
        return heads_gradient(grads, qkv, ctx.heads, norm, ctx.eps, cos, sin), None, None, None, None, None
