"""Token sequences to train on, made from the turns of a trajectory.

A sequence grows while each turn's prompt repeats, id for id, what came before; where a template
rewrites history (dropped reasoning, reordered tools) the prefix breaks and a new sequence starts
(training-api 7.1, engine 4.5).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Turn:
    """One sampled completion and the exact prompt it was sampled from."""

    prompt_ids: list[int]
    token_ids: list[int]
    #: Natural-log probability of each token when sampled; NaN where unknown.
    logprobs: list[float]
    trained: bool = True

    @property
    def untrainable(self) -> str | None:
        """The cause (`untrainable.CAUSES`) why nothing of it is trained; None where something is."""
        if not self.token_ids:
            return "no_ids"
        return None if self.trained else "no_logprobs"


@dataclass(eq=False)
class Sequence:
    """A line of T tokens with what the loss needs to know about each.

    ``advantage`` and ``weight`` hold for all trained tokens of the sequence.
    """

    ids: np.ndarray  # int64 [T]
    trained: np.ndarray  # bool [T]: the loss counts the prediction of this token
    logprobs: np.ndarray  # float64 [T]: as sampled, NaN where unknown
    group: int = 0
    trajectory: int = 0
    advantage: float = 0.0
    weight: float = 1.0
    #: Its turns: number, and where the sampled tokens begin and end.
    turns: tuple[tuple[int, int, int], ...] = ()
    #: Where trained stretches begin; sharing a prefix never cuts one of them in two.
    trained_starts: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.find_starts()

    def find_starts(self) -> None:
        """To be called when ``trained`` was changed."""
        before = np.concatenate([[False], self.trained[:-1]])
        self.trained_starts = np.flatnonzero(self.trained & ~before)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def num_trained(self) -> int:
        return int(self.trained.sum())


class SequenceBuilder:
    """Collects tokens of the sequence that is still open."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.trained: list[bool] = []
        self.logprobs: list[float] = []
        self.turns: list[tuple[int, int, int]] = []

    def extends(self, prompt_ids: list[int]) -> bool:
        return prompt_ids[: len(self.ids)] == self.ids

    def add(self, turn: Turn, number: int) -> None:
        context = turn.prompt_ids[len(self.ids) :]
        self._append(context, False, [float("nan")] * len(context))
        self.turns.append((number, len(self.ids), len(self.ids) + len(turn.token_ids)))
        self._append(turn.token_ids, turn.trained, turn.logprobs)

    def _append(self, ids: list[int], trained: bool, logprobs: list[float]) -> None:
        # The first token of a sequence has no context to be predicted from.
        self.trained += [trained and (bool(self.ids) or i > 0) for i in range(len(ids))]
        self.ids += ids
        self.logprobs += logprobs

    def build(self) -> Sequence:
        ids, trained, logprobs = np.array(self.ids, np.int64), np.array(self.trained, bool), np.array(self.logprobs)
        return Sequence(ids, trained, logprobs.astype(np.float64), turns=tuple(self.turns))


def merge_turns(turns: Iterable[Turn], first: int = 0) -> list[Sequence]:
    """Sequences of one history, in order; those without a trained token are left out. Turns count from ``first``."""
    builders: list[SequenceBuilder] = []
    for number, turn in enumerate(turns, start=first):
        if not builders or not builders[-1].extends(turn.prompt_ids):
            builders.append(SequenceBuilder())
        builders[-1].add(turn, number)
    sequences = [builder.build() for builder in builders]
    return [sequence for sequence in sequences if sequence.num_trained]
