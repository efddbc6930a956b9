"""A fixed sequence that tells something of weights.

Two processes must have the same ones: gradients of others would be added without anybody noticing. A folder may be
changed after the engine has read it, and is another folder on another machine.
"""

import numpy as np
import torch

from ..model.decoder import Decoder, LoraView, NoLora
from .data.sequences import Sequence
from .packed.packed_forward import batch_logprobs, lay_out

_LENGTH = 32
_STRIDE = 7919
_LIMITS = {torch.float32: 1e-3, torch.bfloat16: 0.1}
"""Nats that log-probabilities of one token may differ by on other processors; those of other weights differ by more."""


def canary(decoder: Decoder, lora: LoraView | None = None) -> list[float]:
    """Log-probabilities of the sequence, under the base model alone where no adapter is given."""
    ids = np.arange(1, _LENGTH + 1, dtype=np.int64) * _STRIDE % decoder.config.vocab_size
    trained = np.arange(_LENGTH) > 0
    with torch.no_grad():
        batch = lay_out([Sequence(ids, trained, np.zeros(0))], decoder.device)
        logprobs, _ = batch_logprobs(decoder, batch, lora or NoLora(), _LENGTH)
    return logprobs.tolist()


def is_like(decoder: Decoder, expected: list[float]) -> bool:
    differences = np.abs(np.array(canary(decoder)) - np.array(expected))
    return bool((differences <= _LIMITS.get(decoder.dtype, _LIMITS[torch.bfloat16])).all())
