"""The library peer: TRL's GRPOTrainer on the same canned rollouts, so that nothing is generated."""

import os
import random
import time

import torch
import worker
from canned_rollouts import Group, make_groups

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"

from datasets import Dataset
from peft import LoraConfig
from transformers import AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer


class StepTimer(TrainerCallback):
    """Seconds of each optimizer step, and inside it of everything before the loss (the rollouts' bookkeeping)."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._began = 0.0

    def on_step_begin(self, args, state, control, **_: object) -> None:
        self._began = time.perf_counter()

    def on_step_end(self, args, state, control, **_: object) -> None:
        self.seconds.append(time.perf_counter() - self._began)


def train(base: str, folder: str, groups: int, size: int, prompt: int, steps: int, threads: int) -> dict:
    """Runs `steps` optimizer steps over all groups, one group a micro-batch; returns the seconds of each."""
    torch.set_num_threads(threads)
    tokenizer = AutoTokenizer.from_pretrained(base)
    rollouts = make_groups(groups, size, prompt, len(tokenizer), seed=1)
    timer = StepTimer()
    trainer = GRPOTrainer(
        model=base,
        args=settings(folder, groups, size, steps),
        reward_funcs=lambda completions, **_: [random.random() for _ in completions],
        train_dataset=Dataset.from_dict({"prompt": [str(number) for number in range(groups)]}),
        processing_class=tokenizer,
        peft_config=LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM"),
        rollout_func=lambda prompts, *_: replay(rollouts, prompts),
        callbacks=[timer],
    )
    trainer.train()
    return {"seconds": timer.seconds, "tokens": sum(group.tokens for group in rollouts)}


def settings(folder: str, groups: int, size: int, steps: int) -> GRPOConfig:
    return GRPOConfig(
        output_dir=folder,
        per_device_train_batch_size=size,
        gradient_accumulation_steps=groups,
        num_generations=size,
        max_completion_length=128,
        max_steps=steps,
        learning_rate=1e-6,
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        model_init_kwargs={"dtype": "float32"},
        disable_tqdm=True,
    )


def replay(rollouts: list[Group], prompts: list[str]) -> dict:
    """The canned completions of the groups that `prompts` number, each prompt coming once per completion."""
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
    worker.serve({"train": train})
