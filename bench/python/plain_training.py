"""The plain training peer: peft on transformers, groups in micro-batches, only the needed logits.

One optimizer step over all groups with ART's CISPO loss (training-api 7.2 and 7.4), written from
those formulas and not from the engine, so that its gradient is also an oracle for the engine's.
"""

import json
import random
import statistics
import time
from pathlib import Path

import torch
import worker
from canned_rollouts import Group, make_groups, write_engine_data
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

MODULES = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
FUSED = {"qkv": MODULES[:3], "o": MODULES[3:4], "gate_up": MODULES[4:6], "down": MODULES[6:]}
"""The engine's names for modules that share an input; it stores their stacked A as one tensor."""
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
CLIP_LOW, CLIP_HIGH = 0.0, 5.0
MAX_NORM = 0.1
BETA1 = 0.9


class PlainTraining:
    def __init__(self) -> None:
        self.model: PeftModel
        self.groups: list[Group]
        self.logprobs: list[list[list[float]]]
        self.optimizer: torch.optim.AdamW

    def load(self, base: str, adapter: str, threads: int, dtype: str) -> None:
        """Puts a random rank-8 adapter with B ≠ 0 on the model folder `base` and writes it to `adapter`.

        The adapter is fp32 whatever the base model's `dtype` is, as peft makes it.
        """
        torch.set_num_threads(threads)
        torch.manual_seed(0)
        model = AutoModelForCausalLM.from_pretrained(base, dtype=DTYPES[dtype])
        config = LoraConfig(r=8, lora_alpha=16, target_modules=list(MODULES), task_type="CAUSAL_LM")
        self.model = get_peft_model(model, config)
        for name, parameter in self.model.named_parameters():
            if "lora_B" in name:
                torch.nn.init.normal_(parameter, std=0.02)
        self.model.save_pretrained(adapter)
        self.model.train()
        self._restart_optimizer()

    def prepare(self, data: str, logprobs: str, groups: int, size: int, prompt: int) -> dict:
        """Makes the rollouts; writes them as the engine's data file `data`, and their log-probabilities to `logprobs`."""
        self._make_groups(groups, size, prompt)
        self.logprobs = self._sampled_logprobs()
        Path(logprobs).write_text(json.dumps(self.logprobs))
        return {
            "sha256": write_engine_data(Path(data), self.groups, self.logprobs),
            "tokens": sum(group.tokens for group in self.groups),
            "trained_tokens": sum(len(completion) for group in self.groups for completion in group.completions),
        }

    def prepare_alike(self, logprobs: str, groups: int, size: int, prompt: int) -> None:
        """Makes the rollouts of another process, whose log-probabilities lie in `logprobs`."""
        self._make_groups(groups, size, prompt)
        self.logprobs = json.loads(Path(logprobs).read_text())

    def step(self) -> dict:
        """Takes one optimizer step; the learning rate is 0, so that every step computes the same."""
        began = time.perf_counter()
        self.optimizer.zero_grad()
        weights = self._token_weights()
        trained = sum(len(completion) for group in self.groups for completion in group.completions)
        for group, sampled, own in zip(self.groups, self.logprobs, weights, strict=True):
            for part in micro_batches(group):
                self._loss(group, part, sampled[part], own[part], trained).backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), MAX_NORM)
        self.optimizer.step()
        return {"seconds": time.perf_counter() - began, "grad_norm": float(norm)}

    def compare(self, checkpoint: str) -> dict:
        """Relative distance of the engine's clipped gradient from ours.

        A fresh AdamW's first moment after one step is (1 - beta1) times the clipped gradient.
        """
        self._restart_optimizer()
        self.step()
        ours, theirs = [], []
        with safe_open(Path(checkpoint) / "optimizer.safetensors", "pt") as file:
            moment, layout = file.get_tensor("mean").double() / (1 - BETA1), json.loads(file.metadata()["layout"])
        start = 0
        for name, shape in layout:
            size = torch.Size(shape).numel()
            theirs.append(moment[start : start + size])
            ours.append(self._gradient(name).flatten().double())
            start += size
        ours, theirs = torch.cat(ours), torch.cat(theirs)
        return {"relative_error": float((theirs - ours).norm() / ours.norm()), "parameters": start}

    def save_gradient(self, file: str) -> None:
        """Writes the clipped gradient of a step, by the names of parameters."""
        self.step()
        save_file(self._gradients(), file)

    def compare_saved(self, file: str) -> dict:
        """Relative distance of a saved gradient from ours."""
        self.step()
        saved, own = load_file(file), self._gradients()
        theirs, ours = (torch.cat([each[name].flatten().double() for name in sorted(own)]) for each in (saved, own))
        return {"relative_error": float((theirs - ours).norm() / ours.norm())}

    def _make_groups(self, groups: int, size: int, prompt: int) -> None:
        self.groups = make_groups(groups, size, prompt, self.model.config.vocab_size, seed=1)

    def _gradients(self) -> dict[str, torch.Tensor]:
        return {name: each.grad for name, each in self.model.named_parameters() if each.requires_grad}

    def _restart_optimizer(self) -> None:
        parameters = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        self.optimizer = torch.optim.AdamW(parameters, lr=0.0, betas=(BETA1, 0.99), weight_decay=0.1)

    def _gradient(self, name: str) -> torch.Tensor:
        """Our gradient of the engine's tensor `<layer>.<site>.a` or `<layer>.<site>.b.<module>`."""
        layer, site, kind, *module = name.split(".")
        letter = {"a": "lora_A", "b": "lora_B"}[kind]
        found = [self._parameter(int(layer), one, letter).grad for one in module or FUSED[site]]
        return torch.cat(found)

    def _parameter(self, layer: int, module: str, letter: str) -> torch.nn.Parameter:
        block = "self_attn" if module in FUSED["qkv"] + FUSED["o"] else "mlp"
        path = f"base_model.model.model.layers.{layer}.{block}.{module}.{letter}.default.weight"
        return self.model.get_parameter(path)

    def _token_weights(self) -> list[list[float]]:
        """Advantage times weight of each trajectory's tokens, per group (training-api 7.2)."""
        entries = []
        for number, group in enumerate(self.groups):
            mean, spread = statistics.fmean(group.rewards), statistics.pstdev(group.rewards)
            for reward, completion in zip(group.rewards, group.completions, strict=True):
                tokens = len(completion)
                entries.append((number, tokens, (reward - mean) / (spread + 1e-6), 1 / (tokens + 1e-6)))
        total = sum(tokens for _, tokens, _, _ in entries)
        mean_weight = sum(tokens * weight for _, tokens, _, weight in entries) / total
        scale = sum(tokens * abs(advantage) * weight for _, tokens, advantage, weight in entries) / total / mean_weight
        products: list[list[float]] = [[] for _ in self.groups]
        for number, _, advantage, weight in entries:
            products[number].append(advantage / scale * weight / mean_weight)
        return products

    def _loss(
        self, group: Group, part: slice, sampled: list[list[float]], weights: list[float], trained: int
    ) -> torch.Tensor:
        """CISPO: -sg(clip(exp(new - old))) · A · w · new, summed and divided by the step's trained tokens."""
        new, mask = self._completion_logprobs(group.prompt, group.completions[part])
        old = pad([torch.tensor(row) for row in sampled], new.shape[1])
        ratio = (new.detach() - old).exp().clamp(CLIP_LOW, CLIP_HIGH)
        return -(ratio * torch.tensor(weights)[:, None] * new * mask).sum() / trained

    def _completion_logprobs(
        self, prompt: list[int], completions: list[list[int]]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities of the completions [size, longest] and their mask."""
        longest = max(map(len, completions))
        rows = [torch.tensor(prompt + completion) for completion in completions]
        width = len(prompt) + longest
        ids = pad(rows, width)
        attention = pad([torch.ones(len(row), dtype=torch.long) for row in rows], width)
        logits = self.model(
            input_ids=ids, attention_mask=attention, use_cache=False, logits_to_keep=longest + 1
        ).logits[:, :-1]
        targets = ids[:, len(prompt) :]
        logprobs = torch.log_softmax(logits.float(), -1).gather(-1, targets[..., None])[..., 0]
        return logprobs, attention[:, len(prompt) :]

    def _sampled_logprobs(self) -> list[list[list[float]]]:
        """The adapter's own log-probabilities with a little noise, so that the ratios are near 1 but not 1."""
        source = random.Random(2)

        def noisy(row: list[float], completion: list[int]) -> list[float]:
            return [min(0.0, value + source.gauss(0, 0.1)) for value in row[: len(completion)]]

        found = []
        with torch.no_grad():
            for group in self.groups:
                rows = []
                for part in micro_batches(group):
                    rows += self._completion_logprobs(group.prompt, group.completions[part])[0].tolist()
                found.append(list(map(noisy, rows, group.completions)))
        return found


def micro_batches(group: Group) -> list[slice]:
    """The completions of `group` in parts of one size."""
    size = group.micro_batch
    return [slice(start, start + size) for start in range(0, len(group.completions), size)]


def pad(rows: list[torch.Tensor], width: int) -> torch.Tensor:
    """The rows as one tensor [len(rows), width], with zeros on the right."""
    padded = rows[0].new_zeros(len(rows), width)
    for index, row in enumerate(rows):
        padded[index, : len(row)] = row
    return padded


if __name__ == "__main__":
    training = PlainTraining()
    methods = ("load", "prepare", "prepare_alike", "step", "compare", "save_gradient", "compare_saved")
    worker.serve({name: getattr(training, name) for name in methods})
