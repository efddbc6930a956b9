"""Heddle's contender: training jobs run by the engine's own `TrainingJob`, in this process.

The first job of a folder loads the base model, as the first job of a server does; later ones share it.
"""

from heddle_engine.allocator import keep_freed_pages
from heddle_engine.threads import fix_order_of_sums, set_spinning

# The engine's own process calls these before torch loads its thread pool, too.
set_spinning()
fix_order_of_sums()
keep_freed_pages()

import shutil
import time
from pathlib import Path

import torch
import worker
from heddle_engine.bases import Bases
from heddle_engine.model.number_format import FORMATS
from heddle_engine.training.jobs import TrainingJob

RL_CONFIG = {
    # 0, as in the peers, so that every step computes the same.
    "learning_rate": 0.0,
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
    "packed_sequence_length": 8192,
    # All rows in one optimizer step, as in the peers.
    "grad_accumulation_sequences": 1_000_000,
    "num_trajectories_learning_rate_multiplier_power": 0.0,
    "learning_rate_multiplier": 1.0,
}
"""Defaults of training-api 2.2, except for the packed length and the two values with a comment."""


class EngineTraining:
    def load(
        self, base: str, adapter: str, data: str, sha256: str, folder: str, threads: int, dtypes: list[str]
    ) -> None:
        """Sets what all jobs share: base model folder, starting PEFT folder, data file, a folder to work in.

        The base model is loaded once for each of `dtypes`.
        """
        torch.set_num_threads(threads)
        self.bases = {dtype: Bases(dtype=FORMATS[dtype]).load({"name": base, "path": base}) for dtype in dtypes}
        self.folder = Path(folder)
        self.folder.mkdir()
        self.shared = {
            "base": {"name": base, "path": base},
            "lora": {"rank": 8, "alpha": 16, "seed": 0},
            "start": {"key": "start", "path": adapter},
            "reference": None,
            "data": {"path": data, "sha256": sha256},
            "job": {"kind": "rl", "config": RL_CONFIG},
        }

    def job(self, number: int, dtype: str) -> dict:
        """Runs one whole job; `step_seconds` end with its last gradient step, `seconds` with the checkpoint on disk."""
        work, output = self.folder / f"work-{number}-{dtype}", self.folder / f"checkpoint-{number}-{dtype}"
        work.mkdir()
        job = TrainingJob(
            {
                **self.shared,
                "job_id": f"bench-{number}-{dtype}",
                "work_dir": str(work),
                "output": {"key": f"bench-{dtype}@{number}", "path": str(output)},
            },
            self.bases[dtype],
        )
        began = time.perf_counter()
        steps, step_seconds = [], 0.0
        for event in job.run():
            if event is not None and event.kind == "gradient_step":
                steps.append(event.data["metrics"])
                step_seconds = time.perf_counter() - began
        seconds = time.perf_counter() - began
        return {"seconds": seconds, "step_seconds": step_seconds, "steps": steps, "checkpoint": str(output)}

    def clear(self) -> None:
        """Deletes what the jobs wrote."""
        for path in self.folder.iterdir():
            shutil.rmtree(path)


if __name__ == "__main__":
    training = EngineTraining()
    worker.serve({"load": training.load, "job": training.job, "clear": training.clear})
