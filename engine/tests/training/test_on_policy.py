"""Serving and training compute the same function (engine 5.4, law 6)."""

import asyncio
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from heddle_engine.base_loader import BaseLoader
from heddle_engine.bases import Bases
from heddle_engine.engine import Engine
from heddle_engine.model.lora import LoraModule, initial_lora, write_peft
from heddle_engine.settings import Settings
from heddle_engine.text.sandbox import Sandbox
from tests.models import HYBRIDS, WHOLES
from tests.training.jobs_support import cpu_bases, exact_choice, job_params, run_job, steps, trajectory

QUESTIONS = ["hi", "a longer question about the inn, please"]


def strong_adapter(folder, tmp_path) -> dict:
    """An adapter far from zero, in a PEFT folder."""
    config = cpu_bases().resolve({"name": "test", "path": str(folder)}).config
    weights = initial_lora(config, 4, 8, seed=1)
    generator = torch.Generator().manual_seed(2)
    for key, module in weights.modules.items():
        weights.modules[key] = LoraModule(module.a, torch.randn(module.b.shape, generator=generator) * 0.1, 2.0)
    path = tmp_path / "adapter"
    path.mkdir()
    write_peft(path, weights, "test", config)
    return {"key": "model@7", "path": str(path)}


async def sample(folder, adapter, questions, n, bases=None) -> list[dict]:
    """Asks all questions at once and returns the results of the chats."""
    engine = Engine(Settings(), Sandbox())
    engine._bases = BaseLoader(bases or cpu_bases())
    params = {
        "base": {"name": "test", "path": str(folder)},
        "adapter": adapter,
        "sampling": {
            "max_tokens": 24,
            "ignore_eos": True,
            "skip_special_tokens": False,
            "temperature": 1.0,
            "seed": 1,
        },
        "n": n,
    }
    chats = [{**params, "messages": [{"role": "user", "content": question}]} for question in questions]
    return await asyncio.gather(*(engine.chat(chat, lambda *_: None) for chat in chats))


def as_trajectories(results) -> list[dict]:
    return [
        trajectory(
            group,
            index,
            float(index == 0),
            exact_choice(
                result["prompt_token_ids"],
                [token["id"] for token in choice["tokens"]],
                [token["logprob"] for token in choice["tokens"]],
            ),
        )
        for group, result in enumerate(results)
        for index, choice in enumerate(result["choices"])
    ]


PLAIN = ["qwen3", "llama3", "qwen3_moe", "qwen3_moe_mixed", "gemma3", "gpt_oss"]
FAMILIES = [*PLAIN, *HYBRIDS, *(kind for kind in WHOLES if kind not in HYBRIDS)]


@pytest.mark.parametrize("kind", FAMILIES)
def test_sampled_logprobs_are_the_trained_ones(kind, model_folders, tmp_path):
    folder = model_folders(kind)
    adapter = strong_adapter(folder, tmp_path)
    lines = as_trajectories(asyncio.run(sample(folder, adapter, QUESTIONS, 4)))
    params = job_params(folder, tmp_path, lines, start=adapter, packed_sequence_length=None)
    events, result = run_job(params)
    assert steps(events)[0]["num_trainable_tokens"] == 8 * 24
    assert steps(events)[0]["mismatch_rms"] < 1e-5
    assert result["data_metrics"]["mismatch_max"] < 1e-4
    assert not [e for e in events if e.kind == "warning"]


def test_bfloat16_computes_alike_on_both_sides(model_folders, tmp_path):
    """engine 4.5: one rule of casts for LoRA and head; log-probabilities and master weights are fp32."""
    folder, bases = model_folders("qwen3"), Bases(torch.device("cpu"), torch.bfloat16)
    adapter = strong_adapter(folder, tmp_path)
    lines = as_trajectories(asyncio.run(sample(folder, adapter, QUESTIONS, 4, bases)))
    params = job_params(folder, tmp_path, lines, start=adapter, packed_sequence_length=None)
    events, result = run_job(params, bases)
    assert steps(events)[0]["mismatch_rms"] < 0.05
    assert steps(events)[0]["grad_norm"] > 0
    stored = load_file(Path(result["output"]["path"]) / "adapter_model.safetensors")
    assert {tensor.dtype for tensor in stored.values()} == {torch.float32}


def test_the_trained_adapter_is_the_served_one(model_folders, tmp_path):
    """A second job, on completions of the new step served from its slot, finds no mismatch either."""
    folder = model_folders("qwen3")
    first = job_params(folder, tmp_path, as_trajectories(asyncio.run(sample(folder, None, QUESTIONS, 4))), name="one")
    first["job"]["config"].update(learning_rate=1e-2, packed_sequence_length=None)
    _, result = run_job(first)
    lines = as_trajectories(asyncio.run(sample(folder, result["output"], QUESTIONS, 4)))
    second = job_params(folder, tmp_path, lines, name="two", start=result["output"], packed_sequence_length=None)
    assert steps(run_job(second)[0])[0]["mismatch_rms"] < 1e-5
    stale = job_params(folder, tmp_path, lines, name="stale", packed_sequence_length=None)
    assert steps(run_job(stale)[0])[0]["mismatch_rms"] > 1e-2


def test_publishing_needs_no_disk(model_folders, tmp_path):
    """The slot has the trainer's own weights before the checkpoint is read from disk."""
    folder, bases = model_folders("qwen3"), cpu_bases()
    lines = as_trajectories(asyncio.run(sample(folder, None, QUESTIONS, 4)))
    params = job_params(folder, tmp_path, lines)
    _, result = run_job(params, bases)
    weights = Path(params["output"]["path"]) / "adapter_model.safetensors"
    weights.unlink()
    key = result["output"]["key"]
    assert bases.resolve(params["base"]).adapters.get(key, "nowhere").key == key
