"""What the delta nets of a model remember of the sequences that are served: a state of fixed size for each."""

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from ..model.decoder import Decoder
from ..model.delta.delta_net import DeltaNet, DeltaState, Stretches
from ..model.delta.delta_rule import CHUNK
from ..model.padding import padded_stretches
from .kv_lines import KvLine


def begun_state(decoder: Decoder) -> DeltaState | None:
    """The state of a sequence without a token, [delta layers, ...]; None of a model without delta nets."""
    config = decoder.config
    if config.delta is None:
        return None
    return DeltaState.zeros(config.delta, config.num_delta_layers, device=decoder.device, dtype=decoder.dtype)


def advance_line(line: KvLine, place: int, net: DeltaNet, tokens: Stretches) -> Tensor:
    """Outputs [N, value heads, value dim] of the tokens that follow in the sequence of `line`."""
    before = line.state[place]
    out, after = net.advance(tokens, before[None])
    before.copy_(after[0])
    return out[0]


class RowStates:
    """The states of rows that decode together, [delta layers, rows, ...], of which the lines have views."""

    def __init__(self, lines: list[KvLine]):
        self._all = DeltaState.stacked([line.state for line in lines], 1)
        for row, line in enumerate(lines):
            line.state = self._all[:, row]

    def recur(self, place: int, net: DeltaNet, tokens: Stretches) -> Tensor:
        """One token for each row."""
        return net.step(tokens.one_by_one(), self._all[place])[:, 0]


@dataclass(frozen=True)
class _Group:
    """B sequences of like lengths, up to T tokens: `slots` int64 [B], and the token at each place, `index` [B, T].

    `lengths` [B], None where nothing is padded.
    """

    slots: Tensor
    index: Tensor
    lengths: Tensor | None


class SlotStretches:
    """Stretches of sequences whose states are in slots, one stretch behind the other.

    Those of like lengths are computed together, padded to the longest, so that at most half of a group is padding or
    all of it is as short as a chunk of the rule.
    """

    def __init__(self, states: DeltaState, counted: list[tuple[int, int]], device: torch.device):
        """`states` [delta layers, slots, ...]; `counted`: the slot of each sequence and the number of its tokens."""
        self._states = states
        starts = [0, *accumulate(count for _, count in counted)]
        order = sorted(range(len(counted)), key=lambda number: -counted[number][1])
        place_of_token = np.empty(starts[-1], np.int64)
        self._groups: list[_Group] = []
        padded = 0
        for members in _alike(order, [count for _, count in counted]):
            slots, counts = (np.array(each) for each in zip(*(counted[number] for number in members), strict=True))
            # What is padding changes no state (`DeltaNet.advance`).
            index, real = padded_stretches(np.array([starts[number] for number in members]), counts, counts.max())
            place_of_token[index[real]] = padded + real.ravel().nonzero()[0]
            padded += index.size
            slots, index, counts = (torch.from_numpy(each).to(device) for each in (slots, index, counts))
            self._groups.append(_Group(slots, index, None if real.all() else counts))
        self._place_of_token = torch.from_numpy(place_of_token).to(device)

    def recur(self, place: int, net: DeltaNet, tokens: Stretches) -> Tensor:
        states, outputs = self._states[place], []
        for group in self._groups:
            part = Stretches(*(x[0][group.index] for x in (tokens.inputs, tokens.decay, tokens.strength)))
            out, behind = net.advance(part, states[group.slots], group.lengths)
            states.put(group.slots, behind)
            outputs.append(out.flatten(0, 1))
        return torch.cat(outputs).index_select(0, self._place_of_token)


def _alike(falling: list[int], counts: list[int]) -> list[list[int]]:
    """Sequences, in order of falling `counts`, in groups."""
    groups: list[list[int]] = []
    for number in falling:
        longest = counts[groups[-1][0]] if groups else 0
        if not groups or (longest > CHUNK and 2 * counts[number] < longest):
            groups.append([])
        groups[-1].append(number)
    return groups
