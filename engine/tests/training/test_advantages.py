"""Advantages, weights and their normalisation equal values computed by hand (training-api 7.2)."""

import pytest

from heddle_engine.training.loss.advantages import group_advantages, normalize, trajectory_weight
from tests.training.builders import sequence


def test_advantages_are_centred_and_scaled_by_the_population_deviation():
    # mean 0.25; population std = sqrt(3/16) = 0.4330127
    assert group_advantages([1, 0, 0, 0], scale=True).tolist() == pytest.approx([1.732047, -0.577349] + [-0.577349] * 2)
    assert group_advantages([1, 0, 0, 0], scale=False).tolist() == [0.75, -0.25, -0.25, -0.25]


@pytest.mark.parametrize("rewards", [[0.3], [0.1, 0.1, 0.1], [1e-9] * 7, [0.1 + 0.2, 0.3], [0.0, 0.0], []])
def test_groups_without_contrast_give_exact_zeros(rewards):
    """engine 4.5: of one-element groups, and of equal rewards, whose rounding noise the deviation would blow up."""
    for scale in (True, False):
        assert group_advantages(rewards, scale).tolist() == [0.0] * len(rewards)


def test_a_trajectory_weighs_the_same_however_long():
    short = [sequence([1, 2, 3, 4], 2)]
    long = [sequence(range(10), 2), sequence(range(10), 8)]
    assert trajectory_weight(short) == pytest.approx(1 / 2.000001)
    assert trajectory_weight(long) == pytest.approx(1 / 10.000001)


def test_normalisation_over_the_jobs_trained_tokens():
    """Tokens 1 and 3, w = (1, 1/3): mean w = 0.5, so w = (2, 2/3). mean(|A| w) = (1*2*1 + 2*(2/3)*3) / 4 = 1.5."""
    a = sequence([0, 1], 1, advantage=1.0, weight=1.0)
    b = sequence([0, 1, 2, 3], 1, advantage=-2.0, weight=1 / 3)
    normalize([a, b], balance=0.0)
    assert (a.weight, b.weight) == pytest.approx((2.0, 2 / 3))
    assert (a.advantage, b.advantage) == pytest.approx((1 / 1.5, -2 / 1.5))


@pytest.mark.parametrize(("balance", "expected"), [(0.5, (4 / 3, -2 / 3)), (-0.5, (2 / 3, -4 / 3)), (1.0, (2.0, 0.0))])
def test_balance_damps_one_sign_before_scaling(balance, expected):
    a, b = sequence([0, 1], 1, advantage=1.0), sequence([0, 1], 1, advantage=-1.0)
    normalize([a, b], balance)
    assert (a.advantage, b.advantage) == pytest.approx(expected)


def test_all_advantages_damped_to_zero_stay_zero():
    a = sequence([0, 1], 1, advantage=-1.0)
    normalize([a], 1.0)
    assert a.advantage == 0.0
