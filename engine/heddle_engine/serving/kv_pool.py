"""Memory for keys and values on a GPU: one pool of blocks, of which a sequence takes another whenever it is full.

A sequence's blocks may lie anywhere, so nothing moves as it grows and at most a block of it is unused
(PagedAttention, arXiv:2309.06180).
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..model.decoder import Decoder
from ..pages import untouched_zeros

BLOCK = 64
"""Tokens of a block."""
SCRATCH = 0
"""The block that no sequence has: rows that only fill up a batch write there."""


@dataclass(eq=False)
class PoolLine:
    """A `KvLine` of a model without delta nets. `blocks` are those of its tokens, in their order."""

    pool: "KvPool"
    blocks: list[int]
    length: int = 0
    state: None = None

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
        self.pool.data[:, :, self._tensor(0, self.room)] = 0

    def _tensor(self, start: int, end: int) -> Tensor:
        return torch.from_numpy(self.places(start, end)).to(self.pool.data.device)


class KvPool:
    """A `KvMemory` that takes all of its memory at once. `data` is [layers, 2, tokens, kv_heads, D]."""

    def __init__(self, decoder: Decoder, limit: int):
        config = decoder.config
        self.limit, self.max_length, self.token_bytes = limit, config.max_position, decoder.kv_token_bytes
        count = limit // (BLOCK * self.token_bytes)
        shape = (config.num_layers, 2, (count + 1) * BLOCK, config.num_kv_heads, config.head_dim)
        self.data = untouched_zeros(shape, decoder.dtype, decoder.device)
        self.keys, self.values = self.data.unbind(1)
        self._free = [block for block in range(count, -1, -1) if block != SCRATCH]

    @property
    def used_bytes(self) -> int:
        count = self.data.shape[2] // BLOCK - 1
        return (count - len(self._free)) * BLOCK * self.token_bytes

    def bytes_for(self, length: int) -> int:
        return -(-length // BLOCK) * BLOCK * self.token_bytes

    def allocate(self, length: int) -> PoolLine | None:
        count = -(-length // BLOCK)
        if count > len(self._free):
            return None
        return PoolLine(self, [self._free.pop() for _ in range(count)])

    def release(self, line: PoolLine) -> None:
        self._free += reversed(line.blocks)
        line.blocks = []

    def grow(self, line: PoolLine) -> PoolLine | None:
        if not self._free:
            return None
        line.blocks.append(self._free.pop())
        return line
