"""An SFT job: rows of chat messages, one optimizer step per batch (training-api 2.5 and 7.5)."""

from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from ..bases import Base
from ..errors import EngineError
from .data.data_file import read_json_lines
from .data.dialogues import dialogue_sequences
from .data.sequences import Sequence
from .loss.objectives import LikelihoodObjective
from .optimizer import SFT_OPTIMIZER
from .trainer import Trainer

Metrics = dict[str, float]


@dataclass
class _Row:
    """A trajectory as sequences, or none when it was dropped."""

    sequences: list[Sequence]
    dropped: bool


class SftWork:
    """The SFT side of a training job. Batches are known after :meth:`load`."""

    kind = "sft"
    optimizer = SFT_OPTIMIZER
    chunk_size = 1024
    warnings: list[str]

    def __init__(self, config: dict[str, Any], base: Base) -> None:
        self._config = config
        self._base = base
        self._batches: list[list[_Row]] = []
        self._learning_rates: list[float] = []
        self._counts: Counter[str] = Counter()
        self.warnings = []

    @property
    def num_steps(self) -> int:
        return len(self._batches)

    def load(self, path: str, sha256: str) -> Iterator[None]:
        """Reads the data file into batches in file order; the last may be short."""
        batches: list[list[_Row]] = []
        for number, line in read_json_lines(path, sha256):
            if not batches or len(batches[-1]) == self._config["batch_size"]:
                batches.append([])
            batches[-1].append(self._row(line, number))
            yield
        self._batches = [batch for batch in batches if any(row.sequences for row in batch)]
        self._counts["batches_without_labels"] = len(batches) - len(self._batches)
        self._learning_rates = self._per_step_learning_rates(len(batches))
        if self._counts["rows_dropped_overlong"]:
            self.warnings.append(
                f"{self._counts['rows_dropped_overlong']} of {self._counts['rows']} rows are longer than "
                f"{self._base.max_model_len} tokens and were dropped"
            )

    def prepare(self, trainer: Trainer) -> Iterator[None]:
        yield from ()

    def tensors(self) -> dict[str, Tensor]:
        """Besides those of the trainer, what a snapshot needs: all is worked out again."""
        return {}

    def restore(self, tensors: dict[str, Tensor], gradient_steps: int) -> None:
        pass

    def step(self, index: int, trainer: Trainer) -> Generator[None, None, Metrics]:
        batch = self._batches[index]
        sequences = [sequence for row in batch for sequence in row.sequences]
        total = sum(sequence.num_trained for sequence in sequences)
        started = trainer.micro_batches.seconds
        losses: list[Tensor] = []
        for records in trainer.micro_batches.backward(sequences, trainer.lora, LikelihoodObjective(total)):
            losses += [record["loss"] for record in records]
            yield
        loss, learning_rate = float(sum(losses)), self._learning_rates[index]
        norm = trainer.update(learning_rate, index + 1, loss)
        tokens = sum(map(len, sequences))
        return {
            "loss": loss,
            "learning_rate": learning_rate,
            "grad_norm": norm,
            "num_trajectories": sum(bool(row.sequences) for row in batch),
            "num_tokens": tokens,
            "num_trainable_tokens": total,
            "num_dropped_trajectories": sum(row.dropped for row in batch),
            "tokens_per_second": tokens / (trainer.micro_batches.seconds - started),
        }

    def data_metrics(self, steps: list[Metrics]) -> Metrics:
        return dict(self._counts)

    def step_warning(self, index: int, metrics: Metrics) -> str | None:
        return None

    def _row(self, line: dict[str, Any], number: int) -> _Row:
        last_turn_only = self._config["assistant_turns"] == "last"
        sequences = dialogue_sequences(line, number, self._base, last_turn_only=last_turn_only)
        self._counts["rows"] += 1
        # All sequences of a row are one trajectory, so they may share a prefix.
        for sequence in sequences:
            sequence.group = sequence.trajectory = number
        dropped = any(len(sequence) > self._base.max_model_len for sequence in sequences)
        self._counts["rows_dropped_overlong"] += dropped
        return _Row([] if dropped else sequences, dropped)

    def _per_step_learning_rates(self, num_batches: int) -> list[float]:
        """A list has one value per batch, or one per batch with labels; batches without take no value from it."""
        given = self._config["learning_rate"]
        if not isinstance(given, list):
            return [float(given)] * self.num_steps
        if len(given) not in (num_batches, self.num_steps):
            raise EngineError(
                "invalid",
                f"learning_rate has {len(given)} values, but the data makes {num_batches} batches "
                f"of {self._config['batch_size']}. Send one value per batch, or a single number.",
                "config.learning_rate",
            )
        return [float(value) for value in given[: self.num_steps]]
