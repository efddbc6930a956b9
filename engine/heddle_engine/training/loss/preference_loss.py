"""The loss of direct preference optimization, DPO (arXiv 2305.18290, equation 7), in its sigmoid form."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid


@dataclass(frozen=True)
class PairLogprobs:
    """Of each pair, the summed log-probability of the completion that was chosen and of the other; fp32 [P]."""

    chosen: Tensor
    rejected: Tensor


@dataclass(frozen=True)
class PreferenceLoss:
    """Of each pair [P]. ``slope`` is the derivative of the loss by the rejected completion's log-probability.

    The derivative by the chosen one's is minus that.
    """

    loss: Tensor
    slope: Tensor
    chosen_reward: Tensor
    rejected_reward: Tensor

    @property
    def margin(self) -> Tensor:
        return self.chosen_reward - self.rejected_reward


def preference_loss(policy: PairLogprobs, reference: PairLogprobs, beta: float) -> PreferenceLoss:
    """-log sigmoid(margin); a reward is beta times how much more likely a completion is than under the reference."""
    chosen = beta * (policy.chosen - reference.chosen)
    rejected = beta * (policy.rejected - reference.rejected)
    margin = chosen - rejected
    return PreferenceLoss(-logsigmoid(margin), beta * torch.sigmoid(-margin), chosen, rejected)
