"""Functions that make the inputs of training tests."""

import numpy as np

from heddle_engine.training.data.sequences import Sequence


def sequence(ids, trained_from, group=0, trajectory=0, logprobs=None, **fields) -> Sequence:
    """A sequence whose tokens from ``trained_from`` on are trained; ``logprobs`` are those of the trained tokens."""
    ids = np.array(ids, np.int64)
    trained = np.arange(len(ids)) >= trained_from
    every = np.full(len(ids), np.nan)
    if logprobs is not None:
        every[trained_from:] = logprobs
    return Sequence(ids, trained, every, group, trajectory, **fields)


def random_group(generator, vocab, prompt, completions, group=0) -> list[Sequence]:
    """Sequences that share one random prompt; ``completions`` are lengths."""
    start = generator.integers(0, vocab, prompt)
    return [
        sequence([*start, *generator.integers(0, vocab, length)], prompt, group, trajectory)
        for trajectory, length in enumerate(completions)
    ]
