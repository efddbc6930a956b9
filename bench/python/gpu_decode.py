"""Decoding and its neighbours on a GPU: the engine's own batcher, in this process."""

import gc
import random
import statistics
import threading
import time

import torch
from heddle_engine.model.adapters import AdapterStore, ServedAdapter
from heddle_engine.model.decoder import Decoder
from heddle_engine.serving.batching import MAX_ROWS, Batcher
from heddle_engine.serving.generation import Request
from heddle_engine.serving.sampling import SamplingParams
from heddle_engine.streams import serve_first

from gpu_models import GPU, bytes_of_step, make_adapter, make_lora
from heddle_decoding import Answer

WARM_STEPS = 12
"""After which a step of the batch is captured."""
ANSWER = 320
"""Tokens of a row's answer that there is memory for."""


class Rows:
    """Requests that decode together, in a batcher of their own."""

    def __init__(self, decoder: Decoder, prompts: list[int], adapters: list[ServedAdapter | None], **params) -> None:
        source = random.Random(1)
        room = (sum(prompts) + ANSWER * len(prompts)) * decoder.kv_token_bytes
        # Two tenants may have seven eighths of it each, and the rest has to stay free; states take up to a half.
        states = 2 * (MAX_ROWS + 2) * decoder.state_bytes
        self.batcher = Batcher(decoder, int(1.2 * room) + states, cache_bytes=0)
        self.answers = [Answer() for _ in prompts]
        for number, (length, answer) in enumerate(zip(prompts, self.answers, strict=True)):
            wire = {"ignore_eos": True, "seed": str(number), "max_tokens": ANSWER, **params}
            self.batcher.submit(
                Request(
                    prompt_ids=[source.randrange(1000, 150_000) for _ in range(length)],
                    params=SamplingParams.from_wire(wire, decoder.config.vocab_size),
                    n=1,
                    adapter=adapters[number % len(adapters)],
                    cache_salt="",
                    sink=answer,
                    tokenizer=None,
                    max_length=32_768,
                    tenant=str(number % 2),
                )
            )
        began = time.perf_counter()
        while not all(answer.tokens for answer in self.answers):
            self.batcher.step()
        self.prefill_seconds = time.perf_counter() - began
        for _ in range(WARM_STEPS):
            self.batcher.step()

    def steps(self, count: int) -> list[float]:
        """Seconds of each of `count` steps, in which every row gets a token."""
        taken = []
        for _ in range(count):
            began = time.perf_counter()
            self.batcher.step()
            taken.append(time.perf_counter() - began)
        return taken


def decode_figures(
    decoder: Decoder, name: str, batches: tuple[int, ...], bandwidth: float, figures: dict[str, list[float]]
) -> None:
    """`bandwidth` in bytes a second: a step can be no faster than its weights, keys and values are read."""
    eight = [make_adapter(decoder, seed) for seed in range(8)]
    for rows in batches:
        prompts = [1024] * rows
        base = 0.0
        for title, adapters in (("base", [None]), ("one adapter", eight[:1]), ("8 adapters", eight)):
            if title == "8 adapters" and rows < 64:
                continue
            batch = Rows(decoder, prompts, adapters)
            step = statistics.median(taken := batch.steps(40))
            figures[f"decode, {name}, {rows} rows, {title}: step (ms)"] = [1e3 * each for each in taken]
            if title == "base":
                base = step
                floor = bytes_of_step(decoder, rows, 1050) / bandwidth
                figures[f"decode, {name}, {rows} rows: tokens/s"] = [rows / step]
                figures[f"decode, {name}, {rows} rows: share of roofline"] = [floor / step]
                again = Rows(decoder, prompts, adapters) if rows == 16 else None
                if again:
                    figures[f"prefill, {name}, 16 prompts of 1,024: tokens/s"] = [sum(prompts) / again.prefill_seconds]
                del again
            else:
                figures[f"decode, {name}, {rows} rows, {title}: times the base"] = [step / base]
            del batch
            gc.collect()
            torch.cuda.empty_cache()


def top_p_figures(decoder: Decoder, name: str, figures: dict[str, list[float]]) -> None:
    plain, cut = (Rows(decoder, [64] * 16, [None], temperature=1.0, **wire) for wire in ({}, {"top_p": 0.9}))
    without, with_top_p = (statistics.median(batch.steps(40)) for batch in (plain, cut))
    figures[f"decode, {name}, 16 rows with top_p: times without"] = [with_top_p / without]


def publish_figures(decoder: Decoder, name: str, figures: dict[str, list[float]]) -> None:
    """From a trainer's weights on the device to the first token of a request that asks for them."""
    store = AdapterStore(decoder.config, GPU, decoder.dtype)
    taken = []
    for seed in range(6):
        made = make_lora(decoder, seed)
        for module in made.modules.values():
            module.a, module.b = module.a.to(GPU), module.b.to(GPU)
        torch.cuda.synchronize()
        began = time.perf_counter()
        adapter = store.publish(f"step-{seed}", made)
        answer = Answer()
        batcher = Batcher(decoder, 2 * decoder.sequence_bytes(4096), cache_bytes=0)
        params = SamplingParams.from_wire({"ignore_eos": True, "seed": "1", "max_tokens": 1}, decoder.config.vocab_size)
        batcher.submit(Request([5] * 64, params, 1, adapter, "", answer, None, 32_768))
        while not answer.tokens:
            batcher.step()
        taken.append(1e3 * (time.perf_counter() - began))
    figures[f"publish to first token, {name} (ms)"] = taken[1:]


def beside_training_figures(decoder: Decoder, name: str, train, figures: dict[str, list[float]]) -> None:
    """32 streams alone, then beside `train`, which runs one step of a job each time it is called."""
    adapter = make_adapter(decoder, 1)
    ended = threading.Event()
    steps: list[float] = []
    alone = statistics.median(_timed(train) for _ in range(3))

    def serve() -> None:
        serve_first(GPU)
        batch = Rows(decoder, [512] * 32, [adapter], max_tokens=4000)
        idle = batch.steps(60)
        figures[f"32 streams alone, {name}: step (ms)"] = [1e3 * each for each in idle]
        ready.set()
        while not ended.is_set():
            steps.extend(batch.steps(1))

    ready = threading.Event()
    thread = threading.Thread(target=serve)
    thread.start()
    ready.wait()
    steps.clear()
    beside = [_timed(train) for _ in range(4)]
    ended.set()
    thread.join()
    idle = figures[f"32 streams alone, {name}: step (ms)"]
    figures[f"32 streams beside training, {name}: step (ms)"] = [1e3 * each for each in steps]
    p99 = statistics.quantiles(steps, n=100)[98] * 1e3
    figures[f"32 streams beside training, {name}: p99 times that alone"] = [p99 / statistics.quantiles(idle, n=100)[98]]
    figures[f"training beside 32 streams, {name}: share of its speed alone"] = [alone / statistics.median(beside)]


def _timed(work) -> float:
    torch.cuda.synchronize()
    began = time.perf_counter()
    work()
    torch.cuda.current_stream().synchronize()
    return time.perf_counter() - began
