"""From trajectories to packed rows: the data side of an RL job (training-api 7.1 to 7.3)."""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import EngineError
from .data.captured import merge_generations, train_once
from .data.sequences import Sequence, Turn, merge_turns
from .data.turns import TurnResolver
from .data.untrainable import Untrainable
from .loss.advantages import group_advantages, normalize, trajectory_weight
from .packed.packing import pack, row_length, steps_of
from .saved.record import Resolved, TrainingRecord


@dataclass
class RlData:
    """``steps`` are the rows of each optimizer step; ``counts`` go into the job's data metrics."""

    steps: list[list[list[Sequence]]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)

    @property
    def rows(self) -> list[list[Sequence]]:
        return list(itertools.chain.from_iterable(self.steps))


class RlDataBuilder:
    """Reads groups one at a time; only their token sequences are kept."""

    def __init__(
        self,
        resolver: TurnResolver,
        config: dict[str, Any],
        max_model_len: int,
        record: TrainingRecord | None = None,
    ) -> None:
        self._resolver = resolver
        self._record = record
        self._config = config
        self._max_model_len = max_model_len
        self._policy_names = frozenset(config.get("policy_names") or ())
        self._untrainable = Untrainable()
        self._must_train = False
        self._sequences: list[Sequence] = []
        self._trajectories = 0
        self._data = RlData(counts=resolver.counts)

    def read(self, lines: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[None]:
        """Yields after each group, so that a caller can do other work in between."""
        for group, members in itertools.groupby((line for _, line in lines), key=lambda line: line["group"]):
            self._add_group(group, list(members))
            yield

    def build(self, generator: np.random.Generator) -> RlData:
        longest = max(map(len, self._sequences), default=0)
        length = row_length(longest, self._config["packed_sequence_length"], self._max_model_len)
        kept = [sequence for sequence in self._sequences if len(sequence) <= length]
        self._report_overlong(len(self._sequences) - len(kept), length)
        self._data.warnings += self._untrainable.sentences()
        if self._must_train and not kept:
            self._pack_record([])
            raise EngineError(
                "invalid",
                "No trajectory of this job can be trained although rewards differ. " + " ".join(self._data.warnings),
                "trajectory_groups",
            )
        normalize(kept, self._config["advantage_balance"])
        rows = pack(kept, length, generator)
        self._data.steps = steps_of(rows, self._config.get("grad_accumulation_sequences", 1))
        self._pack_record(self._data.steps)
        return self._data

    def _pack_record(self, steps: list[list[list[Sequence]]]) -> None:
        if self._record is not None:
            self._record.pack([list(itertools.chain.from_iterable(rows)) for rows in steps])

    def _add_group(self, group: int, members: list[dict[str, Any]]) -> None:
        rewards = [_reward(member, group) for member in members]
        advantages = group_advantages(rewards, self._config["scale_rewards"])
        counts = self._data.counts
        counts["groups"] += 1
        counts["groups_of_one"] += len(members) == 1
        counts["groups_trainable"] += bool(np.any(advantages))
        counts["trajectories"] += len(members)
        for member, advantage in zip(members, advantages, strict=True):
            if advantage == 0:
                counts["trajectories_zero_advantage"] += 1
                resolved = Resolved(drops=[("zero_advantage" if np.any(advantages) else "no_contrast", None)])
            else:
                resolved = self._add_trajectory(member, group, float(advantage))
            if self._record is not None:
                self._record.add(member, float(advantage), resolved)

    def _add_trajectory(self, member: dict[str, Any], group: int, advantage: float) -> Resolved:
        where = f"group {group}, trajectory {member['index']}"
        captured = member.get("captured")
        resolved = self._of_histories(member, where) if captured is None else self._of_captured(captured, where)
        sequences = resolved.sequences
        weight = trajectory_weight(sequences, self._config.get("normalize_by_length", True))
        for sequence in sequences:
            sequence.group, sequence.trajectory = group, self._trajectories
            sequence.advantage, sequence.weight = advantage, weight
        self._data.counts["trajectories_untrainable"] += not sequences
        self._data.counts["sequences"] += len(sequences)
        self._trajectories += 1
        self._sequences += sequences
        return resolved

    def _leave_out(
        self, resolved: Resolved, cause: str, trajectory: str, place: str | None = None, note: str = ""
    ) -> None:
        """``place``: of the completion, where not all of the trajectory is left out."""
        self._untrainable.add(cause, trajectory, place, note)
        resolved.drops.append((cause, place))

    def _of_histories(self, member: dict[str, Any], where: str) -> Resolved:
        resolved = Resolved()
        items = 0
        for number, history in enumerate(member["histories"]):
            place = where if number == 0 else f"{where}, additional history {number - 1}"
            turns = self._resolver.resolve(history, place)
            for index, turn in enumerate(turns):
                if turn.untrainable is not None:
                    self._leave_out(resolved, turn.untrainable, place, f"turn {index}")
            resolved.sequences += merge_turns(turns, first=len(resolved.turns))
            resolved.turns += turns
            items += len(history["items"])
        if not resolved.turns:
            self._leave_out(resolved, "no_choice" if items else "empty", where)
        self._must_train |= not items
        return resolved

    def _of_captured(self, captured: dict[str, Any], where: str) -> Resolved:
        resolved = Resolved()
        self._must_train = True
        own = [generation for generation in captured["generations"] if generation["model"] in self._policy_names]
        if not own:
            self._leave_out(resolved, "other_model", where, note=_asked_instead(captured))
        for generation in own:
            turn = self._resolver.resolve_captured(generation, where)
            if isinstance(turn, Turn):
                resolved.numbers[generation["place"]] = len(resolved.turns)
                resolved.turns.append(turn)
            else:
                self._leave_out(resolved, turn, where, generation["place"])
        sequences = merge_generations(resolved.turns)
        longest = min(self._config["packed_sequence_length"] or self._max_model_len, self._max_model_len)
        fitting = [sequence for sequence in sequences if len(sequence) <= longest]
        train_once(fitting)
        for sequence in sequences:
            if len(sequence) > longest:
                sequence.trained[:] = False
        resolved.sequences = [s for s in sequences if s.num_trained or len(s) > longest]
        return resolved

    def _report_overlong(self, dropped: int, length: int) -> None:
        self._data.counts["sequences_dropped_overlong"] += dropped
        if dropped:
            self._data.warnings.append(
                f"{dropped} of {len(self._sequences)} sequences are longer than {length} tokens and were dropped"
            )


def _reward(member: dict[str, Any], group: int) -> float:
    reward = member["reward"]
    if not math.isfinite(reward):
        raise EngineError(
            "invalid",
            f"group {group}, trajectory {member['index']}: reward {reward} is not a finite number.",
            "trajectory_groups",
        )
    return reward


def _asked_instead(captured: dict[str, Any]) -> str:
    names = [*captured["other_models"], *(generation["model"] for generation in captured["generations"])]
    return f"asked were {', '.join(list(dict.fromkeys(names))[:3])}" if names else "they name no model"
