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
from .attention.attention_heads import attention_heads
from .attention.rope import RopeConfig, rope_tables
from .config import DecoderConfig
from .delta.delta_net import DeltaNet, Recur
from .gated_unit import gated
from .linear import FrozenLinear
from .mixture.mixture import Mixture
from .rms_norm import add_norm, rms_norm

SITE_MODULES = {
    "qkv": ("q_proj", "k_proj", "v_proj"),
    "o": ("o_proj",),
    "gate_up": ("gate_proj", "up_proj"),
    "down": ("down_proj",),
}

Attend = Callable[[int, Tensor, Tensor, Tensor, int | None, Tensor | None], Tensor]
"""`attend(place, q [N, heads, D], k [N, kv_heads, D], v [N, kv_heads, D], window, sinks [heads]) -> [N, heads, D]`.

`place` counts the layers with attention. A token sees itself and those before it in its sequence, with a `window` the
last so many of these. With `sinks` the softmax of each head has one score more, which gives no value.
"""


class LoraView(Protocol):
    def project(self, layer: int, site: str, x: Tensor, frozen: FrozenLinear) -> Tensor:
        """`x [N, in] -> [N, out]`: the frozen projection plus whatever adapters apply to each row."""
        ...


class NoLora:
    """The base model alone."""

    def project(self, layer: int, site: str, x: Tensor, frozen: FrozenLinear) -> Tensor:
        return frozen(x)


@dataclass(frozen=True)
class Wanted:
    """Tokens whose hidden states are asked for: their places in a pass, int64 [M], and the adapters of these."""

    places: Tensor
    lora: LoraView


@dataclass
class Mlp:
    """The feed-forward part of a layer that computes every token alike."""

    gate_up: FrozenLinear
    down: FrozenLinear


@dataclass
class DecoderLayer:
    """Weights of one layer.

    `qk_norm` [heads + kv_heads, D], `sinks` fp32 [heads] and the norms behind its two parts may be None.
    Where `delta` is not None it mixes tokens in place of attention: `qkv` is what it takes of a token, `o` its output.
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
    delta: DeltaNet | None


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
        # The place of each layer among those of its kind.
        kinds = [layer.is_delta for layer in config.layers]
        self._place_of = [kinds[:index].count(kind) for index, kind in enumerate(kinds)]
        self._rope_of = [unlike.index(rope) for rope in ropes]
        self._turns = [self._turn_tables(rope) for rope in unlike]
        # As a tensor of this format would have it.
        self._embedding_scale = torch.tensor(config.embedding_scale, dtype=self.dtype).item()

    def _turn_tables(self, rope: RopeConfig) -> tuple[Tensor, Tensor]:
        """cos and sin of every position, [max_position, 1, rotary_dim] each."""
        cos, sin = rope_tables(rope, self.config.rotary_dim, self.config.max_position)
        return cos.to(self.device, self.dtype).unsqueeze(1), sin.to(self.device, self.dtype).unsqueeze(1)

    @cached_property
    def kv_token_bytes(self) -> int:
        """Keys and values of one token in all layers that have them."""
        c = self.config
        return 2 * len(c.attention_layers) * c.num_kv_heads * c.head_dim * self.dtype.itemsize

    @cached_property
    def state_bytes(self) -> int:
        """What delta nets remember of one sequence, however long it is."""
        c = self.config
        return c.num_delta_layers * c.delta.state_bytes(self.dtype) if c.delta else 0

    def sequence_bytes(self, length: int) -> int:
        """What serving holds of a sequence of `length` tokens."""
        return length * self.kv_token_bytes + self.state_bytes

    @property
    def activation_token_bytes(self) -> int:
        """Rough bytes that a pass keeps of one token for its backward pass: inputs of norms, projections, attention."""
        c = self.config
        heads = 3 * c.num_heads + 3 * c.num_kv_heads
        norms = sum(map(bool, (c.norms.behind_attention, c.norms.behind_mlp)))
        values = c.num_layers * (4 + norms) * c.hidden_size
        values += len(c.attention_layers) * (heads + c.output_gate * 2 * c.num_heads) * c.head_dim
        if c.delta:
            values += c.num_delta_layers * c.delta.activation_token_bytes // self.dtype.itemsize
        for layer in range(c.num_layers):
            if c.is_mixture(layer):
                values += 2 * c.mixture.per_token * c.mixture.intermediate_size + c.mixture.num_experts
                values += 2 * c.mixture.shared_size
            else:
                values += 3 * c.intermediate_size
        return values * self.dtype.itemsize

    @property
    def stays_on_device(self) -> bool:
        """Whether a pass reads nothing back from the device: only then can it be captured."""
        return all(layer.mlp.stays_on_device for layer in self.layers if isinstance(layer.mlp, Mixture))

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
        if isinstance(layer.mlp, Mixture) and layer.mlp.shared is not None:
            for projection in (layer.mlp.shared.gate_up, layer.mlp.shared.down):
                yield 1.0, projection.in_features * projection.out_features

    def hidden(
        self,
        ids: Tensor,
        positions: Tensor,
        lora: LoraView,
        attend: Attend,
        wanted: Wanted | None = None,
        recompute: bool = False,
        recur: Recur | None = None,
    ) -> Tensor:
        """ids [N], positions [N] -> hidden states after the final norm [N, hidden]. Differentiable in `lora`.

        With `wanted` those of its tokens only, [M, hidden]: of the others nothing but keys and values is
        needed in the last layer. With `recompute` each layer keeps its input alone, and is
        computed again in the backward pass (arXiv:1604.06174). A model with delta nets needs a `recur`.
        """
        turns = [(cos[positions], sin[positions]) for cos, sin in self._turns]
        x = F.embedding(ids, self.embedding)
        if self._embedding_scale != 1:
            x = x * self._embedding_scale
        added = None
        for index in range(len(self.layers)):
            progress.advance()
            last = wanted if index == len(self.layers) - 1 else None
            more = (*turns[self._rope_of[index]], lora, attend, recur, last)
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
        recur: Recur | None,
        wanted: Wanted | None,
    ) -> tuple[Tensor, Tensor]:
        """Layer `index`, whose input is x + added, [N, hidden] each: the same two behind it, of what is `wanted`.

        A sum is left to the norm that follows, which on a GPU makes both in one pass.
        """
        c, layer = self.config, self.layers[index]
        x, h = add_norm(x, added, layer.attention_norm, c.eps)
        projected = lora.project(index, "qkv", h, layer.qkv)
        if layer.delta is not None:
            mixed = layer.delta(self._place_of[index], projected, recur)
        else:
            mixed = self._attention(index, projected, cos, sin, attend)
        if wanted is not None:
            x, mixed, lora = x[wanted.places], mixed[wanted.places], wanted.lora
        attended = self._behind(lora.project(index, "o", mixed, layer.o), layer.behind_attention_norm)
        x, h = add_norm(x, attended, layer.mlp_norm, c.eps)
        return x, self._behind(self._feed_forward(index, h, lora), layer.behind_mlp_norm)

    def _attention(self, index: int, projected: Tensor, cos: Tensor, sin: Tensor, attend: Attend) -> Tensor:
        """projected [N, out of qkv] -> [N, heads * D]."""
        c, layer = self.config, self.layers[index]
        qkv, gate = projected.unflatten(1, (-1, c.head_dim)), None
        if c.output_gate:
            queries, rest = qkv.split([2 * c.num_heads, 2 * c.num_kv_heads], 1)
            qkv, gate = torch.cat([queries[:, ::2], rest], 1), queries[:, 1::2]
        heads = attention_heads(qkv, (c.num_heads, c.num_kv_heads), layer.qk_norm, c.eps, cos, sin)
        mixed = attend(self._place_of[index], *heads, c.layers[index].window, layer.sinks)
        return (mixed if gate is None else mixed * gate.sigmoid()).flatten(1)

    def _feed_forward(self, index: int, h: Tensor, lora: LoraView) -> Tensor:
        mlp = self.layers[index].mlp
        if isinstance(mlp, Mixture):
            return mlp(h)
        inner = gated(lora.project(index, "gate_up", h, mlp.gate_up), self.config.activation)
        return lora.project(index, "down", inner, mlp.down)

    def _behind(self, x: Tensor, weight: Tensor | None) -> Tensor:
        return x if weight is None else rms_norm(x, weight, self.config.eps)
