"""Whole RL jobs on a tiny random model."""

import math
from pathlib import Path

from tests.train.jobs_support import cpu_bases, job_params, run_job, sampled_groups, steps


def test_an_rl_job_ends_with_a_served_checkpoint(model_folders, tmp_path):
    folder, bases = model_folders("qwen3"), cpu_bases()
    params = job_params(folder, tmp_path, sampled_groups(folder))
    events, result = run_job(params, bases)
    assert events[0].kind == "training_started"
    assert [e.data["number"] for e in events if e.kind == "gradient_step"] == list(
        range(1, events[0].data["num_sequences"] + 1)
    )
    assert all(isinstance(v, int | float) and math.isfinite(v) for m in steps(events) for v in m.values())
    first = steps(events)[0]
    assert {"policy_loss", "entropy", "grad_norm", "learning_rate", "num_trainable_tokens"} <= set(first)
    assert first["mismatch_rms"] < 1e-5
    assert result["data_metrics"]["turns_choice_ids"] == 12
    assert "model@job" in bases.resolve(params["base"]).adapters
    files = {file.name for file in Path(result["output"]["path"]).iterdir()}
    assert files == {
        "adapter_config.json",
        "adapter_model.safetensors",
        "optimizer.safetensors",
        "state.json",
        "manifest.json",
    }
