"""The state that training changes: LoRA masters, their gradient, AdamW moments."""

import math
from typing import Any

import torch
from torch import Tensor

from ..errors import EngineError
from ..model.decoder import Decoder
from ..model.lora import LoraWeights
from .micro_batches import MicroBatches
from .optimizer import AdamW, AdamWConfig
from .saved.checkpoints import OptimizerState
from .trainable_lora import TrainableLora
from .workers.shared_batches import SharedBatches

Batches = MicroBatches | SharedBatches

#: Larger rates do not fit the numbers that the update is computed in.
MOST_LEARNING_RATE = 1e30


class Trainer:
    def __init__(self, decoder: Decoder, weights: LoraWeights, config: AdamWConfig, micro_batches: Batches) -> None:
        self.decoder = decoder
        self.lora = TrainableLora(weights, decoder.device)
        self.optimizer = AdamW(self.lora.masters, config)
        self.micro_batches = micro_batches

    def update(self, learning_rate: float, number: int, loss: float) -> float:
        """Optimizer step ``number`` with the gathered gradient, which is cleared; returns its norm.

        A loss or gradient that is not finite fails the job: going on would destroy the adapter.
        """
        if not learning_rate <= MOST_LEARNING_RATE:
            raise EngineError(
                "invalid",
                f"Gradient step {number}: the learning rate is {learning_rate}, more than can be computed with "
                f"({MOST_LEARNING_RATE}). Lower it, and what it is multiplied by.",
            )
        norm = self.optimizer.step(self.lora.gradient, learning_rate) if math.isfinite(loss) else math.nan
        self.lora.gradient.zero_()
        if not math.isfinite(norm):
            raise EngineError(
                "invalid",
                f"Gradient step {number}: the loss is {loss} and the gradient norm {norm}, not finite. "
                "Lower the learning rate, or start from an earlier checkpoint.",
            )
        return norm

    def optimizer_state(self, kind: str) -> OptimizerState:
        optimizer = self.optimizer
        return OptimizerState(kind, optimizer.steps, self.lora.layout(), optimizer.mean, optimizer.square)

    def adopt(self, state: OptimizerState | None, kind: str) -> str | None:
        """Goes on with the moments of an earlier job of the same kind (training-api 7.6).

        Returns a warning when they do not fit the adapter.
        """
        if state is None or state.kind != kind:
            return None
        if state.layout != self.lora.layout():
            return "the optimizer state of the starting checkpoint does not fit its adapter; it starts afresh"
        self.optimizer.restore(state.mean, state.square, state.steps)
        return None

    def tensors(self) -> dict[str, Tensor]:
        return {"masters": self.lora.masters, "mean": self.optimizer.mean, "square": self.optimizer.square}

    def progress(self) -> dict[str, Any]:
        return {"optimizer_steps": self.optimizer.steps}

    @torch.no_grad()
    def restore(self, tensors: dict[str, Tensor], progress: dict[str, Any]) -> None:
        self.lora.masters.copy_(tensors["masters"])
        self.optimizer.restore(tensors["mean"], tensors["square"], progress["optimizer_steps"])
