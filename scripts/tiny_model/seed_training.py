"""Seed training of the tiny model: next-token prediction on the assistant's words only.

Deterministic on one machine with a fixed number of threads; another CPU may round sums differently
and so end with other weights of the same quality.
"""

import math
import random
from collections.abc import Callable, Iterator
from itertools import islice

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from tiny_model.seed_text import Conversation, short_conversation, tool_conversation
from tiny_model.tokenizer import CONTEXT_LENGTH, END_OF_TEXT, TURN_END, TURN_START, VOCABULARY_SIZE

STEPS = 700
SHORT_ROWS, TOOL_ROWS = 48, 8
"""Conversations per step, without and with tools; those with tools are about five times as long."""
MICRO_BATCHES = 4
"""Parts of a step. Rows are sorted by length first, since a part of short and long rows would be mostly padding."""
PEAK_LEARNING_RATE = 3e-3
WARM_UP_STEPS = 40
WEIGHT_DECAY = 0.05
GRADIENT_CLIP = 1.0
THREADS = 2
IGNORED = -100
"""The label of a token that transformers leaves out of the loss."""


def new_model(tokenizer: PreTrainedTokenizerFast, seed: int) -> Qwen3ForCausalLM:
    """A random Qwen3 of 0.85 M parameters in fp32."""
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=VOCABULARY_SIZE,
        hidden_size=128,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        intermediate_size=384,
        max_position_embeddings=CONTEXT_LENGTH,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.convert_tokens_to_ids(TURN_END),
        pad_token_id=tokenizer.convert_tokens_to_ids(END_OF_TEXT),
        dtype="float32",
    )
    return Qwen3ForCausalLM(config)


def seed_training(
    model: Qwen3ForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    seed: int,
    report: Callable[[int, float], None],
) -> None:
    """Train in place; `report(step, loss)` is called every 50 steps (loss in nats per token)."""
    torch.set_num_threads(THREADS)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=PEAK_LEARNING_RATE, betas=(0.9, 0.95), weight_decay=WEIGHT_DECAY
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, _learning_rate_factor)
    model.train()
    for step, parts in enumerate(islice(_batches(tokenizer, seed), STEPS), start=1):
        labelled = sum(int((labels[:, 1:] != IGNORED).sum()) for _, labels in parts)
        loss = 0.0
        for input_ids, labels in parts:
            part = model(input_ids, labels=labels, num_items_in_batch=labelled).loss
            part.backward()
            loss += part.item()
        torch.nn.utils.clip_grad_norm_(model.parameters(), GRADIENT_CLIP)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        if step % 50 == 0:
            report(step, loss)
    model.eval()


def _learning_rate_factor(step: int) -> float:
    if step < WARM_UP_STEPS:
        return (step + 1) / WARM_UP_STEPS
    progress = (step - WARM_UP_STEPS) / (STEPS - WARM_UP_STEPS)
    return 0.5 * (1 + math.cos(math.pi * progress))


def _batches(tokenizer: PreTrainedTokenizerFast, seed: int) -> Iterator[list[tuple[Tensor, Tensor]]]:
    """Yield a step's micro-batches: (input ids, labels), each [rows, longest row]."""
    rng = random.Random(seed)
    while True:
        conversations = [short_conversation(rng) for _ in range(SHORT_ROWS)]
        conversations += [tool_conversation(rng) for _ in range(TOOL_ROWS)]
        rows = [_labelled_tokens(conversation, tokenizer) for conversation in conversations]
        rows.sort(key=lambda row: len(row[0]))
        size = len(rows) // MICRO_BATCHES
        yield [_padded(rows[i : i + size], tokenizer) for i in range(0, len(rows), size)]


def _padded(rows: list[tuple[list[int], list[int]]], tokenizer: PreTrainedTokenizerFast) -> tuple[Tensor, Tensor]:
    width = max(len(ids) for ids, _ in rows)
    ids = [ids + [tokenizer.pad_token_id] * (width - len(ids)) for ids, _ in rows]
    labels = [labels + [IGNORED] * (width - len(labels)) for _, labels in rows]
    return torch.tensor(ids), torch.tensor(labels)


def _labelled_tokens(conversation: Conversation, tokenizer: PreTrainedTokenizerFast) -> tuple[list[int], list[int]]:
    """Token ids and labels. Only the tokens of assistant turns, each with its end, have a label."""
    ids = tokenizer.apply_chat_template(**conversation, return_dict=False)
    start, end = tokenizer.convert_tokens_to_ids([TURN_START, TURN_END])
    assistant = tokenizer.encode("assistant\n", add_special_tokens=False)
    labels = [IGNORED] * len(ids)
    for index, token in enumerate(ids):
        first = index + 1 + len(assistant)
        if token == start and ids[index + 1 : first] == assistant:
            past = ids.index(end, first) + 1
            labels[first:past] = ids[first:past]
    return ids, labels
