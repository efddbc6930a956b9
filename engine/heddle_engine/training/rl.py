"""An RL job: packed rows, one optimizer step each (training-api 7)."""

import hashlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..bases import Base
from ..model.decoder import LoraView
from .data_file import read_json_lines
from .losses import PolicyLossConfig, PolicyTokens, kl_to_reference, policy_loss
from .mismatch import mismatch_metrics, mismatch_warning
from .optimizer import RL_OPTIMIZER
from .packed_forward import Batch
from .record import StepTokens, TrainingRecord
from .rl_data import RlData, RlDataBuilder
from .sequences import Sequence
from .trainer import Trainer
from .turns import TurnResolver

Metrics = dict[str, float]

#: Keeps an empty row's reduction finite; the value is part of the formula.
EPSILON = 1e-18


@dataclass(frozen=True)
class _Part:
    """What one piece adds to the metrics of its row."""

    loss: Tensor
    entropy: Tensor
    outside_band: Tensor
    ratio: Tensor
    new: Tensor
    sampled: Tensor
    #: int64: which sequence of the row a token belongs to.
    place: Tensor


class RlWork:
    """The RL side of a training job. ``rows`` are known after :meth:`load`."""

    kind = "rl"
    optimizer = RL_OPTIMIZER

    def __init__(
        self, config: dict[str, Any], base: Base, reference: LoraView, record: TrainingRecord | None = None
    ) -> None:
        self._config = config
        self._base = base
        self._reference = reference
        self._loss = PolicyLossConfig(**{f.name: config[f.name] for f in fields(PolicyLossConfig)})
        self._data = RlData()
        self._old: dict[int, Tensor] = {}
        self._record = record
        self._recording = False
        self.chunk_size: int = config["logprob_calculation_chunk_size"]

    @property
    def num_steps(self) -> int:
        return len(self._data.rows)

    @property
    def warnings(self) -> list[str]:
        return self._data.warnings

    def load(self, path: str, sha256: str) -> Iterator[None]:
        """Reads the data file into rows; the same file always gives the same rows."""
        resolver = TurnResolver(
            self._base.renderer,
            self._base.tokenizer,
            self._base.config.vocab_size,
            self._config["allow_training_without_logprobs"],
        )
        builder = RlDataBuilder(resolver, self._config, self._base.max_model_len, self._record)
        yield from builder.read(read_json_lines(path, sha256))
        seed = int.from_bytes(hashlib.sha256(sha256.encode()).digest()[:8], "big")
        self._data = builder.build(np.random.default_rng(seed))

    def prepare(self, trainer: Trainer) -> Iterator[None]:
        """With `precalculate_logprobs`: old log-probabilities of every row under the starting weights."""
        if not self._config["precalculate_logprobs"]:
            return
        for row in self._data.rows:
            found = yield from _row_logprobs(trainer, row, trainer.lora)
            self._old.update(zip(map(id, row), found, strict=True))

    def step(self, index: int, trainer: Trainer) -> Generator[None, None, Metrics]:
        row = self._data.rows[index]
        started = trainer.micro_batches.seconds
        tokens, mean_kl = yield from self._row_tokens(row, trainer)
        total = sum(sequence.num_trained for sequence in row)

        def objective(piece: list[int], batch: Batch, new: Tensor, entropy: Tensor) -> tuple[Tensor, _Part]:
            here = _piece_tokens([tokens[i] for i in piece], batch)
            loss = policy_loss(new, here, self._loss, mean_kl)
            reduced = (loss.per_token * here.weights).sum() / (total + EPSILON)
            sampled = here.old if here.sampled is None else here.sampled
            weighted_entropy = (entropy * here.weights).sum() / (total + EPSILON)
            place = torch.tensor(piece, device=new.device)[batch.sequence]
            part = _Part(
                reduced.detach(), weighted_entropy, loss.outside_band, loss.ratio, new.detach(), sampled, place
            )
            return reduced, part

        parts: list[_Part] = []
        for records in trainer.micro_batches.backward(row, trainer.lora, objective):
            parts += records
            yield
        policy = float(sum(part.loss for part in parts))
        learning_rate = self._learning_rate(row)
        norm = trainer.update(learning_rate, index + 1, policy)
        self._record_step(index, row, parts)
        metrics = {
            "policy_loss": policy,
            "entropy": float(sum(part.entropy for part in parts)),
            "grad_norm": norm,
            "learning_rate": learning_rate,
            "clip_fraction": float(torch.cat([part.outside_band for part in parts]).float().mean()),
            "num_trainable_tokens": total,
            "num_datums": len(row),
            "trajectories_untrainable": self._data.counts["trajectories_untrainable"],
            **mismatch_metrics(torch.cat([part.new for part in parts]), torch.cat([part.sampled for part in parts])),
            "tokens_per_second": sum(map(len, row)) / (trainer.micro_batches.seconds - started),
        }
        if self._loss.kl_penalty_coef > 0:
            metrics["kl_policy_ref"] = mean_kl
        return metrics

    def data_metrics(self, steps: list[Metrics]) -> Metrics:
        """Counts of the data, and the mismatch of the first step, when the weights were still the sampler's."""
        first = {name: value for name, value in (steps[0] if steps else {}).items() if name.startswith("mismatch_")}
        return {**self._data.counts, "sequences_packed": sum(map(len, self._data.rows)), **first}

    def step_warning(self, index: int, metrics: Metrics) -> str | None:
        warning = mismatch_warning(metrics, self._base.decoder.dtype) if index == 0 else None
        return warning or (self._record and self._record.take_warning())

    def _record_step(self, index: int, row: list[Sequence], parts: list[_Part]) -> None:
        if self._record is None:
            return
        if not self._recording:
            self._record.begin(index)
            self._recording = True
        places = torch.cat([part.place for part in parts]).cpu().numpy()
        order = np.argsort(places, kind="stable")
        ends = np.cumsum(np.bincount(places, minlength=len(row)))[:-1]

        def of_sequences(name: str) -> list[np.ndarray]:
            values = torch.cat([getattr(part, name) for part in parts]).cpu().numpy()
            return np.split(values[order], ends)

        tokens = StepTokens(of_sequences("new"), of_sequences("ratio"), of_sequences("outside_band"))
        self._record.step(index + 1, row, tokens)

    def _learning_rate(self, row: list[Sequence]) -> float:
        config = self._config
        power = config["num_trajectories_learning_rate_multiplier_power"]
        return config["learning_rate"] * config["learning_rate_multiplier"] * _num_trajectories(row) ** power

    def _row_tokens(
        self, row: list[Sequence], trainer: Trainer
    ) -> Generator[None, None, tuple[list[PolicyTokens], float]]:
        """Loss inputs of every sequence of the row, and the row's mean KL to the reference."""
        device = trainer.decoder.device
        reference: list[Tensor | None] = [None] * len(row)
        if self._loss.kl_penalty_coef > 0:
            reference = yield from _row_logprobs(trainer, row, self._reference)
        tokens = [self._tokens(sequence, ref, device) for sequence, ref in zip(row, reference, strict=True)]
        if self._loss.kl_penalty_coef <= 0:
            return tokens, 0.0
        new = [t.old for t in tokens]
        if self._loss.kl_penalty_source != "sample" or any(bool(old.isnan().any()) for old in new):
            new = yield from _row_logprobs(trainer, row, trainer.lora)
        kl = [kl_to_reference(n, t, self._loss.kl_penalty_source) for n, t in zip(new, tokens, strict=True)]
        return tokens, float(torch.cat(kl).mean())

    def _tokens(self, sequence: Sequence, reference: Tensor | None, device: torch.device) -> PolicyTokens:
        sampled = torch.from_numpy(sequence.logprobs[sequence.trained]).float().to(device)
        recomputed = self._old.get(id(sequence))
        return PolicyTokens(
            advantages=torch.full_like(sampled, sequence.advantage),
            weights=torch.full_like(sampled, sequence.weight),
            sequence=torch.zeros_like(sampled, dtype=torch.int64),
            old=sampled if recomputed is None else recomputed,
            sampled=None if recomputed is None else sampled,
            reference=reference,
        )


def _num_trajectories(row: list[Sequence]) -> int:
    return len({sequence.trajectory for sequence in row})


def _row_logprobs(trainer: Trainer, row: list[Sequence], lora: LoraView) -> Generator[None, None, list[Tensor]]:
    found: list[Tensor] = []
    for result in trainer.micro_batches.logprobs(row, lora):
        if result is None:
            yield
        else:
            found = result
    return found


def _piece_tokens(tokens: list[PolicyTokens], batch: Batch) -> PolicyTokens:
    def joined(name: str) -> Tensor | None:
        values = [getattr(t, name) for t in tokens]
        return None if values[0] is None else torch.cat(values)

    names = ("advantages", "weights", "old", "sampled", "reference")
    return PolicyTokens(sequence=batch.sequence, **{name: joined(name) for name in names})
