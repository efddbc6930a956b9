"""A token of a delta net for each of many sequences, whose states stay where they are.

Two kernels: the short convolution over the inputs that are kept, then the rule, which reads and writes each memory
once. All is computed in fp32.
"""

# ruff: noqa: N803 (what a kernel is compiled for stands in capitals, as Triton's users write it)

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..delta.delta_net import L2_EPS, DeltaNet, DeltaState, Stretches

_CHANNELS = 512
"""Of one program."""
_VALUES = 32
"""Columns of a memory that one program has, so that few rows keep a GPU busy."""


def step_in_slots(net: DeltaNet, tokens: Stretches, states: DeltaState, slots: Tensor, unused: int) -> Tensor:
    """As `DeltaNet.step_in_slots`, but rows of the slot `unused` give zeros and leave it as it is."""
    c, rows = net.config, len(slots)
    inputs, decay, strength = tokens.inputs[0], tokens.decay[0].contiguous(), tokens.strength[0].contiguous()
    mixed = torch.empty(rows, c.channels, dtype=torch.float32, device=inputs.device)
    _convolve[(rows, triton.cdiv(c.channels, _CHANNELS))](
        inputs, states.inputs, net.conv, slots, mixed, inputs.stride(0), unused,
        CHANNELS=c.channels, KERNEL=c.kernel, TAPS=triton.next_power_of_2(c.kernel), COLUMNS=_CHANNELS,
    )  # fmt: skip
    out = torch.empty(rows, c.value_heads, c.value_dim, dtype=torch.float32, device=inputs.device)
    columns = min(_VALUES, triton.next_power_of_2(c.value_dim))
    _step[(rows, c.value_heads, triton.cdiv(c.value_dim, columns))](
        mixed, decay, strength, states.memory, slots, out, c.key_dim**-0.5, L2_EPS, unused,
        HEADS=c.value_heads, SHARED=c.shared, KEYS=c.keys, CHANNELS=c.channels, KEY_DIM=c.key_dim,
        VALUE_DIM=c.value_dim, DEPTH=triton.next_power_of_2(c.key_dim), COLUMNS=columns,
    )  # fmt: skip
    return out


@triton.jit(do_not_specialize=["unused"])
def _convolve(
    inputs, kept, conv, slots, mixed, row_stride, unused,
    CHANNELS: tl.constexpr, KERNEL: tl.constexpr, TAPS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    slot = tl.load(slots + row)
    if slot != unused:
        tap, column = tl.arange(0, TAPS)[:, None], tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
        inside = column < CHANNELS
        # The token's own input stands behind those that are kept.
        own = inside & (tap == KERNEL - 1)
        before = inside & (tap < KERNEL - 1)
        at = kept + (slot * (KERNEL - 1) + tap) * CHANNELS + column
        seen = tl.load(at, mask=before, other=0.0)
        seen = tl.where(own, tl.load(inputs + row * row_stride + column + tap * 0, mask=own, other=0.0), seen)
        weights = tl.load(conv + column * KERNEL + tap, mask=inside & (tap < KERNEL), other=0.0)
        x = tl.sum(seen.to(tl.float32) * weights, 0)
        channel = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
        tl.store(mixed + row * CHANNELS + channel, x * tl.sigmoid(x), mask=channel < CHANNELS)
        # All is read before any of it moves.
        tl.debug_barrier()
        tl.store(at - CHANNELS, seen, mask=inside & (tap > 0) & (tap < KERNEL))


@triton.jit(do_not_specialize=["unused"])
def _step(
    mixed, decay, strength, memory, slots, out, scale, eps, unused,
    HEADS: tl.constexpr, SHARED: tl.constexpr, KEYS: tl.constexpr, CHANNELS: tl.constexpr, KEY_DIM: tl.constexpr,
    VALUE_DIM: tl.constexpr, DEPTH: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    slot = tl.load(slots + row)
    column = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    there = column < VALUE_DIM
    to = out + (row * HEADS + head) * VALUE_DIM + column
    if slot == unused:
        tl.store(to, tl.zeros([COLUMNS], tl.float32), mask=there)
    else:
        depth = tl.arange(0, DEPTH)
        of_key = depth < KEY_DIM
        query_at = mixed + row * CHANNELS + (head // SHARED) * KEY_DIM + depth
        q = tl.load(query_at, mask=of_key, other=0.0)
        k = tl.load(query_at + KEYS, mask=of_key, other=0.0)
        v = tl.load(mixed + row * CHANNELS + 2 * KEYS + head * VALUE_DIM + column, mask=there, other=0.0)
        q *= scale / tl.sqrt(tl.sum(q * q, 0) + eps)
        k *= 1 / tl.sqrt(tl.sum(k * k, 0) + eps)
        faded = tl.exp(tl.load(decay + row * HEADS + head))
        inside = of_key[:, None] & there[None, :]
        at = memory + ((slot * HEADS + head) * KEY_DIM + depth[:, None]) * VALUE_DIM + column[None, :]
        old = tl.load(at, mask=inside, other=0.0)
        along_key, along_query = tl.sum(k[:, None] * old, 0), tl.sum(q[:, None] * old, 0)
        added = tl.load(strength + row * HEADS + head) * (v - faded * along_key)
        tl.store(at, faded * old + k[:, None] * added[None, :], mask=inside)
        tl.store(to, faded * along_query + tl.sum(q * k, 0) * added, mask=there)
