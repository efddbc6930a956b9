"""Our contender: one training job run by the engine's own `TrainingJob`, in this process."""

import hashlib
import time
from pathlib import Path

import torch
import worker


class EngineTraining:
    def load(self, base: str, threads: int) -> None:
        torch.set_num_threads(threads)
        from heddle_engine.bases import Bases

        self.bases = Bases()
        self.base = {"name": base, "path": base}


if __name__ == "__main__":
    training = EngineTraining()
    worker.serve({"load": training.load})
