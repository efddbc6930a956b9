"""What a piece of an optimizer step adds to its loss, for each kind of job.

An objective holds what the loss needs of every sequence it is about, and divisors of the whole step. So it can be cut
by sequences, and a part computed elsewhere: `part_of` gives the part, `packed` and `unpacked` carry it there.
"""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol, Self

import torch
from torch import Tensor

from ..packed.packed_forward import Batch
from .policy_loss import PolicyLossConfig, PolicyTokens, policy_loss
from .reduction import Reduction, ReductionConfig

#: What is remembered of a piece: sums of it, or values of each of its M trained tokens.
Record = dict[str, Tensor]

_TOKEN_VALUES = ("advantages", "weights", "old", "sampled", "reference")


class Objective(Protocol):
    kind: ClassVar[str]

    def __call__(self, piece: list[int], batch: Batch, new: Tensor, entropy: Tensor) -> tuple[Tensor, Record]:
        """Given the places of the piece's sequences, log-probabilities and entropy [M]: its part of the step's loss."""
        ...

    def part_of(self, places: list[int]) -> Self:
        """The objective of the sequences at ``places``, which are counted from 0 in it."""
        ...

    def packed(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """JSON and tensors that :func:`unpacked` takes."""
        ...


@dataclass(frozen=True)
class PolicyObjective:
    """The policy-gradient loss of an RL step.

    Its records hold sums (``loss``, ``entropy``) and values of each token; ``place`` [M] is its sequence in the step.
    """

    kind: ClassVar[str] = "rl"
    loss: PolicyLossConfig
    reduction: Reduction
    #: Of each sequence.
    tokens: list[PolicyTokens]
    #: [S]: of each sequence, the mean distance of its row to the reference.
    kl: Tensor
    #: int64 [S]: where each sequence is in the step.
    places: Tensor

    def __call__(self, piece: list[int], batch: Batch, new: Tensor, entropy: Tensor) -> tuple[Tensor, Record]:
        here = _joined([self.tokens[i] for i in piece])
        own = torch.tensor(piece, device=new.device)[batch.sequence]
        loss = policy_loss(new, here, batch.sequence, self.loss, self.kl[own])
        place = self.places[own]
        reduced = self.reduction.loss(loss.per_token * here.weights, place)
        return reduced, {
            "loss": reduced.detach(),
            "entropy": self.reduction.token_mean(entropy * here.weights),
            "outside_band": loss.outside_band,
            "clipped": loss.clipped,
            "ratio": loss.ratio,
            "new": new.detach(),
            "old": here.old,
            "sampled": here.old if here.sampled is None else here.sampled,
            "place": place,
        }

    def part_of(self, places: list[int]) -> Self:
        at = torch.tensor(places, device=self.places.device)
        tokens = [self.tokens[place] for place in places]
        return type(self)(self.loss, self.reduction, tokens, self.kl[at], self.places[at])

    def packed(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        whole = _joined(self.tokens)
        tensors = {name: getattr(whole, name) for name in _TOKEN_VALUES if getattr(whole, name) is not None}
        lengths = [len(tokens.old) for tokens in self.tokens]
        json = {
            "loss": asdict(self.loss),
            "reduction": asdict(self.reduction.config),
            "counts": self.reduction.counts,
            "lengths": lengths,
        }
        return json, {**tensors, "kl": self.kl, "places": self.places}

    @classmethod
    def unpacked(cls, json: dict[str, Any], tensors: dict[str, Tensor], device: torch.device) -> Self:
        tensors = {name: tensor.to(device) for name, tensor in tensors.items()}
        parts = {name: tensors[name].split(json["lengths"]) for name in _TOKEN_VALUES if name in tensors}
        tokens = [
            PolicyTokens(**{name: values[i] for name, values in parts.items()}) for i in range(len(json["lengths"]))
        ]
        reduction = Reduction(ReductionConfig(**json["reduction"]), json["counts"], device)
        return cls(PolicyLossConfig(**json["loss"]), reduction, tokens, tensors["kl"], tensors["places"])


@dataclass(frozen=True)
class LikelihoodObjective:
    """The mean negative log-probability of a fine-tuning step, which has ``total`` trained tokens."""

    kind: ClassVar[str] = "sft"
    total: int

    def __call__(self, piece: list[int], batch: Batch, new: Tensor, entropy: Tensor) -> tuple[Tensor, Record]:
        reduced = -new.sum() / self.total
        return reduced, {"loss": reduced.detach()}

    def part_of(self, places: list[int]) -> Self:
        return self

    def packed(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        return {"total": self.total}, {}

    @classmethod
    def unpacked(cls, json: dict[str, Any], tensors: dict[str, Tensor], device: torch.device) -> Self:
        return cls(json["total"])


@dataclass(frozen=True)
class WeightedObjective:
    """Log-probabilities of the sequences with a factor each: the gradient of a preference step. ``factors`` [S]."""

    kind: ClassVar[str] = "dpo"
    factors: Tensor

    def __call__(self, piece: list[int], batch: Batch, new: Tensor, entropy: Tensor) -> tuple[Tensor, Record]:
        places = torch.tensor(piece, device=new.device)[batch.sequence]
        return (self.factors[places] * new).sum(), {}

    def part_of(self, places: list[int]) -> Self:
        return type(self)(self.factors[torch.tensor(places, device=self.factors.device)])

    def packed(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        return {}, {"factors": self.factors}

    @classmethod
    def unpacked(cls, json: dict[str, Any], tensors: dict[str, Tensor], device: torch.device) -> Self:
        return cls(tensors["factors"].to(device))


_KINDS = {each.kind: each for each in (PolicyObjective, LikelihoodObjective, WeightedObjective)}


def unpacked(kind: str, json: dict[str, Any], tensors: dict[str, Tensor], device: torch.device) -> Objective:
    """The objective of which `packed` gave ``json`` and ``tensors``, on ``device``."""
    return _KINDS[kind].unpacked(json, tensors, device)


def _joined(tokens: list[PolicyTokens]) -> PolicyTokens:
    def joined(name: str) -> Tensor | None:
        values = [getattr(t, name) for t in tokens]
        return None if values[0] is None else torch.cat(values)

    return PolicyTokens(**{name: joined(name) for name in _TOKEN_VALUES})
