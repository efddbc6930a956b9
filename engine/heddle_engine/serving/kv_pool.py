"""Memory for keys and values on a GPU: one pool of blocks, of which a sequence takes another whenever it is full.

A sequence's blocks may lie anywhere, so nothing moves as it grows and at most a block of it is unused
(PagedAttention, arXiv:2309.06180). What delta nets remember of a sequence has one size, so each takes a slot.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..model.decoder import Decoder
from ..model.delta.delta_net import DeltaState
from ..pages import untouched_zeros

BLOCK = 64
"""Tokens of a block."""
SCRATCH = 0
"""The block and the slot that no sequence has: rows that only fill up a batch write there."""
_STATES_SHARE = 2
"""Slots take at most one part in so many of the memory."""


@dataclass(eq=False)
class PoolLine:
    """A `KvLine`. `blocks` are those of its tokens, in their order, and `state` is a view of its slot."""

    pool: "KvPool"
    blocks: list[int]
    slot: int = SCRATCH
    length: int = 0
    state: DeltaState | None = None

    @property
    def room(self) -> int:
        return len(self.blocks) * BLOCK

    @property
    def bytes(self) -> int:
        return self.room * self.pool.token_bytes

    @property
    def is_full(self) -> bool:
        return self.length == self.room

    def places(self, start: int, end: int) -> np.ndarray:
        """Where in the pool tokens `start … end` lie: int64."""
        blocks = np.array(self.blocks[start // BLOCK : -(-end // BLOCK)], np.int64)
        places = (blocks[:, None] * BLOCK + np.arange(BLOCK)).ravel()
        first = start % BLOCK
        return places[first : first + end - start]

    def read(self) -> Tensor:
        return self.pool.data[:, :, self._tensor(0, self.length)].transpose(2, 3)

    def fill(self, kv: Tensor) -> None:
        self.length = kv.shape[3]
        self.pool.data[:, :, self._tensor(0, self.length)] = kv.transpose(2, 3)

    def wipe(self) -> None:
        """The rows that filled up its batch computed with the same weights."""
        self.pool.data[:, :, self._tensor(0, self.room)] = 0
        self.pool.data[:, :, SCRATCH * BLOCK : (SCRATCH + 1) * BLOCK] = 0
        if self.pool.states is not None:
            self.pool.states[:, SCRATCH].zero_()

    def _tensor(self, start: int, end: int) -> Tensor:
        return torch.from_numpy(self.places(start, end)).to(self.pool.data.device)


class KvPool:
    """A `KvMemory` that takes all of its memory at once. `data` is [layers with attention, 2, tokens, kv_heads, D].

    `states` [delta layers, slots, …] of a model with delta nets, else None. Slots are set apart from what is given, so
    `limit` is what is left for keys and values, and a line counts its blocks alone.
    """

    def __init__(self, decoder: Decoder, given: int, most: int):
        """For at most `most` sequences, in `given` bytes."""
        config = decoder.config
        self.max_length, self.token_bytes = config.max_position, decoder.kv_token_bytes
        self.states, self.most_lines = None, most
        if config.delta is not None:
            fitting = given // _STATES_SHARE // decoder.state_bytes - 1
            self.most_lines = max(1, min(most, fitting))
            self.states = self._make_states(decoder, self.most_lines + 1)
            given = max(0, given - (self.most_lines + 1) * decoder.state_bytes)
        self.limit = given
        count = given // (BLOCK * self.token_bytes)
        shape = (len(config.attention_layers), 2, (count + 1) * BLOCK, config.num_kv_heads, config.head_dim)
        self.data = untouched_zeros(shape, decoder.dtype, decoder.device)
        self.keys, self.values = self.data.unbind(1)
        self._free = [block for block in range(count, -1, -1) if block != SCRATCH]
        self._free_slots = [slot for slot in range(self.most_lines, -1, -1) if slot != SCRATCH]

    def _make_states(self, decoder: Decoder, slots: int) -> DeltaState:
        delta, leading = decoder.config.delta, (decoder.config.num_delta_layers, slots)
        return DeltaState(
            untouched_zeros((*leading, *delta.memory_shape), torch.float32, decoder.device),
            untouched_zeros((*leading, *delta.inputs_shape), decoder.dtype, decoder.device),
        )

    @property
    def used_bytes(self) -> int:
        count = self.data.shape[2] // BLOCK - 1
        return (count - len(self._free)) * BLOCK * self.token_bytes

    def bytes_for(self, length: int) -> int:
        return -(-length // BLOCK) * BLOCK * self.token_bytes

    def allocate(self, length: int) -> PoolLine | None:
        count = -(-length // BLOCK)
        if count > len(self._free) or not self._free_slots:
            return None
        line = PoolLine(self, [self._free.pop() for _ in range(count)], self._free_slots.pop())
        if self.states is not None:
            line.state = self.states[:, line.slot]
            # What a step that was begun ahead writes of the sequence before comes earlier on the stream.
            line.state.zero_()
        return line

    def release(self, line: PoolLine) -> None:
        self._free += reversed(line.blocks)
        self._free_slots.append(line.slot)
        line.blocks, line.slot, line.state = [], SCRATCH, None

    def grow(self, line: PoolLine) -> PoolLine | None:
        if not self._free:
            return None
        line.blocks.append(self._free.pop())
        return line
