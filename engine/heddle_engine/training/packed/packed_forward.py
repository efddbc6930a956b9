"""The training forward: a set of sequences through the decoder, each shared prefix computed once."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ...memory import training_tokens
from ...model.decoder import Decoder, LoraView, Wanted
from ...model.head import token_logprobs
from ..data.sequences import Sequence
from .prefix_tree import build_forest
from .tree_attention import TreeAttention
from .tree_recurrence import TreeRecurrence


@dataclass(frozen=True)
class Batch:
    """Sequences laid out for one forward pass.

    ``ids`` and ``positions`` [N] are the packed tokens. The other tensors are flat over the M trained
    tokens, sequence after sequence: ``predictors`` index the packed token whose hidden state
    predicts ``targets``; ``sequence`` is the owner's place in the list.
    """

    ids: Tensor
    positions: Tensor
    attend: TreeAttention
    recur: TreeRecurrence
    predictors: Tensor
    targets: Tensor
    sequence: Tensor

    def __len__(self) -> int:
        return len(self.ids)


def lay_out(sequences: list[Sequence], device: torch.device) -> Batch:
    forest = build_forest(sequences)
    trained = [np.flatnonzero(s.trained) for s in sequences]
    predictors = [places[at - 1] for places, at in zip(forest.places, trained, strict=True)]
    targets = [s.ids[at] for s, at in zip(sequences, trained, strict=True)]
    owners = np.repeat(np.arange(len(sequences)), [len(at) for at in trained])
    on_device = [torch.from_numpy(x).to(device) for x in (forest.ids, forest.positions)]
    flat = [torch.from_numpy(np.concatenate(x)).to(device) for x in (predictors, targets)]
    return Batch(
        *on_device,
        TreeAttention(forest, device),
        TreeRecurrence(forest, device),
        *flat,
        torch.from_numpy(owners).to(device),
    )


def batch_logprobs(decoder: Decoder, batch: Batch, lora: LoraView, chunk_size: int) -> tuple[Tensor, Tensor]:
    """Log-probability (differentiable) and entropy of every trained token, fp32 [M].

    Where memory would not hold what the layers compute until the backward pass, they compute it again.
    """
    recompute = len(batch) > training_tokens(decoder)
    wanted = Wanted(batch.predictors, lora)
    hidden = decoder.hidden(batch.ids, batch.positions, lora, batch.attend, wanted, recompute, batch.recur)
    return token_logprobs(hidden, batch.targets, decoder.head, chunk_size)
