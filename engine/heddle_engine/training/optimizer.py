"""AdamW (arXiv 1711.05101) over one flat fp32 buffer, with gradient clipping by global norm."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class AdamWConfig:
    """training-api 7.6; ``max_norm`` bounds the L2 norm of the whole gradient."""

    weight_decay: float
    max_norm: float
    beta1: float = 0.9
    beta2: float = 0.99
    eps: float = 1e-8


RL_OPTIMIZER = AdamWConfig(weight_decay=0.1, max_norm=0.1)
SFT_OPTIMIZER = AdamWConfig(weight_decay=0.0, max_norm=1.0)


class AdamW:
    """``mean`` and ``square`` are the moments [P]; ``steps`` counts updates for their bias correction."""

    def __init__(self, parameters: Tensor, config: AdamWConfig) -> None:
        self.parameters = parameters
        self.config = config
        self.mean = torch.zeros_like(parameters)
        self.square = torch.zeros_like(parameters)
        self.steps = 0

    def restore(self, mean: Tensor, square: Tensor, steps: int) -> None:
        self.mean.copy_(mean)
        self.square.copy_(square)
        self.steps = steps

    @torch.no_grad()
    def step(self, gradient: Tensor, learning_rate: float) -> float:
        """One update, in place; returns the gradient's norm before clipping.

        A norm that is not finite leaves everything as it was: the caller decides.
        """
        c = self.config
        norm = float(torch.linalg.vector_norm(gradient, dtype=torch.float64))
        if not norm < float("inf"):
            return norm
        gradient = gradient * min(1.0, c.max_norm / (norm + 1e-6))
        self.steps += 1
        self.mean.lerp_(gradient, 1 - c.beta1)
        self.square.mul_(c.beta2).addcmul_(gradient, gradient, value=1 - c.beta2)
        scale = (self.square / (1 - c.beta2**self.steps)).sqrt_().add_(c.eps)
        self.parameters.mul_(1 - learning_rate * c.weight_decay)
        self.parameters.addcdiv_(self.mean, scale, value=-learning_rate / (1 - c.beta1**self.steps))
        return norm
