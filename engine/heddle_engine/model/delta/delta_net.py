"""Gated delta nets (arXiv:2412.06464), which some layers have in place of attention.

A token's queries, keys and values go through a short causal convolution. What a head remembers is a matrix
[key dim, value dim], which each token changes and reads by the delta rule (`delta_rule.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import torch
import torch.nn.functional as F
from torch import Tensor

from ..config_fields import refused, whole_number
from ..kernels import have_kernels
from .delta_rule import CHUNK, delta_rule, delta_step

L2_EPS = 1e-6


@dataclass(frozen=True)
class DeltaNetConfig:
    """Heads of all delta nets of a model; each key head serves `value_heads / key_heads` heads of values.

    `grouped`: a checkpoint stores rows of the projections by key head (`delta_projections`).
    """

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    kernel: int
    grouped: bool = False

    @staticmethod
    def from_hf(config: dict, grouped: bool) -> "DeltaNetConfig":
        """Raises `invalid`."""
        names = ("num_key_heads", "num_value_heads", "key_head_dim", "value_head_dim", "conv_kernel_dim")
        found = DeltaNetConfig(*(whole_number(config, f"linear_{name}") for name in names), grouped)
        if found.value_heads % found.key_heads:
            raise refused(
                f"The base model's linear_num_value_heads is {found.value_heads}; "
                f"a multiple of linear_num_key_heads, {found.key_heads}, is needed."
            )
        if found.kernel < 2:
            raise refused(f"The base model's linear_conv_kernel_dim is {found.kernel}; at least 2 is needed.")
        return found

    @property
    def shared(self) -> int:
        """How many heads of values a key head serves."""
        return self.value_heads // self.key_heads

    @property
    def keys(self) -> int:
        return self.key_heads * self.key_dim

    @property
    def values(self) -> int:
        return self.value_heads * self.value_dim

    @property
    def channels(self) -> int:
        """Those of the convolution: queries, keys and values."""
        return 2 * self.keys + self.values

    @property
    def activation_token_bytes(self) -> int:
        """Rough bytes that a layer keeps of one token for its backward pass, in fp32 whatever the format is."""
        of_head = 6 * self.key_dim + 3 * self.value_dim + 3 * CHUNK + self.key_dim * self.value_dim // CHUNK
        return (self.channels + self.value_heads * of_head) * torch.float32.itemsize

    @property
    def memory_shape(self) -> tuple[int, int, int]:
        """Of one sequence in one layer, as `DeltaState` has it."""
        return self.value_heads, self.key_dim, self.value_dim

    @property
    def inputs_shape(self) -> tuple[int, int]:
        return self.kernel - 1, self.channels

    def state_bytes(self, dtype: torch.dtype) -> int:
        """Of one sequence in one layer."""
        return prod(self.memory_shape) * torch.float32.itemsize + prod(self.inputs_shape) * dtype.itemsize


@dataclass(frozen=True)
class DeltaState:
    """What sequences have behind them: `memory` [..., value heads, key dim, value dim] fp32, and `inputs`
    [..., kernel - 1, channels], the last of the convolution."""

    memory: Tensor
    inputs: Tensor

    @staticmethod
    def zeros(config: DeltaNetConfig, *leading: int, device: torch.device, dtype: torch.dtype) -> "DeltaState":
        memory = torch.zeros(*leading, *config.memory_shape, device=device)
        return DeltaState(memory, torch.zeros(*leading, *config.inputs_shape, device=device, dtype=dtype))

    @staticmethod
    def stacked(states: "list[DeltaState]", dim: int) -> "DeltaState":
        return DeltaState(
            *(torch.stack([getattr(state, name) for state in states], dim) for name in ("memory", "inputs"))
        )

    def __getitem__(self, place) -> "DeltaState":
        """A view, where indexing makes one."""
        return DeltaState(self.memory[place], self.inputs[place])

    def put(self, places: Tensor, other: "DeltaState") -> None:
        """Have the states of `other` [B, ...] at `places` int64 [B] of these."""
        self.memory.index_copy_(0, places, other.memory)
        self.inputs.index_copy_(0, places, other.inputs)

    def copy_(self, other: "DeltaState") -> None:
        self.memory.copy_(other.memory)
        self.inputs.copy_(other.inputs)

    def zero_(self) -> None:
        self.memory.zero_()
        self.inputs.zero_()

    def clone(self) -> "DeltaState":
        return DeltaState(self.memory.clone(), self.inputs.clone())


@dataclass(frozen=True)
class Stretches:
    """What a layer gives of stretches of T tokens, of B sequences: `inputs` [B, T, channels] of the convolution,
    log `decay` and `strength` [B, T, value heads] fp32. A token with a decay and a strength of 0 changes no memory."""

    inputs: Tensor
    decay: Tensor
    strength: Tensor

    def one_by_one(self) -> "Stretches":
        """The T tokens of B = 1 as one token each, T = 1, of as many sequences."""
        return Stretches(*(x.transpose(0, 1) for x in (self.inputs, self.decay, self.strength)))


Recur = Callable[[int, "DeltaNet", Stretches], Tensor]
"""`recur(place, net, tokens of B = 1) -> [N, value heads, value dim]` fp32 of the flat tokens.

`place` counts the layers with delta nets. A token comes after those before it in its sequence.
"""


@dataclass
class DeltaNet:
    """Weights of one layer beside its projections.

    All are fp32, as they are stored, whatever the format is: `conv` [channels, kernel], of which the last column is
    for a token itself; `rate` and `bias` [value heads], which make the decay; `norm` [value dim].
    """

    config: DeltaNetConfig
    conv: Tensor
    rate: Tensor
    bias: Tensor
    norm: Tensor
    eps: float

    def __call__(self, place: int, projected: Tensor, recur: Recur) -> Tensor:
        """projected [N, channels + values + 2 value heads] -> [N, values]."""
        c = self.config
        inputs, gate, strength, decay = projected.split([c.channels, c.values, c.value_heads, c.value_heads], 1)
        if have_kernels(projected) and not (torch.is_grad_enabled() and projected.requires_grad):
            from ..kernels.delta_gates import gated_norm, weigh

            decay, strength = weigh(decay, strength, self.rate, self.bias)
            mixed = recur(place, self, Stretches(inputs[None], decay[None], strength[None]))
            return gated_norm(mixed, gate, self.norm, self.eps)
        decay = -self.rate * F.softplus(decay.float() + self.bias)
        mixed = recur(place, self, Stretches(inputs[None], decay[None], strength.float().sigmoid()[None]))
        normal = F.rms_norm(mixed, (c.value_dim,), self.norm, self.eps)
        return (normal.flatten(1) * F.silu(gate.float())).to(projected.dtype)

    def advance(self, tokens: Stretches, state: DeltaState, lengths: Tensor | None = None) -> tuple[Tensor, DeltaState]:
        """Outputs [B, T, value heads, value dim] fp32 of the tokens that follow `state` [B, ...], and the state behind.

        `lengths` int64 [B]: how many of the T tokens are real, which stand first; None: all.
        """
        length = tokens.inputs.shape[1]
        seen = torch.cat([state.inputs, tokens.inputs], 1)
        decay, strength = tokens.decay, tokens.strength
        if lengths is None:
            last = seen[:, length:]
        else:
            real = (torch.arange(length, device=lengths.device) < lengths[:, None])[..., None]
            decay, strength = decay * real, strength * real
            places = lengths[:, None] + torch.arange(self.config.kernel - 1, device=lengths.device)
            last = seen.gather(1, places[..., None].expand(-1, -1, self.config.channels))
        heads = self.heads(seen, length)
        out, memory = delta_rule(*heads, decay.transpose(1, 2), strength.transpose(1, 2), state.memory)
        return out.transpose(1, 2), DeltaState(memory, last)

    def step(self, token: Stretches, state: DeltaState) -> Tensor:
        """As `advance` by one token, T = 1, but `state` becomes the one behind it, and nothing is differentiable."""
        seen = torch.cat([state.inputs, token.inputs], 1)
        state.inputs.copy_(seen[:, 1:])
        heads = self.heads(seen, 1)
        out = delta_step(*heads, token.decay.transpose(1, 2), token.strength.transpose(1, 2), state.memory)
        return out.transpose(1, 2)

    def step_in_slots(self, tokens: Stretches, states: DeltaState, slots: Tensor, unused: int) -> Tensor:
        """One token each for N sequences, which stand behind each other in `tokens` of B = 1, with T = N.

        `slots` int64 [N] says which of `states` [slots, ...] are theirs, which become those behind. Outputs [N, value
        heads, value dim] fp32; rows of the slot `unused` only fill up, and what they give and leave there says nothing.
        """
        if have_kernels(tokens.inputs):
            from ..kernels.delta import step_in_slots

            return step_in_slots(self, tokens, states, slots, unused)
        found = states[slots]
        out = self.step(tokens.one_by_one(), found)[:, 0]
        states.put(slots, found)
        return out

    def heads(self, seen: Tensor, length: int) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values [B, value heads, length, key dim or value dim] fp32 of the last tokens of seen [B,
        kernel - 1 + length, channels], inputs of the convolution.

        Queries and keys are made vectors of length 1; then queries are divided by the root of the key dim.
        """
        c = self.config
        q, k, v = self._convolved(seen, length).split([c.keys, c.keys, c.values], 2)
        q, k = (_unit(x.unflatten(2, (c.key_heads, c.key_dim))) for x in (q, k))
        q, k = (x.repeat_interleave(c.shared, 2).transpose(1, 2) for x in (q * c.key_dim**-0.5, k))
        return q, k, v.unflatten(2, (c.value_heads, c.value_dim)).transpose(1, 2)

    def _convolved(self, seen: Tensor, length: int) -> Tensor:
        """seen [B, kernel - 1 + length, channels] -> [B, length, channels] fp32.

        A sum of shifted inputs keeps none of them for the backward pass, as the weights are frozen.
        """
        seen = seen.float()
        mixed = seen[:, :length] * self.conv[:, 0]
        for tap in range(1, self.config.kernel):
            mixed = torch.addcmul(mixed, seen[:, tap : tap + length], self.conv[:, tap])
        return F.silu(mixed)


def _unit(x: Tensor) -> Tensor:
    return x * (x.square().sum(-1, keepdim=True) + L2_EPS).rsqrt()
