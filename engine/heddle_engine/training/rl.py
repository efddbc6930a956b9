"""An RL job: optimizer steps over packed rows (training-api 7)."""

import hashlib
from collections.abc import Generator, Iterator
from dataclasses import fields
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..bases import Base
from ..model.decoder import LoraView
from .data.data_file import read_json_lines
from .data.sequences import Sequence
from .data.turns import TurnResolver
from .loss.mismatch import mismatch_metrics, mismatch_warning
from .loss.objectives import PolicyObjective, Record
from .loss.off_policy import off_policy_metrics, probability_correlation
from .loss.policy_loss import PolicyLossConfig, PolicyTokens, kl_to_reference
from .loss.reduction import Reduction, ReductionConfig
from .optimizer import RL_OPTIMIZER
from .rl_data import RlData, RlDataBuilder
from .saved.record import StepTokens, TrainingRecord
from .trainer import Trainer

Metrics = dict[str, float]


class _Parts:
    """All pieces of a step."""

    def __init__(self) -> None:
        self._parts: list[Record] = []

    def add(self, parts: list[Record]) -> None:
        self._parts += parts

    def total(self, name: str) -> float:
        return float(sum(part[name] for part in self._parts))

    def tokens(self, name: str) -> Tensor:
        return torch.cat([part[name] for part in self._parts])

    def arrays(self, name: str) -> np.ndarray:
        return self.tokens(name).cpu().numpy()


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
        self._reduction = ReductionConfig(config.get("loss_type", "bnpo"), config.get("max_completion_length"))
        self._data = RlData()
        self._old: dict[int, Tensor] = {}
        self._record = record
        self._recording = False
        self.chunk_size: int = config["logprob_calculation_chunk_size"]

    @property
    def num_steps(self) -> int:
        return len(self._data.steps)

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
        for rows in self._data.steps:
            sequences = [sequence for row in rows for sequence in row]
            found = yield from trainer.micro_batches.logprobs(sequences, trainer.lora)
            self._old.update(zip(map(id, sequences), found, strict=True))

    def tensors(self) -> dict[str, Tensor]:
        """Besides those of the trainer, what a snapshot needs: all is worked out again."""
        return {}

    def restore(self, tensors: dict[str, Tensor], gradient_steps: int) -> None:
        """Lines that a kill cut off go even if no step is left to do."""
        if self._record is not None:
            self._record.begin(gradient_steps)
            self._recording = True

    def step(self, index: int, trainer: Trainer) -> Generator[None, None, Metrics]:
        rows = self._data.steps[index]
        sequences = [sequence for row in rows for sequence in row]
        started = trainer.micro_batches.seconds
        tokens, kl = yield from self._step_tokens(rows, trainer)
        device = trainer.decoder.device
        reduction = Reduction(self._reduction, [sequence.num_trained for sequence in sequences], device)
        row_kl = kl.repeat_interleave(torch.tensor([len(row) for row in rows], device=device))
        places = torch.arange(len(sequences), device=device)
        objective = PolicyObjective(self._loss, reduction, tokens, row_kl, places)
        parts = _Parts()
        for records in trainer.micro_batches.backward(sequences, trainer.lora, objective):
            parts.add(records)
            yield
        policy = parts.total("loss")
        learning_rate = self._learning_rate(sequences)
        norm = trainer.update(learning_rate, index + 1, policy)
        self._record_step(index, sequences, parts)
        metrics = {
            "policy_loss": policy,
            "entropy": parts.total("entropy"),
            "grad_norm": norm,
            "learning_rate": learning_rate,
            "clip_fraction": float(parts.tokens("outside_band").float().mean()),
            "num_trainable_tokens": reduction.num_tokens,
            "num_datums": len(sequences),
            "trajectories_untrainable": self._data.counts["trajectories_untrainable"],
            **mismatch_metrics(parts.tokens("new"), parts.tokens("sampled")),
            **off_policy_metrics(parts.arrays("ratio"), parts.arrays("clipped")),
            **probability_correlation(parts.arrays("new"), parts.arrays("old")),
            "tokens_per_second": sum(map(len, sequences)) / (trainer.micro_batches.seconds - started),
        }
        if self._loss.kl_penalty_coef > 0:
            metrics["kl_policy_ref"] = float(kl.mean())
        return metrics

    def data_metrics(self, steps: list[Metrics]) -> Metrics:
        """Counts of the data, and the mismatch of the first step, when the weights were still the sampler's."""
        first = {name: value for name, value in (steps[0] if steps else {}).items() if name.startswith("mismatch_")}
        return {**self._data.counts, "sequences_packed": sum(map(len, self._data.rows)), **first}

    def step_warning(self, index: int, metrics: Metrics) -> str | None:
        warning = mismatch_warning(metrics, self._base.decoder.dtype) if index == 0 else None
        return warning or (self._record and self._record.take_warning())

    def _record_step(self, index: int, sequences: list[Sequence], parts: _Parts) -> None:
        if self._record is None:
            return
        if not self._recording:
            self._record.begin(index)
            self._recording = True
        places = parts.arrays("place")
        order = np.argsort(places, kind="stable")
        ends = np.cumsum(np.bincount(places, minlength=len(sequences)))[:-1]

        def of_sequences(name: str) -> list[np.ndarray]:
            return np.split(parts.arrays(name)[order], ends)

        tokens = StepTokens(of_sequences("new"), of_sequences("ratio"), of_sequences("outside_band"))
        self._record.step(index + 1, sequences, tokens)

    def _learning_rate(self, sequences: list[Sequence]) -> float:
        config = self._config
        power = config["num_trajectories_learning_rate_multiplier_power"]
        return config["learning_rate"] * config["learning_rate_multiplier"] * _num_trajectories(sequences) ** power

    def _step_tokens(
        self, rows: list[list[Sequence]], trainer: Trainer
    ) -> Generator[None, None, tuple[list[PolicyTokens], Tensor]]:
        """Loss inputs of every sequence of the step, and each row's mean KL to the reference."""
        device = trainer.decoder.device
        sequences = [sequence for row in rows for sequence in row]
        reference: list[Tensor | None] = [None] * len(sequences)
        if self._loss.kl_penalty_coef > 0:
            reference = yield from trainer.micro_batches.logprobs(sequences, self._reference)
        tokens = [self._tokens(sequence, ref, device) for sequence, ref in zip(sequences, reference, strict=True)]
        if self._loss.kl_penalty_coef <= 0:
            return tokens, torch.zeros(len(rows), device=device)
        new = [t.old for t in tokens]
        if self._loss.kl_penalty_source != "sample" or any(bool(old.isnan().any()) for old in new):
            new = yield from trainer.micro_batches.logprobs(sequences, trainer.lora)
        kl = iter([kl_to_reference(n, t, self._loss.kl_penalty_source) for n, t in zip(new, tokens, strict=True)])
        return tokens, torch.stack([torch.cat(list(islice(kl, len(row)))).mean() for row in rows])

    def _tokens(self, sequence: Sequence, reference: Tensor | None, device: torch.device) -> PolicyTokens:
        sampled = torch.from_numpy(sequence.logprobs[sequence.trained]).float().to(device)
        recomputed = self._old.get(id(sequence))
        return PolicyTokens(
            advantages=torch.full_like(sampled, sequence.advantage),
            weights=torch.full_like(sampled, sequence.weight),
            old=sampled if recomputed is None else recomputed,
            sampled=None if recomputed is None else sampled,
            reference=reference,
        )


def _num_trajectories(sequences: list[Sequence]) -> int:
    return len({sequence.trajectory for sequence in sequences})
