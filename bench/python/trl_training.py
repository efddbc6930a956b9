"""The library peer: TRL's GRPOTrainer on the same rollouts, made ahead, so that nothing is generated."""

import os
import random
import threading
import traceback

import torch
import worker
from canned_rollouts import Group, make_groups

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"

from datasets import Dataset
from peft import LoraConfig
from transformers import AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

MORE_STEPS_THAN_NEEDED = 1000


class TakesTurns(TrainerCallback):
    """Holds the trainer at the beginning of each optimizer step until `go` is released."""

    def __init__(self) -> None:
        self.go = threading.Semaphore(0)
        self.waiting = threading.Semaphore(0)

    def on_step_begin(self, args, state, control, **_: object) -> None:
        self.waiting.release()
        self.go.acquire()


class TrlTraining:
    """Runs the trainer in a thread of its own; each call of `step` lets it take one optimizer step."""

    def __init__(self) -> None:
        self.turns = TakesTurns()
        self.failure: str | None = None

    def load(self, base: str, folder: str, groups: int, size: int, prompt: int, threads: int, dtype: str) -> None:
        """Starts the trainer; a group is a micro-batch, or several of one size, and a step goes over all groups."""
        tokenizer = AutoTokenizer.from_pretrained(base)
        rollouts = make_groups(groups, size, prompt, len(tokenizer), seed=1)
        trainer = GRPOTrainer(
            model=base,
            args=settings(folder, rollouts, dtype),
            reward_funcs=lambda completions, **_: [random.random() for _ in completions],
            train_dataset=Dataset.from_dict({"prompt": [str(number) for number in range(groups)]}),
            processing_class=tokenizer,
            peft_config=LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM"),
            rollout_func=lambda prompts, *_: replay(rollouts, prompts),
            callbacks=[self.turns],
        )
        threading.Thread(target=self._train, args=(trainer, threads), daemon=True).start()
        self._wait()

    def step(self) -> None:
        self.turns.go.release()
        self._wait()

    def _train(self, trainer: GRPOTrainer, threads: int) -> None:
        # Set here, because OpenMP keeps a number of threads for each thread that calls it.
        torch.set_num_threads(threads)
        try:
            trainer.train()
        except Exception:
            self.failure = traceback.format_exc()
        self.turns.waiting.release()

    def _wait(self) -> None:
        """Waits until the trainer has stopped before its next step."""
        self.turns.waiting.acquire()
        if self.failure:
            raise RuntimeError(self.failure)


def settings(folder: str, groups: list[Group], dtype: str) -> GRPOConfig:
    size = len(groups[0].completions)
    most = min(group.micro_batch for group in groups)
    micro_batch = max(rows for rows in range(1, min(size, most) + 1) if size % rows == 0)
    return GRPOConfig(
        output_dir=folder,
        per_device_train_batch_size=micro_batch,
        gradient_accumulation_steps=len(groups) * size // micro_batch,
        num_generations=size,
        max_completion_length=128,
        max_steps=MORE_STEPS_THAN_NEEDED,
        learning_rate=1e-6,
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        model_init_kwargs={"dtype": {"fp32": "float32", "bf16": "bfloat16"}[dtype]},
        disable_tqdm=True,
    )


def replay(rollouts: list[Group], prompts: list[str]) -> dict:
    """The completions made ahead for `prompts`, which are numbers of groups; each comes once for each completion."""
    seen: dict[int, int] = {}
    rows = []
    for prompt in prompts:
        number = int(prompt)
        place = seen.get(number, 0)
        seen[number] = place + 1
        rows.append((rollouts[number].prompt, rollouts[number].completions[place % len(rollouts[number].completions)]))
    return {
        "prompt_ids": [prompt for prompt, _ in rows],
        "completion_ids": [completion for _, completion in rows],
        "logprobs": [[-8.0] * len(completion) for _, completion in rows],
    }


if __name__ == "__main__":
    training = TrlTraining()
    worker.serve({"load": training.load, "step": training.step})
