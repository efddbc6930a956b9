"""Loss, gradient and diagnostics of whole jobs against training-api 7.4 written down once more, plainly.

Gradients are taken one sequence at a time through the decoder; test_gradients.py holds its own against transformers.
"""

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from heddle_engine.model.decoder import NoLora
from heddle_engine.model.lora import initial_lora
from heddle_engine.training import micro_batches
from heddle_engine.training.jobs import TrainingJob
from heddle_engine.training.packed.packed_forward import batch_logprobs, lay_out
from heddle_engine.training.saved.record_lines import whole_lines
from heddle_engine.training.trainable_lora import TrainableLora
from heddle_engine.training.trainer import Trainer
from tests.training.builders import sequence
from tests.training.jobs_support import cpu_bases, job_params, run_job, sampled_groups, steps

#: Nothing moves, so that every step finds the weights that the job starts with.
STILL = {"learning_rate": 0.0, "packed_sequence_length": 64, "logprob_calculation_chunk_size": 32}
CISPO = {"loss_fn": "cispo", "epsilon": 0.2, "epsilon_high": 0.3}
PPO = {
    "loss_fn": "ppo",
    "epsilon": 0.2,
    "epsilon_high": 0.3,
    "importance_sampling_level": "average",
    "kimi_k2_tau": 0.2,
    "kl_penalty_coef": 0.3,
    "kl_penalty_source": "sample",
}
LOSS_TYPES = {
    "bnpo": {"loss_type": "bnpo"},
    "grpo": {"loss_type": "grpo"},
    "dr_grpo": {"loss_type": "dr_grpo", "max_completion_length": 24},
}


@pytest.fixture(scope="module")
def folder(model_folders):
    return model_folders("qwen3")


@pytest.fixture(scope="module")
def bases():
    return cpu_bases()


@pytest.fixture(scope="module")
def groups(folder):
    """As sampled from a policy that is some way off: log-probabilities moved by up to 0.9 nats."""
    lines, generator = sampled_groups(folder), np.random.default_rng(5)
    for line in lines:
        for entry in line["histories"][0]["items"][0]["choice"]["logprobs"]:
            entry["logprob"] += float(generator.uniform(-0.9, 0.9))
    return lines


@dataclass
class Ran:
    metrics: list[dict]
    #: Trajectories of each optimizer step.
    trained: list[list[int]]
    gradients: list[torch.Tensor]
    passes: int
    num_sequences: int


@pytest.fixture
def run(folder, bases, groups, tmp_path, monkeypatch):
    def run(name, **config) -> Ran:
        gradients, passes = [], []
        update, forward = Trainer.update, micro_batches.batch_logprobs

        def noted_update(trainer, *rest):
            gradients.append(trainer.lora.gradient.clone())
            return update(trainer, *rest)

        def counted_forward(*arguments):
            passes.append(1)
            return forward(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(Trainer, "update", noted_update)
            patch.setattr(micro_batches, "batch_logprobs", counted_forward)
            params = job_params(folder, tmp_path, groups, name=name, **{**STILL, **config})
            events, _ = run_job({**params, "record_dir": str(tmp_path / f"{name}-record")}, bases)
        metrics = steps(events)
        trained = trained_by_step(tmp_path / f"{name}-record", len(metrics))
        return Ran(metrics, trained, gradients, len(passes), events_named(events, "training_started")["num_sequences"])

    return run


def events_named(events, kind) -> dict:
    (found,) = [event.data for event in events if event.kind == kind]
    return found


def trained_by_step(record: Path, count: int) -> list[list[int]]:
    """Which trajectories each step trains, as the job's record tells."""
    _, *lines = [line for _, line in whole_lines(record / "trajectories.jsonl")]
    found = defaultdict(list)
    for number, line in enumerate(lines):
        for one in line["sequences"]:
            found[one["step"]].append(number)
    return [found[step] for step in range(1, count + 1)]


@dataclass
class Expected:
    loss: float
    gradient: torch.Tensor
    ratios: np.ndarray
    clipped: np.ndarray
    new: np.ndarray
    old: np.ndarray


class Plain:
    """The formulas over trajectories of one completion each, one at a time and in float64 but for the decoder."""

    def __init__(self, folder, bases, lines, config) -> None:
        base = bases.load({"name": "test", "path": str(folder)})
        self.lora = TrainableLora(initial_lora(base.config, rank=4, alpha=8.0, seed=3407), base.decoder.device)
        self.config = config
        choices = [line["histories"][0]["items"][0]["choice"] for line in lines]
        self.new, self.old, self.reference = [], [], []
        for choice in choices:
            prompt = choice["prompt_token_ids"]
            batch = lay_out([sequence([*prompt, *choice["token_ids"]], len(prompt))], base.decoder.device)
            self.new.append(batch_logprobs(base.decoder, batch, self.lora, 1024)[0].double())
            self.reference.append(batch_logprobs(base.decoder, batch, NoLora(), 1024)[0].double().detach())
            self.old.append(torch.tensor([entry["logprob"] for entry in choice["logprobs"]], dtype=torch.float64))
        self.weights, self.advantages = self._weights_and_advantages(lines)

    def _weights_and_advantages(self, lines):
        by_group = defaultdict(list)
        for line in lines:
            by_group[line["group"]].append(line["reward"])
        mean, deviation = ({g: f(rewards) for g, rewards in by_group.items()} for f in (np.mean, np.std))
        raw = np.array([(x["reward"] - mean[x["group"]]) / (deviation[x["group"]] + 1e-6) for x in lines])
        counts = np.array([len(old) for old in self.old])
        weights = 1 / (counts + 1e-6) if self.config["normalize_by_length"] else np.ones(len(counts))
        weights = weights / ((weights * counts).sum() / counts.sum())
        return weights, raw / ((np.abs(raw) * weights * counts).sum() / counts.sum())

    def step(self, rows: list[list[int]]) -> Expected:
        """One optimizer step over ``rows`` of trajectories."""
        c = self.config
        low, high = 1 - c["epsilon"], 1 + c["epsilon_high"]
        per_completion, ratios, clipped = [], [], []
        for row in rows:
            k = {i: self.old[i] - self.reference[i] for i in row}
            mean_k = torch.cat(list(k.values())).mean()
            for i in row:
                new, old = self.new[i], self.old[i]
                d = new - old
                ratio = d.exp()
                if c.get("importance_sampling_level") == "average":
                    ratio = (ratio + d.mean().exp()) / 2
                advantage = self.advantages[i] - c.get("kimi_k2_tau", 0.0) * d.detach()
                advantage = advantage + c.get("kl_penalty_coef", 0.0) * (mean_k - k[i])
                if c["loss_fn"] == "ppo":
                    loss = -torch.minimum(ratio * advantage, ratio.clamp(low, high) * advantage)
                    acts = ((advantage > 0) & (ratio > high)) | ((advantage < 0) & (ratio < low))
                else:
                    loss = -ratio.clamp(low, high).detach() * advantage * new
                    acts = (ratio < low) | (ratio > high)
                per_completion.append(self.weights[i] * loss)
                ratios.append(ratio.detach())
                clipped.append(acts)
        places = [i for row in rows for i in row]
        total = self._reduced(per_completion)
        self.lora.gradient.zero_()
        total.backward(retain_graph=True)
        return Expected(
            total.item(),
            self.lora.gradient.clone(),
            torch.cat(ratios).numpy(),
            torch.cat(clipped).numpy(),
            torch.cat([self.new[i].detach() for i in places]).numpy(),
            torch.cat([self.old[i] for i in places]).numpy(),
        )

    def _reduced(self, per_completion: list[torch.Tensor]) -> torch.Tensor:
        if self.config["loss_type"] == "grpo":
            return torch.stack([values.mean() for values in per_completion]).mean()
        total = torch.cat(per_completion).sum()
        if self.config["loss_type"] == "dr_grpo":
            return total / (len(per_completion) * self.config["max_completion_length"])
        return total / sum(map(len, per_completion))


def apart(found: torch.Tensor, expected: torch.Tensor) -> float:
    return float((found - expected).norm() / expected.norm())


@pytest.mark.parametrize("by_length", [True, False], ids=["by length", "by token"])
@pytest.mark.parametrize("loss_fn", [CISPO, PPO], ids=["cispo", "ppo"])
@pytest.mark.parametrize("loss_type", LOSS_TYPES)
def test_loss_and_gradient_of_each_step_are_those_of_the_formula(
    loss_type, loss_fn, by_length, run, folder, bases, groups, monkeypatch
):
    """training-api 7.4: two rows an optimizer step, and the same gradient in pieces of half the size and less."""
    config = {**loss_fn, **LOSS_TYPES[loss_type], "normalize_by_length": by_length}
    rows = run("rows", **config).trained
    assert len(rows) > 2
    whole = run("whole", grad_accumulation_sequences=2, **config)
    monkeypatch.setitem(micro_batches.TOKENS, "cpu", 40)
    monkeypatch.setitem(micro_batches.MOST_TOKENS, "cpu", 40)
    halved = run("halved", grad_accumulation_sequences=2, **config)
    assert halved.passes >= 2 * whole.passes

    plain = Plain(folder, bases, groups, {"normalize_by_length": by_length, **config})
    steps_of_rows = [rows[i : i + 2] for i in range(0, len(rows), 2)]
    assert whole.num_sequences == len(whole.metrics) == len(steps_of_rows)
    for number, together in enumerate(steps_of_rows):
        assert whole.trained[number] == sorted(i for row in together for i in row)
        expected = plain.step(together)
        for ran in (whole, halved):
            assert ran.metrics[number]["policy_loss"] == pytest.approx(expected.loss, rel=2e-4, abs=1e-5)
            assert apart(ran.gradients[number], expected.gradient) < 1e-4
        assert apart(halved.gradients[number], whole.gradients[number]) < 1e-5


@pytest.mark.parametrize("loss_fn", [CISPO, PPO], ids=["cispo", "ppo"])
def test_diagnostics_are_those_of_all_tokens_of_the_step(loss_fn, run, folder, bases, groups, monkeypatch):
    """training-api 3.3: whatever the pieces."""
    config = {**loss_fn, "loss_type": "bnpo", "normalize_by_length": True}
    rows = run("rows", **config).trained
    monkeypatch.setitem(micro_batches.TOKENS, "cpu", 40)
    monkeypatch.setitem(micro_batches.MOST_TOKENS, "cpu", 40)
    found = run("diagnosed", grad_accumulation_sequences=100, **config).metrics
    assert len(found) == 1
    expected = Plain(folder, bases, groups, config).step(rows)
    ratios = np.sort(expected.ratios)
    assert 0.05 < expected.clipped.mean() < 0.95
    outside = (ratios < 0.8) | (ratios > 1.3)
    at = 0.95 * (len(ratios) - 1)
    p95 = ratios[int(at)] + (at - int(at)) * (ratios[int(at) + 1] - ratios[int(at)])
    assert {name: found[0][name] for name in found[0] if "ratio" in name or "frac" in name or "corr" in name} == {
        "loss/importance_ratio_mean": pytest.approx(ratios.sum() / len(ratios), rel=1e-5),
        "loss/importance_ratio_p95": pytest.approx(p95, rel=1e-4),
        "loss/importance_ratio_p99": pytest.approx(np.percentile(ratios, 99), rel=1e-4),
        "loss/clipped_token_fraction": pytest.approx(expected.clipped.mean(), abs=1e-9),
        "clip_fraction": pytest.approx(outside.mean(), abs=1e-6),
        "effective_sample_fraction": pytest.approx(1 / np.mean((ratios / ratios.mean()) ** 2), rel=1e-5),
        "loss/probs_corr": pytest.approx(np.corrcoef(np.exp(expected.new), np.exp(expected.old))[0, 1], rel=1e-4),
    }
    assert (expected.clipped.mean() < outside.mean()) == (loss_fn is PPO)


def test_without_sampled_logprobs_every_ratio_is_one_and_there_is_no_correlation(folder, bases, groups, tmp_path):
    """training-api 7.4: an old log-probability that is missing is the new one."""
    lines = json.loads(json.dumps(groups))
    for line in lines:
        for entry in line["histories"][0]["items"][0]["choice"]["logprobs"]:
            entry["logprob"] = None
    params = job_params(folder, tmp_path, lines, allow_training_without_logprobs=True)
    first = steps(run_job(params, bases)[0])[0]
    shown = ("loss/importance_ratio_mean", "loss/importance_ratio_p95", "loss/importance_ratio_p99")
    assert [first[name] for name in shown] == [1.0, 1.0, 1.0]
    assert (first["loss/clipped_token_fraction"], first["effective_sample_fraction"]) == (0.0, 1.0)
    assert "loss/probs_corr" not in first


def test_a_job_of_several_rows_a_step_goes_on_after_a_stop_to_the_same_end(folder, bases, groups, tmp_path):
    """engine 5.6: steps, not rows, are counted."""
    config = {**CISPO, "packed_sequence_length": 64, "logprob_calculation_chunk_size": 32}
    config |= {"loss_type": "grpo", "grad_accumulation_sequences": 2}
    expected, whole = run_job(job_params(folder, tmp_path, groups, name="whole", **config), bases)
    params = job_params(folder, tmp_path, groups, name="stopped", **config)
    running = TrainingJob(params, bases.load(params["base"])).run()
    next(event for event in running if event is not None and event.kind == "gradient_step")
    running.close()
    events, result = run_job(params, bases)
    assert result["gradient_steps"] == whole["gradient_steps"] > 1
    assert [m["policy_loss"] for m in steps(events)] == [m["policy_loss"] for m in steps(expected)]
    ours, theirs = (Path(r["output"]["path"]) / "adapter_model.safetensors" for r in (result, whole))
    assert ours.read_bytes() == theirs.read_bytes()


def test_several_rows_are_one_step_of_all_their_trajectories(folder, bases, groups, tmp_path):
    """training-api 7.6: the learning rate grows with the trajectories of the step."""
    config = {**STILL, "learning_rate": 1e-4, "num_trajectories_learning_rate_multiplier_power": 1.0}
    config["grad_accumulation_sequences"] = 100
    (metrics,) = steps(run_job(job_params(folder, tmp_path, groups, **config), bases)[0])
    assert metrics["learning_rate"] == pytest.approx(1e-4 * 12)
    assert metrics["num_datums"] == 12
