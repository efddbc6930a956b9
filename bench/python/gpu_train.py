"""Training on a GPU: the engine's pieces against a plain loop of peft over transformers."""

import gc
import statistics
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from heddle_engine.model.config import DecoderConfig
from heddle_engine.model.decoder import Decoder
from heddle_engine.model.lora import lora_modules
from heddle_engine.training.micro_batches import MicroBatches
from heddle_engine.training.data.sequences import Sequence
from heddle_engine.training.trainable_lora import TrainableLora

from gpu_models import ALPHA, GPU, RANK, Shape, make_lora, seconds, weights_of_layers


def sequences_of(lengths: list[tuple[int, int]], shared: int = 1) -> list[Sequence]:
    """One for each (prompt, completion); `shared` neighbours have the same prompt."""
    source, made = np.random.default_rng(0), []
    prompt = np.zeros(0, np.int64)
    for number, (before, behind) in enumerate(lengths):
        if number % shared == 0:
            prompt = source.integers(1000, 150_000, before)
        ids = np.concatenate([prompt, source.integers(1000, 150_000, behind)])
        made.append(Sequence(ids, np.arange(len(ids)) >= before, np.full(len(ids), np.nan)))
    return made


WORKLOADS = {
    "mixed lengths": lambda: sequences_of(
        [(int(p), int(c)) for p, c in np.random.default_rng(1).integers((32, 32), (900, 700), (48, 2))]
    ),
    "full length": lambda: sequences_of([(1024, 3072)] * 8),
    "8 completions on prompts of 2,048": lambda: sequences_of([(2048, 256)] * 16, shared=8),
}


class Engine:
    def __init__(self, decoder: Decoder) -> None:
        self.lora = TrainableLora(make_lora(decoder, 1), GPU)
        self.pieces = MicroBatches(decoder, 1024)

    def step(self, sequences: list[Sequence]) -> None:
        """Forward and backward of the mean log-probability."""
        self.lora.gradient.zero_()
        for _ in self.pieces.backward(
            sequences, self.lora, lambda piece, batch, logprobs, entropy: (logprobs.sum(), 1)
        ):
            pass


class Peer:
    """Right-padded batches of neighbours by length, transformers' own loss, LoRA by peft; no prefix is shared."""

    def __init__(self, shape: Shape, checkpointing: bool, rows: int) -> None:
        from peft import LoraConfig, get_peft_model
        from transformers import AutoConfig, AutoModelForCausalLM

        torch.set_default_device(GPU)
        torch.set_default_dtype(torch.bfloat16)
        try:
            settings = {name: value for name, value in shape.config().items() if name != "architectures"}
            model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**settings), dtype=torch.bfloat16)
        finally:
            torch.set_default_device(None)
            torch.set_default_dtype(torch.float32)
        modules = list(lora_modules(DecoderConfig.from_hf(shape.config())))
        self.model = get_peft_model(model, LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=modules))
        if checkpointing:
            self.model.gradient_checkpointing_enable({"use_reentrant": False})
            self.model.enable_input_require_grads()
        self.model.train()
        self.rows = rows

    def step(self, sequences: list[Sequence]) -> None:
        ordered = sorted(sequences, key=len)
        self.model.zero_grad()
        for start in range(0, len(ordered), self.rows):
            part = ordered[start : start + self.rows]
            longest = max(len(each) for each in part)
            ids = np.zeros((len(part), longest), np.int64)
            labels = np.full((len(part), longest), -100)
            for row, each in enumerate(part):
                ids[row, : len(each)] = each.ids
                labels[row, : len(each)] = np.where(each.trained, each.ids, -100)
            given = {"input_ids": torch.from_numpy(ids).to(GPU), "labels": torch.from_numpy(labels).to(GPU)}
            mask = torch.from_numpy(labels != -100)
            mask = (
                (torch.arange(longest) < torch.tensor([[len(each)] for each in part])).to(GPU) if mask.any() else None
            )
            self.model(**given, attention_mask=mask, use_cache=False).loss.backward()


def train_figures(decoder: Decoder, shape: Shape, ceiling: float, figures: dict[str, list[float]]) -> None:
    """`ceiling`: operations a second of a large matrix product in bf16."""
    engine = Engine(decoder)
    parameters = weights_of_layers(decoder, 1)
    for workload, make in WORKLOADS.items():
        sequences = make()
        taken, peak = _measured(partial(engine.step, sequences))
        tokens = sum(len(each) for each in sequences)
        figures[f"training, {shape.name}, {workload}: tokens/s"] = [tokens / each for each in taken]
        figures[f"training, {shape.name}, {workload}: peak above the weights (GiB)"] = [peak]
        if workload == "full length":
            work = 4 * parameters * tokens / statistics.median(taken)
            figures[f"training, {shape.name}, {workload}: share of the matrix product"] = [work / ceiling]
    figures[f"training, {shape.name}: pieces split for memory"] = [float(engine.pieces.halvings)]


def peer_figures(shape: Shape, figures: dict[str, list[float]]) -> None:
    """The same workloads by the plain loop, with the first of its settings, the fastest first, that fits the memory."""
    for workload, make in WORKLOADS.items():
        sequences = make()
        for checkpointing, rows in shape.peer:
            try:
                taken, peak = _peer_steps(shape, sequences, checkpointing, rows)
            except torch.OutOfMemoryError:
                continue
            finally:
                gc.collect()
                torch.cuda.empty_cache()
            tokens = sum(len(each) for each in sequences)
            figures[f"plain loop, {shape.name}, {workload}: tokens/s"] = [tokens / each for each in taken]
            figures[f"plain loop, {shape.name}, {workload}: peak above the weights (GiB)"] = [peak]
            figures[f"plain loop, {shape.name}, {workload}: rows at a time (rows)"] = [float(rows)]
            break


def _peer_steps(shape: Shape, sequences: list[Sequence], checkpointing: bool, rows: int) -> tuple[list[float], float]:
    peer = Peer(shape, checkpointing, rows)
    return _measured(partial(peer.step, sequences))


def _measured(work: Callable[[], None]) -> tuple[list[float], float]:
    work()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    taken = seconds(work, repeats=3, warm=0)
    return taken, (torch.cuda.max_memory_allocated() - before) / 2**30
