"""Keys and values of earlier sequences, reused by prompts that begin with the same tokens.

Entries live in one namespace per (adapter key, cache salt), so other weights or another tenant never
share (engine 4.5, inference-api 11.4). Lookup follows a chain of block hashes, as vLLM's prefix cache.
"""

from collections import OrderedDict
from dataclasses import dataclass

from torch import Tensor

BLOCK = 16

Namespace = tuple[str, str]


@dataclass(eq=False)
class Entry:
    """`kv` [layers, 2, kv_heads, tokens, D]; `hidden` [hidden] of the last token when it is a whole prompt."""

    namespace: Namespace
    ids: tuple[int, ...]
    kv: Tensor
    hidden: Tensor | None
    chain: list[int]

    @property
    def bytes(self) -> int:
        return self.kv.nbytes + (self.hidden.nbytes if self.hidden is not None else 0)


@dataclass(frozen=True)
class Hit:
    """`length` leading tokens of the prompt are in `entry`."""

    entry: Entry
    length: int

    @property
    def hidden(self) -> Tensor | None:
        """Hidden state of the prompt's last token, when the hit is the whole prompt."""
        return self.entry.hidden if self.length == len(self.entry.ids) else None


class PrefixCache:
    """At most `limit` bytes; the least recently used entry goes first."""

    def __init__(self, limit: int):
        self._limit, self._bytes = limit, 0
        self._entries: OrderedDict[int, Entry] = OrderedDict()
        self._by_hash: dict[int, Entry] = {}
        self._prompts: dict[tuple[Namespace, tuple[int, ...]], Entry] = {}

    def find(self, namespace: Namespace, ids: list[int]) -> Hit | None:
        """The longest reusable prefix; one token is always left to compute unless the hit has its hidden state."""
        if prompt := self._prompts.get((namespace, tuple(ids))):
            self._entries.move_to_end(id(prompt))
            return Hit(prompt, len(ids))
        entry = None
        for link in _chain(namespace, ids):
            if link not in self._by_hash:
                break
            entry = self._by_hash[link]
        if entry is None or entry.namespace != namespace:
            return None
        self._entries.move_to_end(id(entry))
        length = min(_common_length(entry.ids, ids), len(ids) - 1)
        return Hit(entry, length) if length else None

    def store(self, namespace: Namespace, ids: list[int], kv: Tensor, hidden: Tensor | None) -> None:
        """Keep copies of `kv` and `hidden` for the sequence `ids`, when it has at least one block."""
        chain = list(_chain(namespace, ids))
        if not chain:
            return
        entry = Entry(namespace, tuple(ids), kv.clone(), None if hidden is None else hidden.clone(), chain)
        self._entries[id(entry)] = entry
        self._by_hash.update(dict.fromkeys(chain, entry))
        if hidden is not None:
            self._prompts[namespace, entry.ids] = entry
        self._bytes += entry.bytes
        while self._bytes > self._limit and self._entries:
            self._drop()

    def _drop(self) -> None:
        _, entry = self._entries.popitem(last=False)
        self._bytes -= entry.bytes
        if self._prompts.get((entry.namespace, entry.ids)) is entry:
            del self._prompts[entry.namespace, entry.ids]
        for link in entry.chain:
            if self._by_hash.get(link) is entry:
                del self._by_hash[link]


def _chain(namespace: Namespace, ids: list[int]):
    """Hash after each whole block. Hashes only propose an entry; its tokens and namespace decide."""
    link = hash(namespace)
    for start in range(0, len(ids) - BLOCK + 1, BLOCK):
        link = hash((link, tuple(ids[start : start + BLOCK])))
        yield link


def _common_length(a: tuple[int, ...], b: list[int]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
