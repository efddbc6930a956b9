"""Group-relative advantages and per-trajectory weights (training-api 7.2)."""

from collections.abc import Sequence as Items

import numpy as np

from ..data.sequences import Sequence

#: Keeps divisions finite; the value is part of the formula.
EPSILON = 1e-6
#: Relative difference that adding the same rewards in another order makes.
ROUNDING = 1e-12


def group_advantages(rewards: Items[float], scale: bool) -> np.ndarray:
    """``r - mean(r)``, divided by the population standard deviation when ``scale`` (GRPO, arXiv 2402.03300).

    A group of one and a group of equal rewards give exact zeros; rewards that differ by rounding are equal.
    """
    r = np.asarray(rewards, np.float64)
    if len(r) == 0 or np.ptp(r) <= ROUNDING * np.abs(r).max():
        return np.zeros_like(r)
    centred = r - r.mean()
    return centred / (r.std() + EPSILON) if scale else centred


def trajectory_weight(sequences: list[Sequence], by_length: bool = True) -> float:
    """Each trajectory counts the same however many tokens it has; not ``by_length``: each token does."""
    if not by_length:
        return 1.0
    return 1.0 / (sum(s.num_trained for s in sequences) + EPSILON)


def normalize(sequences: list[Sequence], balance: float) -> None:
    """Scales, in place, weights to mean 1 and advantages to mean(|A| w) = 1 over the trained tokens.

    ``balance`` b in [-1, 1]: b > 0 multiplies negative advantages by 1 - b, b < 0 positive ones by 1 + b.
    """
    if not sequences:
        return
    tokens = np.array([s.num_trained for s in sequences], np.float64)
    weights = np.array([s.weight for s in sequences])
    weights = weights / np.average(weights, weights=tokens)
    advantages = _balance(np.array([s.advantage for s in sequences]), balance)
    magnitude = np.average(np.abs(advantages) * weights, weights=tokens)
    if magnitude > 0:
        advantages = advantages / magnitude
    for sequence, weight, advantage in zip(sequences, weights, advantages, strict=True):
        sequence.weight, sequence.advantage = float(weight), float(advantage)


def _balance(advantages: np.ndarray, balance: float) -> np.ndarray:
    if balance > 0:
        return np.where(advantages < 0, advantages * (1 - balance), advantages)
    return np.where(advantages > 0, advantages * (1 + balance), advantages)
