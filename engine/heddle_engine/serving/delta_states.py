"""What the delta nets of a model remember of the sequences that are served: a state of fixed size for each."""

from torch import Tensor

from ..model.decoder import Decoder
from ..model.delta_net import DeltaNet, DeltaState, Stretches
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
        rows = Stretches(*(x.transpose(0, 1) for x in (tokens.inputs, tokens.decay, tokens.strength)))
        return net.step(rows, self._all[place])[:, 0]
