"""From the loss of each token to that of an optimizer step (training-api 7.4).

Every count is one of the whole step, so that any split into pieces gives the same gradient (engine 4.5). A completion
is a sequence: all that was sampled on one growing prompt. References: GRPO arXiv 2402.03300, Dr. GRPO arXiv 2503.20783.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

#: Keeps the mean over an empty step finite; the value is part of the formula.
EPSILON = 1e-18


@dataclass(frozen=True)
class ReductionConfig:
    """The keys of training-api 2.2 that say what the sum over tokens is divided by."""

    loss_type: str = "bnpo"
    #: The constant that `dr_grpo` takes for the length of every completion.
    max_completion_length: int | None = None


class Reduction:
    """Sums up the tokens of one step, piece by piece."""

    def __init__(self, config: ReductionConfig, counts: list[int], device: torch.device) -> None:
        """``counts``: how many trained tokens each sequence of the step has."""
        self.config = config
        self.counts = counts
        self.num_tokens = sum(counts)
        self._lengths = torch.tensor(counts, dtype=torch.float32, device=device)

    def token_mean(self, values: Tensor) -> Tensor:
        """The share of some tokens in the mean over all tokens of the step."""
        return values.sum() / (self.num_tokens + EPSILON)

    def loss(self, values: Tensor, place: Tensor) -> Tensor:
        """The share of some tokens in the loss; ``place`` says which sequence of the step each belongs to."""
        if self.config.loss_type == "grpo":
            return (values / self._lengths[place]).sum() / len(self.counts)
        if self.config.loss_type == "dr_grpo":
            length = self.config.max_completion_length
            assert length is not None
            return values.sum() / (len(self.counts) * length)
        return self.token_mean(values)
