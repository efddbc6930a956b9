"""Keys and values of earlier sequences, reused by prompts that begin with the same tokens.

Sequences are paths of a tree whose nodes are blocks of tokens, so what they share is held once (as in
RadixAttention, arXiv:2312.07104). The block that was used longest ago goes first, and none was used longer ago
than a block behind it: a system prompt outlives the conversations that began with it. Each namespace (adapter
key, cache salt) has a tree of its own, so other weights or another tenant never share (engine 4.5,
inference-api 11.4).
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import islice

import torch
from torch import Tensor

from ..model.decoder import Decoder
from ..model.delta.delta_net import DeltaState
from ..pages import untouched_zeros

BLOCK = 16
_SHARE_OF_ONE = 2
"""A sequence may take one part in so many of the cache: a very long one must not displace everything else."""
_MOST_COMPARED = 64
"""Continuations that are compared token by token; they can save a prompt less than a block."""

Namespace = tuple[str, str]


@dataclass(eq=False)
class Block:
    """Up to `BLOCK` tokens `ids` behind those of `parent`, kept in place `slot`; a root has neither.

    `hidden` [hidden] is that of the last token where a prompt ends with this block. `state`: what
    the delta nets of a model that has them remember where a sequence ends with this block.
    """

    ids: tuple[int, ...]
    slot: int
    parent: "Block | None"
    children: dict[tuple[int, ...], "Block"] = field(default_factory=dict)
    hidden: Tensor | None = None
    state: DeltaState | None = None


@dataclass(frozen=True)
class Hit:
    """The first `length` tokens of a prompt are in `path`; `hidden` is there when that is the whole prompt.

    `state` is what the delta nets of a model that has them remember of these tokens.
    """

    path: list[Block]
    length: int
    hidden: Tensor | None
    state: DeltaState | None = None


class PrefixCache:
    """At most `limit` bytes."""

    def __init__(self, decoder: Decoder, limit: int):
        config = decoder.config
        self.block_bytes = BLOCK * decoder.kv_token_bytes + config.hidden_size * decoder.dtype.itemsize
        # Of a model with delta nets states may take a half.
        self.state_bytes = decoder.state_bytes
        self._most_states = limit // 2 // self.state_bytes if self.state_bytes else 0
        self._num_slots = (limit - self._most_states * self.state_bytes) // self.block_bytes
        shape = (self._num_slots, len(config.attention_layers), 2, config.num_kv_heads, BLOCK, config.head_dim)
        self._data = untouched_zeros(shape, decoder.dtype, decoder.device)
        self._free = list(range(self._num_slots))[::-1]
        self._roots: dict[Namespace, Block] = {}
        # Least recently used first; a block always stands behind its children.
        self._used: OrderedDict[Block, Namespace] = OrderedDict()
        # Blocks with a state, that used longest ago first.
        self._states: OrderedDict[Block, None] = OrderedDict()

    @property
    def bytes(self) -> int:
        return len(self._used) * self.block_bytes + len(self._states) * self.state_bytes

    def find(self, namespace: Namespace, ids: list[int]) -> Hit | None:
        """The longest reusable prefix; one token is always left to compute unless its hidden state is known."""
        root = self._roots.get(namespace)
        if root is None:
            return None
        path = _walk(root, ids)
        last, known = path[-1] if path else root, len(path) * BLOCK
        rest = tuple(ids[known : known + BLOCK])
        if self.state_bytes:
            shorter = (last.children.get(rest[:count]) for count in range(len(rest), 0, -1))
            return self._find_state(path, list(filter(None, shorter)), len(ids))
        end = last.children.get(rest) if rest else last
        if end is not None and end.hidden is not None and known + len(rest) == len(ids):
            return self._hit([*path, end] if rest else path, len(ids), end.hidden)
        nearest, common = _nearest(last, rest)
        if nearest is not None:
            path.append(nearest)
        length = min(known + common, len(ids) - 1)
        return self._hit(path[: -(-length // BLOCK)], length, None) if length else None

    def _find_state(self, path: list[Block], behind: list[Block], length: int) -> Hit | None:
        """The longest prefix of `length` tokens at whose end a state is kept, which cannot be cut.

        It ends with one of the short blocks `behind` the whole ones of `path`, longest first, or with one of these.
        """
        known = len(path) * BLOCK
        ends = [(len(path), block, known + len(block.ids)) for block in behind]
        ends += [(place, path[place], (place + 1) * BLOCK) for place in reversed(range(len(path)))]
        for before, end, found in ends:
            if end.state is not None and (found < length or end.hidden is not None):
                self._states.move_to_end(end)
                return self._hit([*path[:before], end], found, end.hidden if found == length else None)
        return None

    def _hit(self, path: list[Block], length: int, hidden: Tensor | None) -> Hit:
        self._touch(path)
        return Hit(path, length, hidden, path[-1].state)

    def read(self, hit: Hit) -> Tensor:
        """What was hit, [layers, 2, kv_heads, length, D]."""
        slots = torch.tensor([block.slot for block in hit.path], device=self._data.device)
        blocks = self._data[slots].permute(1, 2, 3, 0, 4, 5).flatten(3, 4)
        return blocks[:, :, :, : hit.length]

    def store(
        self,
        namespace: Namespace,
        ids: list[int],
        kv: Tensor,
        hidden: Tensor | None,
        state: DeltaState | None = None,
    ) -> None:
        """Keep `kv` [layers, 2, kv_heads, tokens, D] of the sequence `ids`, and `hidden` when it is a prompt.

        `state` is what delta nets remember of it.

        Only blocks that are not there yet are copied; a sequence of less than a block is not kept.
        """
        if len(ids) < BLOCK:
            return
        ids = ids[: self._num_slots // _SHARE_OF_ONE * BLOCK]
        root = self._roots.get(namespace) or Block((), -1, None)
        path = _walk(root, ids)
        known = len(path)
        self._touch(path)
        self._extend(namespace, path, path[-1] if path else root, ids, hidden)
        if not path:
            return
        self._roots[namespace] = root
        if hidden is not None and len(ids) == kv.shape[3]:
            path[-1].hidden = hidden.clone()
        if state is not None and sum(len(block.ids) for block in path) == kv.shape[3]:
            self._keep_state(path[-1], state)
        self._write(path[known:], kv[:, :, :, known * BLOCK : len(ids)])
        self._touch(path)

    def _extend(
        self, namespace: Namespace, path: list[Block], last: Block, ids: list[int], hidden: Tensor | None
    ) -> None:
        """Add the blocks of `ids` that are missing behind `last` to the tree and to `path`."""
        for start in range(len(path) * BLOCK, len(ids), BLOCK):
            chunk = tuple(ids[start : start + BLOCK])
            if chunk in last.children:
                path.append(last.children[chunk])
                return  # the end of an earlier prompt; only the last block can be short
            if hidden is None and _is_begun(last, chunk):
                return
            slot = self._outgrown(last, chunk)
            block = Block(chunk, self._take_slot() if slot is None else slot, last)
            last.children[chunk] = block
            self._used[block] = namespace
            path.append(block)
            last = block

    def _keep_state(self, block: Block, state: DeltaState) -> None:
        """The state that was used longest ago goes where there are too many."""
        if not self._most_states:
            return
        if block not in self._states and len(self._states) == self._most_states:
            oldest, _ = self._states.popitem(last=False)
            oldest.state = None
        block.state = state.clone()
        self._states[block] = None
        self._states.move_to_end(block)

    def _outgrown(self, last: Block, chunk: tuple[int, ...]) -> int | None:
        """The slot of a short block that `chunk` continues, unless it is the end of a prompt; the block goes."""
        for length in range(len(chunk) - 1, 0, -1):
            block = last.children.get(chunk[:length])
            if block is not None and block.hidden is None and block.state is None:
                del last.children[block.ids]
                del self._used[block]
                return block.slot
        return None

    def _take_slot(self) -> int:
        if not self._free:
            block, namespace = self._used.popitem(last=False)
            self._free.append(block.slot)
            self._states.pop(block, None)
            del block.parent.children[block.ids]
            if not self._roots[namespace].children:
                del self._roots[namespace]
        return self._free.pop()

    def _write(self, blocks: list[Block], kv: Tensor) -> None:
        """Copy kv [layers, 2, kv_heads, tokens, D] into consecutive blocks of which the last may be short."""
        whole = kv.shape[3] // BLOCK
        if whole and blocks:
            slots = torch.tensor([block.slot for block in blocks[:whole]], device=self._data.device)
            split = kv[:, :, :, : len(slots) * BLOCK].unflatten(3, (-1, BLOCK))
            self._data.index_copy_(0, slots, split.permute(3, 0, 1, 2, 4, 5))
        for block in blocks[whole:]:
            self._data[block.slot, :, :, :, : len(block.ids)] = kv[:, :, :, whole * BLOCK :]

    def _touch(self, path: list[Block]) -> None:
        for block in reversed(path):
            self._used.move_to_end(block)


def _walk(root: Block, ids: list[int]) -> list[Block]:
    """The whole blocks of `ids` that are there, from the root on."""
    path, last = [], root
    for start in range(0, len(ids) - BLOCK + 1, BLOCK):
        last = last.children.get(tuple(ids[start : start + BLOCK]))
        if last is None:
            break
        path.append(last)
    return path


def _nearest(last: Block, rest: tuple[int, ...]) -> tuple[Block | None, int]:
    """The block behind `last` that shares most tokens with `rest`, the shortest of several, and how many it shares."""
    nearest, common = None, 0
    for block in islice(reversed(last.children.values()), _MOST_COMPARED):
        ids = block.ids
        # Whole slices are compared first: most blocks are not nearer, and a loop in Python would be most of the cost.
        if ids[:common] != rest[:common]:
            continue
        shared = common
        while ids[shared : shared + 1] == rest[shared : shared + 1] != ():
            shared += 1
        if shared > common or (nearest is not None and len(ids) < len(nearest.ids)):
            nearest, common = block, shared
    return nearest, common


def _is_begun(last: Block, chunk: tuple[int, ...]) -> bool:
    """Whether a longer block behind `last` begins with the tokens of `chunk`."""
    if len(chunk) == BLOCK:
        return False
    newest = islice(reversed(last.children.values()), _MOST_COMPARED)
    return any(block.ids[: len(chunk)] == chunk for block in newest)
