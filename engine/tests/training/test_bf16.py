"""Training in bf16 on a CPU: gradients near those of fp32, fp32 adapters, and jobs that go on in either format."""

import asyncio
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from heddle_engine.bases import Bases
from heddle_engine.model.files.weights import load_decoder
from heddle_engine.training.jobs import TrainingJob
from heddle_engine.training.packed.packed_forward import batch_logprobs, lay_out
from heddle_engine.training.trainable_lora import TrainableLora
from tests.models import make_model, needs_bf16
from tests.training.jobs_support import cpu_bases, job_params, run_job, sampled_groups, steps
from tests.training.oracle import CPU, make_pair, oracle_gradients
from tests.training.test_gradients import mixed_sequences, oracle_logprobs
from tests.training.test_on_policy import QUESTIONS, as_trajectories, sample, strong_adapter

pytestmark = needs_bf16


def bf16_bases() -> Bases:
    return Bases(CPU, torch.bfloat16)


@pytest.mark.parametrize("kind", ["qwen3", "llama3", "qwen2"])
def test_gradients_are_near_those_of_fp32(kind, model_folders):
    """Relative distance of the whole gradient of all adapters; parts with few and with many keys take other kernels."""
    pair = make_pair(model_folders(kind))
    batch = lay_out(mixed_sequences(), CPU)
    rounded = load_decoder(model_folders(kind), pair.decoder.config, CPU, torch.bfloat16)
    lora = TrainableLora(pair.lora.snapshot(), CPU)
    coefficients = torch.randn(len(batch.targets), generator=torch.Generator().manual_seed(1))
    found = []
    for decoder, own in ((pair.decoder, pair.lora), (rounded, lora)):
        logprobs, entropy = batch_logprobs(decoder, batch, own, 1024)
        assert logprobs.dtype == entropy.dtype == torch.float32
        (logprobs * coefficients).sum().backward()
        found.append((logprobs.detach(), own.gradient))
    (exact, gradient), (logprobs, rounded_gradient) = found
    assert rounded_gradient.dtype == lora.masters.dtype == torch.float32
    assert (logprobs - exact).square().mean().sqrt() < 0.05
    assert 1e-4 < (rounded_gradient - gradient).norm() / gradient.norm() < 0.05


@pytest.mark.parametrize("kind", ["qwen3_5", "qwen3_5_moe", "qwen3_next", "qwen3_next_mixed"])
def test_gradients_of_hybrids_are_as_near_to_those_of_fp32_as_those_of_peft(kind, tmp_path):
    """Near a tie another rounding picks another expert, which a delta net remembers: a mean over models tells more."""
    distances = []
    for seed in range(3):
        folder = make_model(kind, tmp_path / str(seed), seed)
        pair, in_bf16 = make_pair(folder), make_pair(folder, dtype=torch.bfloat16)
        exact = plain_gradient(pair)
        logprobs, _ = batch_logprobs(in_bf16.decoder, lay_out(mixed_sequences(), CPU), in_bf16.lora, 1024)
        (logprobs * coefficients()).sum().backward()
        found = in_bf16.lora.gradient, plain_gradient(in_bf16)
        distances.append([float((each - exact).norm() / exact.norm()) for each in found])
    own, of_peft = (sum(each) / len(each) for each in zip(*distances, strict=True))
    assert 1e-3 < own < 1.2 * of_peft


def coefficients() -> torch.Tensor:
    count = sum(int(sequence.trained.sum()) for sequence in mixed_sequences())
    return torch.randn(count, generator=torch.Generator().manual_seed(1))


def plain_gradient(pair) -> torch.Tensor:
    """That of transformers and peft."""
    logprobs = torch.cat([oracle_logprobs(pair.oracle, sequence) for sequence in mixed_sequences()])
    (logprobs * coefficients()).sum().backward()
    return oracle_gradients(pair.lora, pair.oracle).float()


@pytest.mark.parametrize("kind", ["qwen3", "qwen3_moe", "qwen3_5", "qwen3_next_mixed"])
def test_a_job_trains_what_was_sampled(kind, model_folders, tmp_path):
    """A whole job without a warning: sampled and trained log-probabilities are within the limit of bf16 (law 6)."""
    folder, bases = model_folders(kind), bf16_bases()
    adapter = strong_adapter(folder, tmp_path)
    lines = as_trajectories(asyncio.run(sample(folder, adapter, QUESTIONS, 4, bases)))
    params = job_params(folder, tmp_path, lines, start=adapter, packed_sequence_length=None)
    events, result = run_job(params, bases)
    assert 0 < steps(events)[0]["mismatch_rms"] < 0.05
    assert not [event for event in events if event.kind == "warning"]
    stored = load_file(Path(result["output"]["path"]) / "adapter_model.safetensors")
    assert {tensor.dtype for tensor in stored.values()} == {torch.float32}
    before = load_file(Path(adapter["path"]) / "adapter_model.safetensors")
    assert any(not torch.equal(stored[name], before[name]) for name in stored)


def test_a_job_that_was_stopped_goes_on_in_the_other_format(model_folders, tmp_path):
    """Snapshots and adapters are fp32, so that an engine may be started again with another setting."""
    folder = model_folders("qwen3")
    params = job_params(folder, tmp_path, sampled_groups(folder))
    expected, _ = run_job(job_params(folder, tmp_path, sampled_groups(folder), name="whole"))
    running = TrainingJob(params, cpu_bases().load(params["base"])).run()
    for event in running:
        if event is not None and event.kind == "gradient_step":
            break
    running.close()
    events, _ = run_job(params, bf16_bases())
    assert len(steps(events)) == len(steps(expected)) > 1
    for own, other in zip(steps(events), steps(expected), strict=True):
        assert own["grad_norm"] == pytest.approx(other["grad_norm"], rel=0.05)
