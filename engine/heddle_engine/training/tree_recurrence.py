"""Delta nets over a forest of shared prefixes: a node begins with the state in which its parent ended.

Nodes are cut to as many tokens as the rule computes at a time. Those that stand as far below their roots are one
level, which is computed at once, padded to the longest of them. So a shared prompt is computed once, and its
gradient is the sum over its completions.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from ..model.delta_net import CHUNK, DeltaNet, DeltaState, Stretches
from .prefix_tree import Forest, Node


@dataclass(frozen=True)
class _Level:
    """Places ``index`` [B, T] in the row, of which those that are ``real`` [B, T] stand first in each of B nodes.

    ``lengths`` [B] of the nodes, None where nothing is padded; ``parents`` [B] in the level above, None at the top.
    """

    index: Tensor
    real: Tensor
    lengths: Tensor | None
    parents: Tensor | None


class TreeRecurrence:
    """The ``recur`` of a packed row. What it needs of the forest is made when a delta net first asks."""

    def __init__(self, forest: Forest, device: torch.device) -> None:
        self._forest, self._device = forest, device

    def __call__(self, _place: int, net: DeltaNet, tokens: Stretches) -> Tensor:
        outputs, state = [], None
        for level, part in zip(self._levels, self._by_level(tokens), strict=True):
            if state is None or level.parents is None:
                inputs = part.inputs
                begun = DeltaState.zeros(net.config, len(inputs), device=inputs.device, dtype=inputs.dtype)
            else:
                begun = state[level.parents]
            out, state = net.advance(part, begun, level.lengths)
            outputs.append(out.flatten(0, 1))
        return torch.cat(outputs).index_select(0, self._place_of_token)

    def _by_level(self, tokens: Stretches) -> list[Stretches]:
        """The tokens of each level, padded, gathered all at once: so are their gradients."""
        flat = (x[0].index_select(0, self._index) for x in (tokens.inputs, tokens.decay, tokens.strength))
        by_level = zip(*(x.split([level.index.numel() for level in self._levels]) for x in flat), strict=True)
        return [
            Stretches(*(x.unflatten(0, level.index.shape) for x in part))
            for level, part in zip(self._levels, by_level, strict=True)
        ]

    @cached_property
    def _levels(self) -> list[_Level]:
        levels: list[list[Node]] = []
        depth_of: dict[int, int] = {}
        for node in self._forest.cut(CHUNK).nodes:
            depth = depth_of[id(node)] = depth_of.get(id(node.parent), -1) + 1
            if depth == len(levels):
                levels.append([])
            levels[depth].append(node)
        return [_level(nodes, above, self._device) for above, nodes in zip([[], *levels], levels, strict=False)]

    @cached_property
    def _index(self) -> Tensor:
        """The token at each place of the padded levels, one level after the other."""
        return torch.cat([level.index.flatten() for level in self._levels])

    @cached_property
    def _place_of_token(self) -> Tensor:
        """The place of each token of the row in the padded levels."""
        real = torch.cat([level.real.flatten() for level in self._levels]).nonzero()[:, 0]
        return real[self._index[real].argsort()]


def _level(nodes: list[Node], above: list[Node], device: torch.device) -> _Level:
    starts, lengths = (
        torch.tensor(x)[:, None] for x in zip(*((node.start, node.length) for node in nodes), strict=True)
    )
    longest = int(lengths.max())
    t = torch.arange(longest)
    # Padding repeats the last token of its node, and changes no state (`DeltaNet.advance`).
    index = starts + torch.minimum(t, lengths - 1)
    place_of = {id(node): place for place, node in enumerate(above)}
    return _Level(
        index.to(device),
        (t < lengths).to(device),
        lengths[:, 0].to(device) if (lengths < longest).any() else None,
        torch.tensor([place_of[id(node.parent)] for node in nodes], device=device) if above else None,
    )
