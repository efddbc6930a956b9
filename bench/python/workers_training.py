"""One of the contenders of `train-workers`: jobs of the engine's `TrainingJob`, alone or with workers beside it.

Each process computes on one core.
"""

from heddle_engine.runtime import tune_runtime

# As the engine's own process, before torch is loaded.
tune_runtime()

import time
from pathlib import Path

import torch
import worker
from canned_rollouts import make_groups, write_engine_data
from heddle_engine.bases import Bases
from heddle_engine.model.number_format import FORMATS
from heddle_engine.threads import use_cores
from heddle_engine.training.jobs import TrainingJob
from heddle_engine.training.workers.started import StartedWorkers
from heddle_training import RL_CONFIG
from safetensors.torch import load_file

LEARNING_RATE = 1e-4
LOGPROB = -10.0
"""Of every sampled token: the ratios to it are bounded by the loss."""
START_S = 120


class WorkersTraining:
    def load(self, base: str, folder: str, trainers: int, dtype: str, groups: int, size: int, prompt: int) -> dict:
        """Loads the base model, starts the workers, and makes the rollouts, the same in every process."""
        torch.set_num_threads(1)
        use_cores(1)
        self.folder = Path(folder)
        self.folder.mkdir()
        self.base = Bases(torch.device("cpu"), FORMATS[dtype]).load({"name": base, "path": base})
        self.workers = None if trainers == 1 else StartedWorkers(trainers, 1, torch.device("cpu"))
        for _ in range(START_S * 10):
            if self.workers is None or all(member.is_ready for member in self.workers.members):
                break
            time.sleep(0.1)
        else:
            raise RuntimeError("the workers are not ready")
        made = make_groups(groups, size, prompt, self.base.config.vocab_size, seed=1)
        self.data = self.folder / "data.jsonl"
        logprobs = [[[LOGPROB] * len(completion) for completion in group.completions] for group in made]
        self.sha256 = write_engine_data(self.data, made, logprobs)
        return {"tokens": sum(group.tokens for group in made)}

    def job(self, number: int) -> dict:
        """Runs one job of one gradient step; `step_seconds` end with it, before the checkpoint is written."""
        work, output = self.folder / f"work-{number}", self.folder / f"checkpoint-{number}"
        work.mkdir()
        params = {
            "job_id": f"bench-{number}",
            "base": {"name": self.base.name, "path": self.base.name},
            "lora": {"rank": 8, "alpha": 16, "seed": 0},
            "start": None,
            "reference": None,
            "data": {"path": str(self.data), "sha256": self.sha256},
            "job": {"kind": "rl", "config": {**RL_CONFIG, "learning_rate": LEARNING_RATE}},
            "work_dir": str(work),
            "output": {"key": f"bench@{number}", "path": str(output)},
        }
        began, step_seconds = time.perf_counter(), 0.0
        for event in TrainingJob(params, self.base, self.workers).run():
            if event is not None and event.kind == "gradient_step":
                step_seconds = time.perf_counter() - began
            elif event is not None and event.kind == "warning" and "worker" in event.data["message"]:
                raise RuntimeError(event.data["message"])
        return {"step_seconds": step_seconds, "checkpoint": str(output)}

    def compare(self, one: str, other: str) -> dict:
        """The largest difference of two adapters' weights, which both have been trained."""
        left, right = (load_file(Path(folder) / "adapter_model.safetensors") for folder in (one, other))
        if not all(adapter[name].any() for adapter in (left, right) for name in left):
            raise RuntimeError("a matrix of an adapter is zero, as it was at the start")
        return {"difference": max(float((left[name] - right[name]).abs().max()) for name in left)}


if __name__ == "__main__":
    training = WorkersTraining()
    worker.serve({"load": training.load, "job": training.job, "compare": training.compare})
