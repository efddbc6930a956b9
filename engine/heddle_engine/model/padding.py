"""Stretches of unlike lengths as rows of one length."""

import numpy as np


def padded_stretches(starts: np.ndarray, counts: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """The token at each place, and whether it is real, [B, length] each, of stretches of `counts` tokens from `starts`.

    Both are int64 [B], and no count is above `length`. Real tokens stand first; padding repeats the last.
    """
    t = np.arange(length)
    return starts[:, None] + np.minimum(t, counts[:, None] - 1), t < counts[:, None]
