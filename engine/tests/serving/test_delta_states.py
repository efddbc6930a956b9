"""States in slots: prompts of unlike lengths that are read together leave each what it leaves alone."""

import pytest
import torch

from heddle_engine.model.delta.delta_net import DeltaState, Stretches
from heddle_engine.serving.delta_states import SlotStretches
from tests.model.test_decoder import load

CPU = torch.device("cpu")
SLOTS = 12


@pytest.fixture(scope="module")
def net(model_folders):
    return load(model_folders("qwen3_5")).layers[0].delta


def states_of(net):
    source = torch.Generator().manual_seed(1)
    config, leading = net.config, (2, SLOTS)
    memory, inputs = (
        torch.randn(*leading, *shape, generator=source) for shape in (config.memory_shape, config.inputs_shape)
    )
    return DeltaState(memory, inputs)


def tokens_of(net, count):
    source = torch.Generator().manual_seed(2)
    heads = net.config.value_heads
    inputs, decay, strength = (
        torch.randn(1, count, width, generator=source) for width in (net.config.channels, heads, heads)
    )
    return Stretches(inputs, -decay.abs(), strength.sigmoid())


@pytest.mark.parametrize(
    ("counts", "groups"),
    [
        ([1], 1),
        ([300], 1),
        ([70, 70], 1),
        ([1, 64, 3, 33], 1),
        ([1, 300, 65, 64, 130, 2, 151, 149, 40], 4),
    ],
)
def test_stretches_of_unlike_lengths_go_on_from_their_states(counts, groups, net):
    slots = torch.randperm(SLOTS, generator=torch.Generator().manual_seed(3))[: len(counts)].tolist()
    tokens, states, before = tokens_of(net, sum(counts)), states_of(net), states_of(net)
    together = SlotStretches(states, list(zip(slots, counts, strict=True)), CPU)
    assert len(together._groups) == groups
    out = together.recur(1, net, tokens)
    start = 0
    for slot, count in zip(slots, counts, strict=True):
        own = Stretches(*(x[:, start : start + count] for x in (tokens.inputs, tokens.decay, tokens.strength)))
        expected, behind = net.advance(own, before[1, slot][None])
        torch.testing.assert_close(out[start : start + count], expected[0], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(states.memory[1, slot], behind.memory[0], atol=1e-5, rtol=1e-5)
        assert torch.equal(states.inputs[1, slot], behind.inputs[0])
        start += count
    others = [slot for slot in range(SLOTS) if slot not in slots]
    assert torch.equal(states.memory[1, others], before.memory[1, others])
    assert torch.equal(states.memory[0], before.memory[0])
