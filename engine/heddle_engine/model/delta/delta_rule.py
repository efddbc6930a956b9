"""The gated delta rule (arXiv:2412.06464): how tokens change a memory, in chunks (arXiv:2406.06484) and one by one.

With log decay a, strength b, key k and value v of a token a memory S [key dim, value dim] becomes
exp(a) S + k (b (v - exp(a) S^T k))^T, and the token's output is S^T q. All is computed in fp32.
"""

from dataclasses import dataclass, fields
from itertools import pairwise

import torch
from torch import Tensor

CHUNK = 64
"""Tokens that the rule computes at a time."""
_TOKENS_AT_ONCE = {"cpu": CHUNK, "cuda": 4096}
"""For so many tokens at once what needs no memory is computed: a CPU keeps it in its caches, a GPU launches less."""


@dataclass(frozen=True)
class Chunks:
    """What N chunks of C tokens do to the memories before them, N of which are [key dim, value dim] each.

    To its memory S a chunk adds `left`^T added, where added = `values` - `keys` S, and `kept` of S stays. Outputs are
    `queries` S + `seen` added. `values` [N, C, value dim], `keys`, `queries` and `left` [N, C, key dim],
    `seen` [N, C, C], `kept` [N, 1, 1].
    """

    values: Tensor
    keys: Tensor
    queries: Tensor
    seen: Tensor
    left: Tensor
    kept: Tensor

    @staticmethod
    def of(q: Tensor, k: Tensor, v: Tensor, decay: Tensor, strength: Tensor) -> "Chunks":
        """q and k [N, C, key dim], v [N, C, value dim], decay and strength [N, C]. Differentiable.

        What each token adds depends on what those before it in the chunk add: a triangular system.
        """
        length, strength = q.shape[1], strength[..., None]
        # Decays of a chunk may add up to hundreds: in 32 bits, the difference of two such sums would keep few digits.
        total = decay.double().cumsum(1)
        faded = total.float().exp()[..., None]
        later = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1)
        # Masked before the exponential, which would overflow.
        since = (total[..., :, None] - total[..., None, :]).float().masked_fill(later, -torch.inf).exp()
        strong = strength * k
        wanted = torch.cat([strength * v, faded * strong], 2)
        # Of a unitriangular system the diagonal is not read.
        added = torch.linalg.solve_triangular(since * (strong @ k.mT), wanted, upper=False, unitriangular=True)
        values, keys = added.split([v.shape[2], k.shape[2]], 2)
        left = (total[..., -1:] - total).float().exp()[..., None]
        return Chunks(values, keys, faded * q, since * (q @ k.mT), left * k, faded[:, -1:])

    def split(self, sizes: int | list[int]) -> "list[Chunks]":
        parts = (getattr(self, field.name).split(sizes) for field in fields(self))
        return [Chunks(*part) for part in zip(*parts, strict=True)]

    def behind(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """memory [N, key dim, value dim] -> outputs [N, C, value dim] and the memory behind. Differentiable."""
        added = torch.baddbmm(self.values, self.keys, memory, alpha=-1)
        outputs = torch.baddbmm(self.queries @ memory, self.seen, added)
        return outputs, torch.baddbmm(self.kept * memory, self.left.mT, added)


def delta_rule(
    q: Tensor, k: Tensor, v: Tensor, decay: Tensor, strength: Tensor, memory: Tensor
) -> tuple[Tensor, Tensor]:
    """q and k [B, H, T, key dim], v [B, H, T, value dim], log decay and strength [B, H, T], memory [B, H, key dim,
    value dim] -> outputs [B, H, T, value dim] and the memory behind, all fp32. Differentiable."""
    batch, heads, length = decay.shape
    behind, outputs = memory.flatten(0, 1), []
    at_once = max(1, _TOKENS_AT_ONCE.get(q.device.type, CHUNK) // (batch * CHUNK)) * CHUNK
    # A last chunk that is short stands alone.
    whole = length // CHUNK * CHUNK
    for start, end in pairwise([*range(0, whole, at_once), whole, *([length] if whole < length else [])]):
        size = min(CHUNK, end - start)
        # One chunk of every sequence and head, then the next of all.
        parts = (x[:, :, start:end].unflatten(2, (-1, size)) for x in (q, k, v, decay, strength))
        for chunk in Chunks.of(*(x.movedim(2, 0).flatten(0, 2) for x in parts)).split(batch * heads):
            output, behind = chunk.behind(behind)
            outputs.append(output)
    return torch.cat(outputs, 1).unflatten(0, (batch, heads)), behind.view_as(memory)


def delta_step(q: Tensor, k: Tensor, v: Tensor, decay: Tensor, strength: Tensor, memory: Tensor) -> Tensor:
    """As `delta_rule` for T = 1, but `memory`, which is read twice and written twice, becomes the one behind."""
    faded = decay.exp()[..., None]
    of_key, of_query = (torch.cat([k, q], 2) @ memory).split(1, 2)
    added = strength[..., None] * (v - faded * of_key)
    memory.mul_(faded).addcmul_(k.mT, added)
    return faded * of_query + (q * k).sum(-1, keepdim=True) * added
