"""Attention over a forest of shared prefixes on a GPU, in layers with a sliding window.

All nodes are the stretches of one call, each with the keys that its window reaches before it, which are copied. A
kernel has one window for all stretches, so the parts of `flash_tree_attention`, each at a distance of its own from its
keys, cannot be told apart.
"""

import numpy as np
import torch
from torch import Tensor

from ...model.attention.varlen import Stretches
from .flash_tree_attention import FLASH, Kernel, attend_tree, bounds
from .prefix_tree import Forest


class FlashWindowAttention:
    def __init__(self, forest: Forest, device: torch.device, window: int, kernel: Kernel = FLASH) -> None:
        self.kernel = kernel
        seen = _seen_by_node(forest, window)
        queries, longest_query = bounds([node.length for node in forest.nodes], device)
        keys, longest_keys = bounds([len(places) for places in seen], device)
        self.nodes = Stretches(queries, keys, longest_query, longest_keys, causal=True, window=window)
        self.generations = []
        self._seen = torch.from_numpy(np.concatenate(seen)).to(device)

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor, sinks: Tensor | None = None) -> Tensor:
        return attend_tree(q, k.index_select(0, self._seen), v.index_select(0, self._seen), sinks, self)


def _seen_by_node(forest: Forest, window: int) -> list[np.ndarray]:
    """The places of each node's tokens, behind those of the ``window - 1`` tokens before them in their sequence."""
    before: dict[int, np.ndarray] = {}
    seen = []
    for node in forest.nodes:
        above = before.get(id(node.parent), np.zeros(0, np.int64))
        whole = np.concatenate([above, np.arange(node.start, node.start + node.length)])
        before[id(node)] = whole[max(0, len(whole) - (window - 1)) :]
        seen.append(whole)
    return seen
