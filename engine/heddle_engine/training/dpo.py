"""A DPO job: pairs of answers to one prompt, one optimizer step per batch of pairs (training-api 7.7)."""

from collections import Counter
from collections.abc import Generator, Iterator
from typing import Any

import torch
from torch import Tensor

from ..bases import Base
from ..model.decoder import LoraView, NoLora
from .data.data_file import read_json_lines
from .data.dialogues import bad_row, dialogue_sequences
from .data.sequences import Sequence
from .loss.objectives import WeightedObjective
from .loss.preference_loss import PairLogprobs, preference_loss
from .optimizer import SFT_OPTIMIZER
from .trainer import Trainer

Metrics = dict[str, float]
#: Chosen, then rejected.
Pair = tuple[Sequence, Sequence]


class DpoWork:
    """The DPO side of a training job. Batches are known after :meth:`load`.

    The loss is not a sum over tokens, so that a pair would have to go through the model at once. Its gradient is one,
    with a factor for each pair that follows from the log-probabilities. So these are computed first, without
    gradients, and then any split into pieces gives the same step (engine 4.5).
    """

    kind = "dpo"
    optimizer = SFT_OPTIMIZER
    chunk_size = 1024
    warnings: list[str]

    def __init__(self, config: dict[str, Any], base: Base) -> None:
        self._config = config
        self._base = base
        self._batches: list[list[Pair]] = []
        self._counts: Counter[str] = Counter()
        #: Of all pairs, in order; chosen and rejected in turn.
        self._reference: Tensor | None = None
        self.warnings = []

    @property
    def num_steps(self) -> int:
        return len(self._batches)

    def load(self, path: str, sha256: str) -> Iterator[None]:
        """Reads the data file, two lines a pair, into batches in file order; the last may be short."""
        pairs: list[Pair] = []
        chosen: tuple[int, Sequence] | None = None
        number = 0
        for number, line in read_json_lines(path, sha256):
            pair = _check_place(line, number, None if chosen is None else chosen[0])
            sequence = self._sequence(line, number, pair)
            if chosen is None:
                chosen = pair, sequence
            else:
                self._add(pairs, (chosen[1], sequence))
                chosen = None
            yield
        if chosen is not None:
            raise bad_row(number, f"pair {chosen[0]} ends with its chosen answer; the rejected one is missing")
        size = self._config["batch_size"]
        self._batches = [pairs[begin : begin + size] for begin in range(0, len(pairs), size)]
        if self._counts["pairs_dropped_overlong"]:
            self.warnings.append(
                f"{self._counts['pairs_dropped_overlong']} of {self._counts['pairs']} pairs have an answer that makes "
                f"more than {self._base.max_model_len} tokens with its prompt, and were dropped"
            )

    def prepare(self, trainer: Trainer) -> Iterator[None]:
        """Log-probabilities of every answer under the reference, which is the starting weights or the base model."""
        if self._reference is not None:
            return
        lora: LoraView = trainer.lora if self._config["reference"] == "start" else NoLora()
        found = []
        for batch in self._batches:
            found.append((yield from _summed_logprobs(trainer, _sequences(batch), lora)))
        self._reference = torch.cat(found) if found else torch.zeros(0)

    def tensors(self) -> dict[str, Tensor]:
        """What a job that goes on cannot compute again: its starting weights may be gone."""
        assert self._reference is not None
        return {"reference": self._reference}

    def restore(self, tensors: dict[str, Tensor], gradient_steps: int) -> None:
        self._reference = tensors["reference"].to(self._base.decoder.device)

    def step(self, index: int, trainer: Trainer) -> Generator[None, None, Metrics]:
        batch = self._batches[index]
        sequences = _sequences(batch)
        started = trainer.micro_batches.seconds
        before = 2 * index * self._config["batch_size"]
        assert self._reference is not None
        reference = self._reference[before : before + len(sequences)]
        logprobs = yield from _summed_logprobs(trainer, sequences, trainer.lora)
        pairs = preference_loss(_by_pair(logprobs), _by_pair(reference), self._config["beta"])
        factors = torch.stack([-pairs.slope, pairs.slope], dim=1).flatten() / len(batch)
        for _ in trainer.micro_batches.backward(sequences, trainer.lora, WeightedObjective(factors)):
            yield
        loss, learning_rate = float(pairs.loss.mean()), self._config["learning_rate"]
        norm = trainer.update(learning_rate, index + 1, loss)
        tokens = sum(map(len, sequences))
        return {
            "loss": loss,
            "learning_rate": learning_rate,
            "grad_norm": norm,
            "reward_margin": float(pairs.margin.mean()),
            "accuracy": float((pairs.margin > 0).float().mean()),
            "chosen_reward": float(pairs.chosen_reward.mean()),
            "rejected_reward": float(pairs.rejected_reward.mean()),
            "num_pairs": len(batch),
            "num_tokens": tokens,
            "num_trainable_tokens": sum(sequence.num_trained for sequence in sequences),
            "tokens_per_second": tokens / (trainer.micro_batches.seconds - started),
        }

    def data_metrics(self, steps: list[Metrics]) -> Metrics:
        return dict(self._counts)

    def step_warning(self, index: int, metrics: Metrics) -> str | None:
        return None

    def _sequence(self, line: dict[str, Any], number: int, pair: int) -> Sequence:
        """The dialogue, of which the last message of the assistant is trained."""
        found = dialogue_sequences(line, number, self._base, last_turn_only=True)
        if not found:
            raise bad_row(number, "the chat template writes nothing of its answer, so that there is nothing to compare")
        # Both answers begin with the same prompt, which is computed once.
        found[0].group = pair
        found[0].trajectory = number
        return found[0]

    def _add(self, pairs: list[Pair], pair: Pair) -> None:
        self._counts["pairs"] += 1
        if any(len(sequence) > self._base.max_model_len for sequence in pair):
            self._counts["pairs_dropped_overlong"] += 1
        else:
            pairs.append(pair)


def _check_place(line: dict[str, Any], number: int, open_pair: int | None) -> int:
    """The number of the line's pair, whose first line is its chosen answer."""
    pair, index = line.get("group"), line.get("index")
    if not isinstance(pair, int) or index != (0 if open_pair is None else 1) or open_pair not in (None, pair):
        expected = "the chosen answer of a pair (index 0)" if open_pair is None else f"the other answer of {open_pair}"
        raise bad_row(number, f"it is answer {index!r} of pair {pair!r}, expected {expected}")
    return pair


def _sequences(batch: list[Pair]) -> list[Sequence]:
    return [sequence for pair in batch for sequence in pair]


def _by_pair(logprobs: Tensor) -> PairLogprobs:
    return PairLogprobs(logprobs[0::2], logprobs[1::2])


def _summed_logprobs(trainer: Trainer, sequences: list[Sequence], lora: LoraView) -> Generator[None, None, Tensor]:
    """Of each sequence the log-probability of its trained tokens together [S]."""
    found = yield from trainer.micro_batches.logprobs(sequences, lora)
    return torch.stack([tokens.sum() for tokens in found])
