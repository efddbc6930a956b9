"""Attention within many stretches of unequal length in one call: torch's flash kernel (arXiv:2307.08691).

Queries [Tq, heads, D] and keys [Tk, kv_heads, D] lie stretch behind stretch; stretch i of the queries sees stretch i of
the keys. The kernel needs a GPU and 16-bit numbers, and takes fewer heads of keys than of queries as they are.
"""

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from .sinks import apply_sinks, as_keys

_MOST_HEAD_DIM = 256
_LEAST_CAPABILITY = (8, 0)


@dataclass(frozen=True)
class Stretches:
    """Where the stretches of queries and of keys begin, and where the last ends: int32 [stretches + 1] each.

    Under `causal` the last query of a stretch sees all keys of it, the one before all but the last, and so on; with
    a `window` the last so many of these.
    """

    queries: Tensor
    keys: Tensor
    longest_query: int
    longest_keys: int
    causal: bool
    window: int | None = None

    def within(self, window: int | None) -> "Stretches":
        return replace(self, window=window) if window is not None and window < self.longest_keys else self


def flash_fits(q: Tensor) -> bool:
    """Whether the kernel takes queries like `q`."""
    return (
        q.device.type == "cuda"
        and q.dtype in (torch.bfloat16, torch.float16)
        and q.shape[-1] <= _MOST_HEAD_DIM
        and q.shape[-1] % 8 == 0
        and torch.cuda.get_device_capability(q.device) >= _LEAST_CAPABILITY
        and torch.backends.cuda.is_flash_attention_available()
    )


def attend_stretches(q: Tensor, k: Tensor, v: Tensor, stretches: Stretches, sinks: Tensor | None = None) -> Tensor:
    """The output alone, [Tq, heads, D]; without a kernel stretch after stretch. With sinks [heads] all are causal."""
    if flash_fits(q):
        out, lse = flash_forward(q, k, v, stretches)
        if sinks is not None:
            apply_sinks(out, lse.t(), sinks)
        return out
    return torch.cat([_attend_plainly(*parts, stretches, sinks) for parts in _parts(q, k, v, stretches)])


def _parts(q: Tensor, k: Tensor, v: Tensor, stretches: Stretches) -> zip:
    keys = stretches.keys.diff().tolist()
    return zip(q.split(stretches.queries.diff().tolist()), k.split(keys), v.split(keys), strict=True)


def _attend_plainly(q: Tensor, k: Tensor, v: Tensor, stretches: Stretches, sinks: Tensor | None) -> Tensor:
    q, k, v = (x.transpose(0, 1)[None] for x in (q, k, v))
    queries, keys = q.shape[2], k.shape[2]
    if sinks is not None:
        seen = seen_within(queries, keys, stretches.window, q.device)
        k, v, mask = as_keys(k, v, seen[None, None], sinks)
        return F.scaled_dot_product_attention(q, k, v, mask, enable_gqa=True)[0].transpose(0, 1)
    is_causal, mask = False, None
    if stretches.window is not None:
        mask = seen_within(queries, keys, stretches.window, q.device)
    elif stretches.causal and queries == keys:
        is_causal = True
    elif stretches.causal:
        mask = _lower_right(queries, keys, q.device)
    return F.scaled_dot_product_attention(q, k, v, mask, is_causal=is_causal, enable_gqa=True)[0].transpose(0, 1)


def _lower_right(queries: int, keys: int, device: torch.device) -> Tensor:
    """What `causal` means, as a mask. A GPU has a kernel for it that needs no `queries` times `keys` numbers."""
    if device.type == "cpu":
        return seen_within(queries, keys, None, device)
    # The module loads torch's compiler, which takes an engine 1.3 s of its start and 150 MB.
    from torch.nn.attention.bias import causal_lower_right

    return causal_lower_right(queries, keys)


def seen_within(queries: int, keys: int, window: int | None, device: torch.device) -> Tensor:
    """bool [queries, keys]: the last query sees all keys, the one before all but the last, or `window` of these."""
    seen = torch.ones(queries, keys, dtype=torch.bool, device=device).tril_(keys - queries)
    return seen if window is None else seen.triu_(keys - queries - window + 1)


def flash_forward(q: Tensor, k: Tensor, v: Tensor, stretches: Stretches) -> tuple[Tensor, Tensor]:
    """The output [Tq, heads, D] and the log-sum-exp of each query's scores, fp32 [heads, Tq]."""
    out, lse, *_ = torch.ops.aten._flash_attention_forward(q, k, v, *_arguments(stretches), False, **_reach(stretches))
    return out, lse


def flash_backward(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, stretches: Stretches
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients to q, k and v. Where `out` and `lse` are of more keys than these, the part that these have in them."""
    unused = torch.empty(2, dtype=torch.uint64, device=q.device)  # the state of a dropout that there is not
    arguments = (*_arguments(stretches), unused, unused[0])
    return torch.ops.aten._flash_attention_backward(grad, q, k, v, out, lse, *arguments, **_reach(stretches))


def _arguments(s: Stretches) -> tuple:
    return s.queries, s.keys, s.longest_query, s.longest_keys, 0.0, s.causal


def _reach(s: Stretches) -> dict:
    return {} if s.window is None else {"window_size_left": s.window - 1, "window_size_right": 0}
