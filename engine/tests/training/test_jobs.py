"""Whole training jobs on a tiny random model."""

import copy
import math
import os
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from heddle_engine.errors import EngineError
from heddle_engine.model.decoder import NoLora
from heddle_engine.model.lora import initial_lora, read_peft, write_peft
from heddle_engine.training import micro_batches
from heddle_engine.training.jobs import TrainingJob
from heddle_engine.training.packed.packed_forward import batch_logprobs, lay_out
from heddle_engine.training.saved.checkpoints import read_optimizer
from heddle_engine.training.trainable_lora import TrainableLora
from tests.training.builders import sequence
from tests.training.jobs_support import (
    cpu_bases,
    exact_choice,
    job_params,
    run_job,
    sampled_groups,
    steps,
    trajectory,
)


@pytest.fixture(scope="module")
def folder(model_folders):
    return model_folders("qwen3")


@pytest.fixture(scope="module")
def groups(folder):
    return sampled_groups(folder)


def adapter(result) -> dict[str, torch.Tensor]:
    return load_file(Path(result["output"]["path"]) / "adapter_model.safetensors")


def equal(a, b) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def distance(a, b) -> float:
    return max(float((a[name] - b[name]).abs().max()) for name in a)


def without_timings(events):
    return [
        (e.kind, {**e.data, "metrics": {k: v for k, v in e.data["metrics"].items() if k != "tokens_per_second"}})
        if e.kind == "gradient_step"
        else (e.kind, e.data)
        for e in events
    ]


def test_an_rl_job_ends_with_a_served_checkpoint(folder, groups, tmp_path):
    bases = cpu_bases()
    params = job_params(folder, tmp_path, groups)
    events, result = run_job(params, bases)
    assert events[0].kind == "training_started"
    count = events[0].data["num_sequences"]
    assert count > 1
    assert [e.data["number"] for e in events if e.kind == "gradient_step"] == list(range(1, count + 1))
    assert all(math.isfinite(v) for m in steps(events) for v in m.values())
    required = {"policy_loss", "entropy", "grad_norm", "learning_rate", "num_trainable_tokens", "num_datums"}
    assert required <= set(steps(events)[0])
    assert steps(events)[0]["mismatch_rms"] < 1e-5
    assert result["gradient_steps"] == count
    assert result["data_metrics"]["turns_choice_ids"] == 12
    assert result["data_metrics"]["mismatch_rms"] < 1e-5
    assert result["output"]["key"] in bases.resolve(params["base"]).adapters
    assert {file.name for file in Path(result["output"]["path"]).iterdir()} == {
        "adapter_config.json",
        "adapter_model.safetensors",
        "optimizer.safetensors",
        "state.json",
        "manifest.json",
    }


def test_training_raises_the_probability_of_rewarded_completions(folder, groups, tmp_path):
    params = job_params(folder, tmp_path, groups, learning_rate=3e-3)
    _, result = run_job(params)
    base = cpu_bases().load(params["base"])
    sequences, rewards = [], [line["reward"] for line in groups]
    for line in groups:
        choice = line["histories"][0]["items"][0]["choice"]
        sequences.append(sequence([*choice["prompt_token_ids"], *choice["token_ids"]], len(choice["prompt_token_ids"])))
    trained = TrainableLora(read_peft(Path(result["output"]["path"]), base.config), base.decoder.device)
    batch = lay_out(sequences, base.decoder.device)
    with torch.no_grad():
        before, after = (batch_logprobs(base.decoder, batch, lora, 1024)[0] for lora in (NoLora(), trained))
    rewarded = torch.tensor(rewards)[batch.sequence] == 1
    change = after - before
    assert change[rewarded].mean() > change[~rewarded].mean() + 0.05


def test_the_same_job_twice_is_bit_equal(folder, groups, tmp_path):
    (first, a), (second, b) = (run_job(job_params(folder, tmp_path, groups, name=name)) for name in "ab")
    assert equal(adapter(a), adapter(b))
    assert without_timings(first) == without_timings(second)


@pytest.mark.parametrize("budget", [40, 70])
def test_any_split_into_micro_batches_gives_the_same_step(folder, groups, tmp_path, monkeypatch, budget):
    """engine 4.5, mean of means; the sequence-level ratio and the KL mean span the pieces too."""
    config = {
        "packed_sequence_length": None,
        "importance_sampling_level": "sequence",
        "kl_penalty_coef": 0.1,
    }
    whole_events, whole = run_job(job_params(folder, tmp_path, groups, name="whole", **config))
    monkeypatch.setitem(micro_batches.TOKENS, "cpu", budget)
    monkeypatch.setitem(micro_batches.MOST_TOKENS, "cpu", budget)
    split_events, split = run_job(job_params(folder, tmp_path, groups, name="split", **config))
    assert len(steps(split_events)) == len(steps(whole_events)) == 1
    for name, value in steps(whole_events)[0].items():
        if name not in ("tokens_per_second", "mismatch_kl", "mismatch_rms", "mismatch_max"):
            assert steps(split_events)[0][name] == pytest.approx(value, rel=1e-4, abs=1e-6), name
    assert distance(adapter(whole), adapter(split)) < 1e-4  # AdamW's first step is about the sign of the gradient


def test_nothing_to_train_makes_the_same_checkpoint_again(folder, groups, tmp_path):
    _, parent = run_job(job_params(folder, tmp_path, groups, name="parent"))
    equal_rewards = [{**line, "reward": 0.5} for line in groups]
    events, result = run_job(job_params(folder, tmp_path, equal_rewards, name="child", start=parent["output"]))
    assert [(e.kind, e.data) for e in events] == [("training_started", {"num_sequences": 0})]
    assert result["gradient_steps"] == 0
    for name in ("adapter_model.safetensors", "adapter_config.json", "optimizer.safetensors"):
        ours, theirs = (Path(r["output"]["path"]) / name for r in (result, parent))
        assert ours.read_bytes() == theirs.read_bytes()


def test_nothing_to_train_is_not_served_as_what_a_cancelled_job_made_of_the_same_step(folder, groups, tmp_path):
    bases = cpu_bases()
    cancelled = job_params(folder, tmp_path, groups, name="cancelled")
    _, left = run_job(cancelled, bases)
    equal_rewards = [{**line, "reward": 0.5} for line in groups]
    params = job_params(folder, tmp_path, equal_rewards, name="next")
    params["output"]["key"] = cancelled["output"]["key"]
    _, made = run_job(params, bases)
    adapters = bases.resolve(params["base"]).adapters
    served, other = (adapters.get(result["output"]["key"], "/nowhere") for result in (made, left))
    assert all(not up.any() for _, up in served.sites.values())  # the initial adapter: B is zero
    assert any(up.any() for _, up in other.sites.values())


def test_nothing_to_train_from_the_start_makes_the_initial_adapter(folder, groups, tmp_path):
    params = job_params(folder, tmp_path, [{**line, "reward": 0.5} for line in groups])
    _, result = run_job(params)
    config = cpu_bases().resolve(params["base"]).config
    write_peft(tmp_path, initial_lora(config, **params["lora"]), "test", config)
    assert equal(adapter(result), adapter({"output": {"path": tmp_path}}))


def test_optimizer_state_goes_on_in_the_next_job_of_the_same_kind(folder, groups, tmp_path):
    """training-api 7.6: the state is kept between RL jobs, and cleared when the kind of job changes."""
    _, first = run_job(job_params(folder, tmp_path, groups, name="first"))
    count = first["gradient_steps"]
    _, second = run_job(job_params(folder, tmp_path, groups, name="second", start=first["output"]))
    assert optimizer_steps(second) == 2 * count
    rows = [{"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}]
    sft = job_params(folder, tmp_path, rows, kind="sft", name="sft", start=second["output"])
    _, third = run_job(sft)
    assert optimizer_steps(third) == 1


def optimizer_steps(result) -> int:
    return read_optimizer(Path(result["output"]["path"])).steps


def test_learning_rate_multipliers(folder, groups, tmp_path):
    """The rate is lr * multiplier * (trajectories in the row)^power."""
    config = {
        "learning_rate": 1e-4,
        "learning_rate_multiplier": 0.5,
        "num_trajectories_learning_rate_multiplier_power": 2.0,
        "packed_sequence_length": 1024,
    }
    events, _ = run_job(job_params(folder, tmp_path, groups, **config))
    (metrics,) = steps(events)
    assert metrics["learning_rate"] == pytest.approx(0.5e-4 * 12**2)


def test_gradient_steps_lack_the_figures_that_the_client_counts_itself(folder, groups, tmp_path):
    """ART counts these in its own groups, exceptions included, unless a step has them (training-api 3.4)."""
    events, _ = run_job(job_params(folder, tmp_path, groups))
    counted = {"num_trajectories", "num_groups_submitted", "num_groups_trainable", "num_scenarios"}
    assert not counted & set(steps(events)[0])


def test_kl_to_the_base_is_zero_at_the_start_and_grows(folder, groups, tmp_path):
    params = job_params(folder, tmp_path, groups, kl_penalty_coef=0.5, learning_rate=1e-2)
    kl = [m["kl_policy_ref"] for m in steps(run_job(params)[0])]
    assert kl[0] == pytest.approx(0.0, abs=1e-6)
    assert max(map(abs, kl[1:])) > 1e-3


def test_a_named_reference_is_the_one_compared_with(folder, groups, tmp_path):
    _, trained = run_job(job_params(folder, tmp_path, groups, name="trained", learning_rate=1e-2))
    params = job_params(folder, tmp_path, groups, name="next", start=trained["output"], kl_penalty_coef=0.5)
    against_base = steps(run_job(params)[0])[0]["kl_policy_ref"]
    params = job_params(folder, tmp_path, groups, name="same", start=trained["output"], kl_penalty_coef=0.5)
    against_itself = steps(run_job({**params, "reference": trained["output"]})[0])[0]["kl_policy_ref"]
    assert against_itself == pytest.approx(0.0, abs=1e-6)
    assert abs(against_base) > 1e-3


def test_precalculated_logprobs_replace_the_sampled_ones(folder, groups, tmp_path):
    """The sampled values here are so wrong that every PPO ratio would be clipped; recomputed, the first ratio is 1."""
    wrong = [{**line} for line in groups]
    for line in wrong:
        choice = line["histories"][0]["items"][0]["choice"]
        entries = [{"token": "x", "logprob": entry["logprob"] - 3} for entry in choice["logprobs"]]
        line["histories"] = [{"items": [{"choice": {**choice, "logprobs": entries}}], "tools": None}]
    ppo = {"loss_fn": "ppo", "epsilon": 0.2, "epsilon_high": 0.2, "packed_sequence_length": None}
    for precalculate, clipped in ((False, 1.0), (True, 0.0)):
        params = job_params(folder, tmp_path, wrong, name=f"p{precalculate}", precalculate_logprobs=precalculate, **ppo)
        events, _ = run_job(params)
        assert steps(events)[0]["clip_fraction"] == clipped
        assert steps(events)[0]["mismatch_rms"] == pytest.approx(3.0, abs=1e-4)
        assert any(e.kind == "warning" and "3 nats RMS" in e.data["message"] for e in events)


def test_a_loss_that_is_not_finite_fails_the_job_naming_the_step(folder, groups, tmp_path):
    params = job_params(folder, tmp_path, groups, learning_rate=1e30)
    with pytest.raises(EngineError, match=r"Gradient step 2: the loss is .*Lower the learning rate") as refused:
        run_job(params)
    assert refused.value.kind == "invalid"
    assert not Path(params["output"]["path"]).exists()


@pytest.mark.parametrize(
    ("rate", "message"),
    [
        (1e30, r"After the last gradient step, 1, .* not finite\. Lower the learning rate"),
        (1e300, r"Gradient step 1: the learning rate is 1e\+300, more than .* Lower it"),
    ],
)
def test_a_rate_that_drives_the_weights_out_of_range_fails_the_job(folder, groups, tmp_path, rate, message):
    """training-api 7.4: nothing could be sampled from such a step."""
    params = job_params(folder, tmp_path, groups, learning_rate=rate, packed_sequence_length=1024)
    with pytest.raises(EngineError, match=message) as refused:
        run_job(params)
    assert refused.value.kind == "invalid"
    assert not Path(params["output"]["path"]).exists()


def test_a_metric_that_is_not_finite_fails_the_job_naming_it(folder, groups, tmp_path):
    """training-api 3.1: its event could not be told."""
    lines = copy.deepcopy(groups)
    lines[0]["histories"][0]["items"][0]["choice"]["logprobs"][0]["logprob"] = 1e6
    with pytest.raises(EngineError, match=r"Gradient step \d: the metric loss/probs_corr is nan, not a finite number"):
        run_job(job_params(folder, tmp_path, lines))


def test_running_out_of_memory_once_halves_the_piece(folder, groups, tmp_path, monkeypatch):
    params = job_params(folder, tmp_path, groups, name="calm", packed_sequence_length=None)
    _, calm = run_job(params)
    fail_when(monkeypatch, lambda calls: calls == 1)
    events, result = run_job(job_params(folder, tmp_path, groups, name="tight", packed_sequence_length=None))
    assert any("ran out of memory and was done in smaller pieces" in str(e.data) for e in events)
    assert distance(adapter(calm), adapter(result)) < 1e-4


def test_running_out_of_memory_while_logprobs_are_recomputed_halves_the_piece(folder, groups, tmp_path, monkeypatch):
    settings = {"packed_sequence_length": None, "precalculate_logprobs": True}
    _, calm = run_job(job_params(folder, tmp_path, groups, name="calm", **settings))
    fail_when(monkeypatch, lambda calls: calls == 1)
    _, result = run_job(job_params(folder, tmp_path, groups, name="tight", **settings))
    assert distance(adapter(calm), adapter(result)) < 1e-4


def test_a_piece_that_memory_did_not_suffice_for_is_not_tried_again(folder, groups, tmp_path, monkeypatch):
    """With memory for 60 tokens, pieces are halved until they fit, and later pieces are small from the start."""
    _, calm = run_job(job_params(folder, tmp_path, groups, name="calm", packed_sequence_length=200))
    sizes, real = [], micro_batches.batch_logprobs

    def forward(decoder, batch, *rest):
        sizes.append(len(batch.ids))
        if len(batch.ids) > 60:
            raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")
        return real(decoder, batch, *rest)

    monkeypatch.setattr(micro_batches, "batch_logprobs", forward)
    _, result = run_job(job_params(folder, tmp_path, groups, name="tight", packed_sequence_length=200))
    assert distance(adapter(calm), adapter(result)) < 1e-4
    # Processors differ in which sequences share a piece, but no size fails twice, in any step.
    failed = [size for size in sizes if size > 60]
    assert failed[0] > 120
    assert failed == sorted(set(failed), reverse=True)


def test_running_out_of_memory_with_one_sequence_fails_the_job(folder, groups, tmp_path, monkeypatch):
    fail_when(monkeypatch, lambda calls: True)
    with pytest.raises(
        EngineError, match=r"Out of memory in a training pass over one sequence of \d+ tokens"
    ) as refused:
        run_job(job_params(folder, tmp_path, groups, packed_sequence_length=None))
    assert refused.value.kind == "out_of_memory"


def fail_when(monkeypatch, condition):
    """Makes torch's CPU allocator fail in the chosen forward passes, after part of their work."""
    real, calls = micro_batches.batch_logprobs, [0]

    def forward(*args):
        calls[0] += 1
        found = real(*args)
        if condition(calls[0]):
            raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory")
        return found

    monkeypatch.setattr(micro_batches, "batch_logprobs", forward)


@pytest.mark.parametrize("stop_after", [1, 3])
def test_a_stopped_job_goes_on_to_the_same_end(folder, groups, tmp_path, stop_after):
    expected_events, expected = run_job(job_params(folder, tmp_path, groups, name="whole"))
    params = job_params(folder, tmp_path, groups, name="stopped")
    running = TrainingJob(params, cpu_bases().load(params["base"])).run()
    seen = 0
    for event in running:
        seen += event is not None and event.kind == "gradient_step"
        if seen == stop_after:
            break
    running.close()
    events, result = run_job(params)
    assert without_timings(events) == without_timings(expected_events)
    assert equal(adapter(result), adapter(expected))


def test_a_finished_job_that_is_called_again_gives_the_same_events_and_result(folder, groups, tmp_path):
    params = job_params(folder, tmp_path, groups)
    events, result = run_job(params)
    bases = cpu_bases()
    again, repeated = run_job(params, bases)
    assert again == events
    assert repeated == result
    assert result["output"]["key"] in bases.resolve(params["base"]).adapters


def test_another_jobs_output_is_not_taken_for_ours(folder, groups, tmp_path):
    params = job_params(folder, tmp_path, groups)
    run_job(params)
    with pytest.raises(EngineError, match="exists and is not this job's work"):
        run_job({**params, "job_id": "other"})


def test_a_full_disk_fails_the_job_and_leaves_no_checkpoint(folder, groups, tmp_path, monkeypatch):
    params = job_params(folder, tmp_path, groups)
    real = os.rename

    def rename(source, target):
        if str(target) == params["output"]["path"]:
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(EngineError, match=f"The disk of {tmp_path} is full") as refused:
        run_job(params)
    assert refused.value.kind == "disk_full"
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".tmp"]


def test_missing_logprobs_are_trained_on_policy_when_allowed(folder, tmp_path):
    lines = [trajectory(0, i, float(i), exact_choice([1, 2], [3, 4 + i], [])) for i in range(2)]
    for line in lines:
        line["histories"][0]["items"][0]["choice"]["logprobs"] = None
    events, _ = run_job(job_params(folder, tmp_path, lines, name="strict"))
    warning, started = events
    assert "2 completions in 2 trajectories could not be trained" in warning.data["message"]
    assert started.data == {"num_sequences": 0}
    params = job_params(folder, tmp_path, lines, name="open", allow_training_without_logprobs=True)
    events, result = run_job(params)
    metrics = steps(events)[0]
    assert metrics["num_trainable_tokens"] == 4
    assert "mismatch_rms" not in metrics
    assert all(math.isfinite(value) for value in metrics.values())
    assert result["data_metrics"]["turns_without_logprobs"] == 2


def test_a_job_gives_way_between_passes(folder, groups, tmp_path):
    """Two jobs on one thread advance side by side, because each `next` runs at most one pass."""
    base = cpu_bases().load({"name": "test", "path": str(folder)})
    jobs = [TrainingJob(job_params(folder, tmp_path, groups, name=name), base).run() for name in "ab"]
    order = []
    while jobs:
        for job in list(jobs):
            try:
                event = next(job)
            except StopIteration:
                jobs.remove(job)
                continue
            if event is not None and event.kind == "gradient_step":
                order.append(event.data["number"])
    assert all(b - a <= 1 for a, b in pairwise(order))
    assert order == sorted(order)
