"""Delta nets over shared prefixes give each sequence what it has alone, and its share of the gradient."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from heddle_engine.model.delta.delta_net import DeltaState, Stretches
from heddle_engine.training.packed.prefix_tree import build_forest
from heddle_engine.training.packed.tree_recurrence import TreeRecurrence
from tests.model.test_decoder import load
from tests.training.builders import random_group, sequence

CPU = torch.device("cpu")


def trees():
    """Shared prefixes of unlike lengths, nodes of one and two tokens among them, and one behind the other."""
    g = np.random.default_rng(3)
    first = random_group(g, 320, 129, [1, 2, 70, 9, 64], group=0)
    longer = [sequence([*first[2].ids[:150], *g.integers(0, 320, length)], 150, 0) for length in (1, 2, 66)]
    return [*first, *longer, *random_group(g, 320, 16, [1, 1, 3], group=1), *random_group(g, 320, 2, [], group=2)]


def singles():
    g = np.random.default_rng(4)
    return [sequence(g.integers(0, 320, length), 1) for length in (2, 3, 64, 65, 200)]


def fork():
    """Two nodes, of which one has two children and the other none."""
    g = np.random.default_rng(5)
    return [*random_group(g, 320, 64, [5, 7]), sequence(g.integers(0, 320, 60), 1)]


@pytest.mark.parametrize("kernel", [4, 2])
@pytest.mark.parametrize("make", [trees, singles, fork])
def test_each_sequence_has_what_it_has_alone(make, kernel, model_folders):
    net = load(model_folders("qwen3_5")).layers[0].delta
    net = replace(net, config=replace(net.config, kernel=kernel), conv=net.conv[:, -kernel:].contiguous())
    forest = build_forest(make())
    row, heads = len(forest.ids), net.config.value_heads
    source = torch.Generator().manual_seed(1)
    inputs, decay, strength, grad = (
        torch.randn(row, *shape, generator=source)
        for shape in ((net.config.channels,), (heads,), (heads,), (heads, net.config.value_dim))
    )
    leaves = [x.requires_grad_() for x in (inputs, -decay.abs(), strength.sigmoid())]

    def alone():
        out = torch.zeros(row, heads, net.config.value_dim)
        for places in map(torch.from_numpy, forest.places):
            begun = DeltaState.zeros(net.config, 1, device=CPU, dtype=torch.float32)
            own, _ = net.advance(Stretches(*(x[None, places] for x in leaves)), begun)
            # A token that sequences share is the same in each.
            out = out.index_copy(0, places, own[0])
        return out

    recur = TreeRecurrence(forest, CPU)
    together = recur(0, net, Stretches(*(x[None] for x in leaves)))
    found = [together, *torch.autograd.grad(together, leaves, grad)]
    apart = alone()
    for one, other in zip(found, [apart, *torch.autograd.grad(apart, leaves, grad)], strict=True):
        torch.testing.assert_close(one, other, atol=2e-5, rtol=1e-5)
    assert len(recur._layout.bands) > 1
