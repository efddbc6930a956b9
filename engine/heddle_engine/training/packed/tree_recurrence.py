"""Delta nets over a forest of shared prefixes: a node begins with the state in which its parent ended.

Nodes are cut to as many tokens as the rule computes at a time. Only what they do to a memory waits for their parents:
that is computed level by level, a level being those that stand as far below their roots. All else is computed at once.
A shared prompt is computed once, and its gradient is the sum over its completions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ...model.delta.delta_net import DeltaNet, Stretches
from ...model.delta.delta_rule import CHUNK, Chunks
from ...model.padding import padded_stretches
from .prefix_tree import Forest, Node


class TreeRecurrence:
    """The ``recur`` of a packed row. What it needs of the forest is made when a delta net first asks."""

    def __init__(self, forest: Forest, device: torch.device) -> None:
        self._forest, self._device = forest, device
        self._layout: _Layout | None = None

    def __call__(self, _place: int, net: DeltaNet, tokens: Stretches) -> Tensor:
        if self._layout is None:
            self._layout = _lay_out(self._forest, net.config.kernel, self._device)
        heads, memory = net.config.value_heads, None
        waiting = [iter(chunks) for chunks in self._chunks(net, tokens)]
        outputs: list[list[Tensor]] = [[] for _ in waiting]
        for level in self._layout.levels:
            chunks = next(waiting[level.band])
            if memory is None:
                memory = torch.zeros(len(chunks.kept), *net.config.memory_shape[1:], device=self._device)
            elif level.parents is not None:
                memory = memory.unflatten(0, (-1, heads)).index_select(0, level.parents).flatten(0, 1)
            output, memory = chunks.behind(memory)
            outputs[level.band].append(output)
        padded = (torch.cat(of_band).unflatten(0, (-1, heads)).transpose(1, 2).flatten(0, 1) for of_band in outputs)
        return torch.cat(list(padded)).index_select(0, self._layout.place_of_token)

    def _chunks(self, net: DeltaNet, tokens: Stretches) -> Iterator[list[Chunks]]:
        """The nodes of each band, by level. Tokens are gathered all at once, and so are their gradients."""
        layout, bands = self._layout, self._layout.bands
        # Behind the row stands what is before the first token of a root.
        seen = F.pad(tokens.inputs[0], (0, 0, 0, 1)).index_select(0, layout.seen)
        seen = seen.split([band.nodes * (net.config.kernel - 1 + band.length) for band in bands])
        of_tokens = (x[0].index_select(0, layout.index) for x in (tokens.decay, tokens.strength))
        of_tokens = (x.split([band.nodes * band.length for band in bands]) for x in of_tokens)
        for band, inputs, *others in zip(bands, seen, *of_tokens, strict=True):
            # Padding changes no memory.
            decay, strength = (x.unflatten(0, (band.nodes, -1)) * band.real for x in others)
            q, k, v = net.heads(inputs.unflatten(0, (band.nodes, -1)), band.length)
            parts = (q, k, v, decay.transpose(1, 2), strength.transpose(1, 2))
            chunks = Chunks.of(*(x.flatten(0, 1) for x in parts))
            yield chunks.split([count * net.config.value_heads for count in band.levels])


@dataclass(frozen=True)
class _Level:
    """Nodes that are computed at once, which come next in a ``band``.

    ``parents`` int64 [nodes] in the level above; None where each goes on with the node in the same place, or is a root.
    """

    band: int
    parents: Tensor | None


@dataclass(frozen=True)
class _Band:
    """The levels whose nodes are padded to ``length`` tokens: how many ``nodes`` in all, and in each of ``levels``.

    ``real`` [nodes, length, 1]: which are tokens of a node, which stand first.
    """

    length: int
    nodes: int
    levels: list[int]
    real: Tensor


@dataclass(frozen=True)
class _Layout:
    """Where the tokens of a row stand in the padded nodes of all bands, one band behind the other.

    ``index`` int64 [padded tokens] is the token at each place, and ``seen`` the same with those that the convolution
    sees before each node; the length of the row stands for none. ``place_of_token`` int64 [tokens]: where each stands.
    """

    levels: list[_Level]
    bands: list[_Band]
    index: Tensor
    seen: Tensor
    place_of_token: Tensor


def _lay_out(forest: Forest, kernel: int, device: torch.device) -> _Layout:
    forest = forest.cut(CHUNK)
    by_level, before = _by_level(forest.nodes), _before(forest, kernel)
    # Nodes are padded to a power of two, so that there are few bands.
    lengths = [1 << (max(node.length for node in nodes) - 1).bit_length() for nodes in by_level]
    band_of = {length: band for band, length in enumerate(dict.fromkeys(lengths))}
    place_of_token = np.empty(len(forest.ids), np.int64)
    bands, indices, seen, padded = [], [], [], 0
    for length in band_of:
        levels = [nodes for nodes, own in zip(by_level, lengths, strict=True) if own == length]
        starts, counts = (
            np.array(x) for x in zip(*((n.start, n.length) for nodes in levels for n in nodes), strict=True)
        )
        index, real = padded_stretches(starts, counts, length)
        place_of_token[index[real]] = padded + real.ravel().nonzero()[0]
        padded += index.size
        indices.append(index.ravel())
        seen.append(np.concatenate([before[starts], index], 1).ravel())
        on_device = torch.from_numpy(real)[..., None].to(device)
        bands.append(_Band(length, len(starts), [len(nodes) for nodes in levels], on_device))
    flat = (torch.from_numpy(x).to(device) for x in (np.concatenate(indices), np.concatenate(seen), place_of_token))
    parents = [None, *(_parents(above, nodes, device) for above, nodes in pairwise(by_level))]
    levels = [_Level(band_of[length], above) for length, above in zip(lengths, parents, strict=True)]
    return _Layout(levels, bands, *flat)


def _by_level(nodes: list[Node]) -> list[list[Node]]:
    levels: list[list[Node]] = []
    depth_of: dict[int, int] = {}
    for node in nodes:
        depth = depth_of[id(node)] = depth_of.get(id(node.parent), -1) + 1
        if depth == len(levels):
            levels.append([])
        levels[depth].append(node)
    return levels


def _before(forest: Forest, kernel: int) -> np.ndarray:
    """int64 [N, kernel - 1]: the tokens before each in its sequence, the nearest last; N for none."""
    row = len(forest.ids)
    # The one before each; of none that is none.
    nearest = np.append(np.arange(-1, row - 1), row)
    for node in forest.nodes:
        above = node.parent
        nearest[node.start] = row if above is None else above.start + above.length - 1
    steps = [nearest]
    for _ in range(kernel - 2):
        steps.append(nearest[steps[-1]])
    return np.stack(steps[::-1], 1)[:row]


def _parents(above: list[Node], nodes: list[Node], device: torch.device) -> Tensor | None:
    place_of = {id(node): place for place, node in enumerate(above)}
    places = [place_of[id(node.parent)] for node in nodes]
    return None if places == list(range(len(above))) else torch.tensor(places, device=device)
