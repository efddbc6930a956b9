"""Delta nets: chunks give what the rule gives token by token, and a stretch goes on where the one before it ended."""

import torch

from heddle_engine.model.delta.delta_net import DeltaState, Stretches
from heddle_engine.model.delta.delta_rule import delta_rule, delta_step
from tests.model.test_decoder import load, whole_sequence


def by_token(q, k, v, decay, strength, memory):
    outputs = []
    for t in range(q.shape[2]):
        memory = memory * decay[:, :, t].exp()[..., None, None]
        key = k[:, :, t, :, None]
        wanted = strength[:, :, t, None, None] * (v[:, :, t, None] - key.mT @ memory)
        memory = memory + key @ wanted
        outputs.append(q[:, :, t, None] @ memory)
    return torch.cat(outputs, 2), memory


def test_chunks_give_what_the_rule_gives_token_by_token():
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 3, 150, size) for size in (8, 8, 6))
    inputs = (q, torch.nn.functional.normalize(k, dim=-1), v, -torch.rand(2, 3, 150), torch.rand(2, 3, 150))
    memory = torch.randn(2, 3, 8, 6)
    for actual, expected in zip(delta_rule(*inputs, memory), by_token(*inputs, memory), strict=True):
        torch.testing.assert_close(actual, expected, atol=1e-4, rtol=1e-4)


def test_a_step_in_place_gives_what_the_rule_gives():
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 3, 1, size) for size in (8, 8, 6))
    inputs = (q, torch.nn.functional.normalize(k, dim=-1), v, -torch.rand(2, 3, 1), torch.rand(2, 3, 1))
    memory = torch.randn(2, 3, 8, 6)
    expected, behind = by_token(*inputs, memory)
    torch.testing.assert_close(delta_step(*inputs, memory), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(memory, behind, atol=1e-5, rtol=1e-5)


def test_what_decays_by_much_keeps_its_digits():
    """Log decays of a chunk add up to about -300 here; the difference of two such sums in 32 bits is off by 3e-5."""
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 2, 64, 8, dtype=torch.float64) for _ in range(3))
    decay = -20 * torch.rand(1, 2, 64, dtype=torch.float64).square() * (torch.rand(1, 2, 64) < 0.7)
    inputs = (q, torch.nn.functional.normalize(k, dim=-1), v, decay, torch.rand(1, 2, 64, dtype=torch.float64))
    memory = torch.randn(1, 2, 8, 8, dtype=torch.float64)
    exact = by_token(*inputs, memory)[0]
    found = delta_rule(*(x.float() for x in (*inputs, memory)))[0]
    assert (found - exact).norm() / exact.norm() < 1e-6


def test_padded_stretches_end_in_the_state_of_their_real_tokens(model_folders):
    net = load(model_folders("qwen3_5")).layers[0].delta
    channels, heads = net.config.channels, net.config.value_heads
    torch.manual_seed(0)
    tokens = Stretches(torch.randn(1, 90, channels), -torch.rand(1, 90, heads), torch.rand(1, 90, heads))
    begun = DeltaState.zeros(net.config, 1, device=tokens.inputs.device, dtype=torch.float32)
    whole, expected = whole_sequence(0, net, tokens), net.advance(tokens, begun)[1]
    for count in (1, 2, 70):
        # All tokens are given, of which the last are called padding.
        first, state = net.advance(tokens, begun, torch.tensor([count]))
        rest = Stretches(*(x[:, count:] for x in (tokens.inputs, tokens.decay, tokens.strength)))
        second, ended = net.advance(rest, state)
        torch.testing.assert_close(torch.cat([first[0, :count], second[0]]), whole, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(ended.memory, expected.memory, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(ended.inputs, expected.inputs)
