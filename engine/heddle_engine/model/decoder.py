"""Decoder forward of every family of models (`families`), shared by serving and training.

Tokens are flat, with no batch axis: a caller lays out rows as it likes and supplies positions, an
attention function and a LoRA view. The base weights are frozen and held once.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from .. import progress
from .attention_heads import attention_heads
from .config import DecoderConfig
from .gated_unit import gated
from .linear import FrozenLinear
from .mixture import Mixture
from .rms_norm import add_norm, rms_norm
from .rope import RopeConfig, rope_tables

SITE_MODULES = {
    "qkv": ("q_proj", "k_proj", "v_proj"),
    "o": ("o_proj",),
    "gate_up": ("gate_proj", "up_proj"),
    "down": ("down_proj",),
}

Attend = Callable[[int, Tensor, Tensor, Tensor, int | None, Tensor | None], Tensor]
"""`attend(layer, q [N, heads, D], k [N, kv_heads, D], v [N, kv_heads, D], window, sinks [heads]) -> [N, heads, D]`.

A token sees itself and those before it in its sequence, with a `window` the last so many of these. With `sinks` the
softmax of each head has one score more, which gives no value.
"""


class LoraView(Protocol):
    def project(self, layer: int, site: str, x: Tensor, frozen: FrozenLinear) -> Tensor:
        """`x [N, in] -> [N, out]`: the frozen projection plus whatever adapters apply to each row."""
        ...


class NoLora:
    """The base model alone."""

    def project(self, layer: int, site: str, x: Tensor, frozen: FrozenLinear) -> Tensor:
        return frozen(x)


@dataclass
class Mlp:
    """The feed-forward part of a layer that computes every token alike."""

    gate_up: FrozenLinear
    down: FrozenLinear


@dataclass
class DecoderLayer:
    """Weights of one layer.

    `qk_norm` [heads + kv_heads, D], `sinks` fp32 [heads] and the norms behind its two parts may be None.
    """

    attention_norm: Tensor
    behind_attention_norm: Tensor | None
    mlp_norm: Tensor
    behind_mlp_norm: Tensor | None
    qkv: FrozenLinear
    o: FrozenLinear
    mlp: Mlp | Mixture
    qk_norm: Tensor | None
    sinks: Tensor | None


class Decoder:
    """Frozen weights of one base model and its forward pass."""

    def __init__(
        self,
        config: DecoderConfig,
        embedding: Tensor,
        layers: list[DecoderLayer],
        final_norm: Tensor,
        head: FrozenLinear,
    ):
        self.config = config
        self.embedding = embedding
        self.layers = layers
        self.final_norm = final_norm
        self.head = head
        self.device, self.dtype = embedding.device, embedding.dtype
        ropes = [layer.rope for layer in config.layers]
        unlike = [rope for place, rope in enumerate(ropes) if rope not in ropes[:place]]
        self._rope_of = [unlike.index(rope) for rope in ropes]
        self._turns = [self._turn_tables(rope) for rope in unlike]
        # As a tensor of this format would have it.
        self._embedding_scale = torch.tensor(config.embedding_scale, dtype=self.dtype).item()

    def _turn_tables(self, rope: RopeConfig) -> tuple[Tensor, Tensor]:
        """cos and sin of every position, [max_position, 1, D] each."""
        cos, sin = rope_tables(rope, self.config.head_dim, self.config.max_position)
        return cos.to(self.device, self.dtype).unsqueeze(1), sin.to(self.device, self.dtype).unsqueeze(1)

    @property
    def kv_token_bytes(self) -> int:
        """Keys and values of one token in all layers."""
        c = self.config
        return 2 * c.num_layers * c.num_kv_heads * c.head_dim * self.dtype.itemsize

    @property
    def activation_token_bytes(self) -> int:
        """Rough bytes that a pass keeps of one token for its backward pass: inputs of norms, projections, attention."""
        c = self.config
        heads = 3 * c.num_heads + 3 * c.num_kv_heads
        norms = sum(map(bool, (c.norms.behind_attention, c.norms.behind_mlp)))
        values = c.num_layers * ((4 + norms) * c.hidden_size + heads * c.head_dim)
        for layer in range(c.num_layers):
            if c.is_mixture(layer):
                values += 2 * c.mixture.per_token * c.mixture.intermediate_size + c.mixture.num_experts
            else:
                values += 3 * c.intermediate_size
        return values * self.dtype.itemsize

    def operator_work(self, rows: int) -> int:
        """Multiplications of an average projection of a layer for `rows` tokens.

        Few rows wait for the weights to be read, which takes as long as computing about 16.
        """
        work = sum(max(rows * share, 16) * weights * count for (share, weights), count in self._projections.items())
        return int(work / self._projections.total())

    @cached_property
    def _projections(self) -> Counter[tuple[float, int]]:
        """How many projections see this share of the tokens and have so many weights; alike experts are one."""
        return Counter(each for layer in self.layers for each in self._projections_of(layer))

    def _projections_of(self, layer: DecoderLayer) -> Iterator[tuple[float, int]]:
        share = 1.0
        if isinstance(layer.mlp, Mixture):
            share = self.config.mixture.per_token / self.config.mixture.num_experts
        for projection in (layer.qkv, layer.o):
            yield 1.0, projection.in_features * projection.out_features
        for projection in (layer.mlp.gate_up, layer.mlp.down):
            yield share, projection.in_features * projection.out_features

    def hidden(
        self,
        ids: Tensor,
        positions: Tensor,
        lora: LoraView,
        attend: Attend,
        rows: Tensor | None = None,
        recompute: bool = False,
    ) -> Tensor:
        """ids [N], positions [N] -> hidden states after the final norm [N, hidden]. Differentiable in `lora`.

        With `rows` int64 [M] those of these tokens only, [M, hidden]: of the others nothing but keys
        and values is needed in the last layer. With `recompute` each layer keeps its input alone, and is
        computed again in the backward pass (arXiv:1604.06174).
        """
        turns = [(cos[positions], sin[positions]) for cos, sin in self._turns]
        x = F.embedding(ids, self.embedding)
        if self._embedding_scale != 1:
            x = x * self._embedding_scale
        added = None
        for index in range(len(self.layers)):
            progress.advance()
            last = rows if index == len(self.layers) - 1 else None
            more = (*turns[self._rope_of[index]], lora, attend, last)
            if recompute and torch.is_grad_enabled():
                x, added = x if added is None else x + added, None
                kept = {"use_reentrant": False, "preserve_rng_state": False}
                x, added = checkpoint(self._layer, index, x, added, *more, **kept)
            else:
                x, added = self._layer(index, x, added, *more)
        return add_norm(x, added, self.final_norm, self.config.eps)[1]

    def _layer(
        self,
        index: int,
        x: Tensor,
        added: Tensor | None,
        cos: Tensor,
        sin: Tensor,
        lora: LoraView,
        attend: Attend,
        rows: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        """Layer `index`, whose input is x + added, [N, hidden] each: the same two behind it, of `rows` where given.

        A sum is left to the norm that follows, which on a GPU makes both in one pass.
        """
        c, layer = self.config, self.layers[index]
        x, h = add_norm(x, added, layer.attention_norm, c.eps)
        qkv = lora.project(index, "qkv", h, layer.qkv).unflatten(1, (-1, c.head_dim))
        heads = attention_heads(qkv, (c.num_heads, c.num_kv_heads), layer.qk_norm, c.eps, cos, sin)
        mixed = attend(index, *heads, c.layers[index].window, layer.sinks).flatten(1)
        if rows is not None:
            x, mixed = x[rows], mixed[rows]
        attended = self._behind(lora.project(index, "o", mixed, layer.o), layer.behind_attention_norm)
        x, h = add_norm(x, attended, layer.mlp_norm, c.eps)
        return x, self._behind(self._feed_forward(index, h, lora), layer.behind_mlp_norm)

    def _feed_forward(self, index: int, h: Tensor, lora: LoraView) -> Tensor:
        mlp = self.layers[index].mlp
        if isinstance(mlp, Mixture):
            return mlp(h)
        inner = gated(lora.project(index, "gate_up", h, mlp.gate_up), self.config.activation)
        return lora.project(index, "down", inner, mlp.down)

    def _behind(self, x: Tensor, weight: Tensor | None) -> Tensor:
        return x if weight is None else rms_norm(x, weight, self.config.eps)
