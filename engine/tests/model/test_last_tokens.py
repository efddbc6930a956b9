"""The last token of each line sees the keys that it may, by torch's kernel and by products."""

import pytest
import torch

from heddle_engine.model.attention.last_tokens import attend_last

LENGTHS = [300, 7, 256, 1]
"""Keys that each line may see of `CAPACITY`."""
CAPACITY = 320


def by_hand(q, k, v):
    """q [K, G, D], k and v [S, K, D] of one line, in fp64."""
    q, k, v = (x.double() for x in (q, k, v))
    shares = torch.einsum("kgd,skd->kgs", q, k).div(q.shape[-1] ** 0.5).softmax(-1)
    return torch.einsum("kgs,skd->kgd", shares, v)


# The last two are computed by products: their keys are 2.6 and 1.3 million numbers.
@pytest.mark.parametrize(("heads", "group", "dim"), [(2, 3, 16), (8, 3, 256), (16, 1, 64)])
def test_each_line_sees_its_own_keys_alone(heads, group, dim):
    torch.manual_seed(0)
    # Heads of a line lie side by side in memory, its tokens are the first of a longer stretch.
    k, v = torch.randn(2, len(LENGTHS), heads, CAPACITY + 64, dim)[..., :CAPACITY, :]
    q = torch.randn(len(LENGTHS), heads, group, dim)
    bias = torch.zeros(len(LENGTHS), 1, 1, CAPACITY)
    for line, length in enumerate(LENGTHS):
        bias[line, ..., length:] = -torch.inf
        k[line, :, length:] = 1e4  # would be seen by far the most
    attended = attend_last(q, k, v, bias)
    for line, length in enumerate(LENGTHS):
        keys, values = (x[line, :, :length].transpose(0, 1) for x in (k, v))
        torch.testing.assert_close(attended[line], by_hand(q[line], keys, values).float())


def test_scores_of_a_bf16_model_are_not_rounded():
    """bf16 has 8 bits: a score of 30 rounded to it is off by up to 0.06, and its share by 6 %."""
    torch.manual_seed(0)
    q = torch.randn(1, 8, 1, 128).bfloat16() * 10
    k, v = torch.randn(2, 1, 8, 1024, 128).bfloat16()
    attended = attend_last(q, k, v, torch.zeros(1, 1, 1, 1024, dtype=torch.bfloat16))
    exact = by_hand(q[0], k[0].transpose(0, 1), v[0].transpose(0, 1))
    # What is left is the rounding of shares and of the answer.
    assert (attended[0].double() - exact).abs().max() < 0.02
