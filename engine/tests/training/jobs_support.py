"""Job parameters, data files and completions for tests of whole jobs."""

import hashlib
import json
from pathlib import Path

import numpy as np
import torch

from heddle_engine.bases import Bases
from heddle_engine.model.decoder import NoLora
from heddle_engine.training.jobs import JobEvent, TrainingJob
from heddle_engine.training.packed.packed_forward import batch_logprobs, lay_out
from tests.training.builders import sequence

RL_CONFIG = {
    "learning_rate": 1e-3,
    "loss_fn": "cispo",
    "epsilon": 1.0,
    "epsilon_high": 4.0,
    "importance_sampling_level": "token",
    "advantage_balance": 0.0,
    "scale_rewards": True,
    "max_negative_advantage_importance_sampling_weight": None,
    "mask_prob_ratio": False,
    "kimi_k2_tau": None,
    "precalculate_logprobs": False,
    "truncated_importance_sampling": None,
    "kl_penalty_coef": 0.0,
    "kl_penalty_source": "current_learner",
    "allow_training_without_logprobs": False,
    "logprob_calculation_chunk_size": 1024,
    "packed_sequence_length": 128,
    "num_trajectories_learning_rate_multiplier_power": 0.0,
    "learning_rate_multiplier": 1.0,
}
DPO_CONFIG = {"batch_size": 2, "learning_rate": 1e-3, "beta": 0.1, "reference": "start"}
SFT_CONFIG = {"batch_size": 2, "learning_rate": 1e-3, "assistant_turns": "all"}
CONFIGS = {"rl": RL_CONFIG, "sft": SFT_CONFIG, "dpo": DPO_CONFIG}


def pair_lines(pairs) -> list[dict]:
    """Data lines of preference pairs, the chosen answer first in each."""
    return [
        {"group": pair, "index": index, "messages": [{"role": "user", "content": "say"}, answer]}
        for pair, texts in enumerate(pairs)
        for index, answer in enumerate({"role": "assistant", "content": text} for text in texts)
    ]


def cpu_bases() -> Bases:
    return Bases(torch.device("cpu"), torch.float32)


def exact_choice(prompt_ids, token_ids, logprobs, **fields) -> dict:
    return {
        "choice": {
            "message": {"role": "assistant", "content": "…"},
            "finish_reason": "stop",
            "token_ids": list(map(int, token_ids)),
            "prompt_token_ids": list(map(int, prompt_ids)),
            "logprobs": [{"token": "x", "logprob": value} for value in logprobs],
            "ledger": None,
            **fields,
        }
    }


def trajectory(group, index, reward, *items, tools=None) -> dict:
    return {"group": group, "index": index, "reward": reward, "histories": [{"items": list(items), "tools": tools}]}


def sampled_groups(folder, groups=3, members=4, seed=0) -> list[dict]:
    """Random completions with the base model's own log-probabilities, as if it had sampled them."""
    base = cpu_bases().load({"name": "test", "path": str(folder)})
    generator = np.random.default_rng(seed)
    lines = []
    for group in range(groups):
        prompt = generator.integers(0, 300, 30)
        for index in range(members):
            completion = generator.integers(0, 300, int(generator.integers(4, 20)))
            s = sequence([*prompt, *completion], len(prompt))
            with torch.no_grad():
                batch = lay_out([s], base.decoder.device)
                logprobs, _ = batch_logprobs(base.decoder, batch, NoLora(), 1024)
            choice = exact_choice(prompt, completion, logprobs.tolist())
            lines.append(trajectory(group, index, float(index == group % members), choice))
    return lines


def write_lines(path: Path, lines: list[dict]) -> dict:
    content = "".join(json.dumps(line) + "\n" for line in lines).encode()
    path.write_bytes(content)
    return {"path": str(path), "sha256": hashlib.sha256(content).hexdigest()}


def job_params(folder, tmp_path: Path, lines: list[dict], kind="rl", name="job", start=None, **config) -> dict:
    return {
        "job_id": name,
        "base": {"name": "test", "path": str(folder)},
        "lora": {"rank": 4, "alpha": 8.0, "seed": 3407},
        "start": start,
        "reference": None,
        "data": write_lines(tmp_path / f"{name}.jsonl", lines),
        "job": {"kind": kind, "config": {**CONFIGS[kind], **config}},
        "work_dir": str(tmp_path / f"{name}-work"),
        "output": {"key": f"model@{name}", "path": str(tmp_path / f"{name}-checkpoint")},
    }


def run_job(params, bases=None) -> tuple[list[JobEvent], dict]:
    job = TrainingJob(params, (bases or cpu_bases()).load(params["base"]))
    return [event for event in job.run() if event is not None], job.result


def steps(events) -> list[dict]:
    return [event.data["metrics"] for event in events if event.kind == "gradient_step"]
