"""How far the policy that learns is from the one that sampled, over the trained tokens of a step (training-api 3.3)."""

import numpy as np


def off_policy_metrics(ratio: np.ndarray, clipped: np.ndarray) -> dict[str, float]:
    """``ratio`` [M] before any bound; ``clipped`` [M] marks tokens on which the clip acts.

    The effective sample is Kish's: so many equally weighted tokens would estimate as well, as a share of all.
    """
    ratio = ratio.astype(np.float64)
    p95, p99 = np.quantile(ratio, [0.95, 0.99])
    return {
        "loss/importance_ratio_mean": float(ratio.mean()),
        "loss/importance_ratio_p95": float(p95),
        "loss/importance_ratio_p99": float(p99),
        "loss/clipped_token_fraction": float(clipped.mean()),
        "effective_sample_fraction": float(ratio.sum() ** 2 / (len(ratio) * np.square(ratio).sum())),
    }


def probability_correlation(new: np.ndarray, old: np.ndarray) -> dict[str, float]:
    """Pearson's correlation of the probabilities that both policies give to the tokens, from their logarithms [M].

    Empty where ``old`` is known (not NaN) of fewer than two tokens, or all probabilities of one side are equal.
    """
    known = ~np.isnan(old)
    probabilities = np.exp(np.stack([new, old])[:, known].astype(np.float64))
    if known.sum() < 2 or (probabilities.std(axis=1) == 0).any():
        return {}
    return {"loss/probs_corr": float(np.corrcoef(probabilities)[0, 1])}
