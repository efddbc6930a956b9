"""Times steps of the engine's own batcher, in this process: rows that differ in how their tokens are chosen."""

from heddle_engine.allocator import keep_freed_pages
from heddle_engine.threads import fix_order_of_sums, set_spinning

# The engine's own process calls these before torch loads its thread pool, too.
set_spinning()
fix_order_of_sums()
keep_freed_pages()

import random
import time

import worker
from heddle_engine.bases import Base, Bases
from heddle_engine.errors import EngineError
from heddle_engine.serving.batching import Batcher
from heddle_engine.serving.generation import End, Request, Token
from heddle_engine.serving.sampling import SamplingParams
from heddle_engine.threads import use_cores

PROMPT_TOKENS = 16
KV_BYTES = 1 << 30


class Answer:
    """Takes the tokens of one request."""

    def __init__(self) -> None:
        self.tokens = 0

    def started(self, cached_tokens: int) -> None: ...

    def ended(self, index: int) -> None: ...

    def sampled(self, index: int, token: Token, end: End | None) -> None:
        self.tokens += 1

    def failed(self, error: EngineError) -> None:
        raise error


class Batch:
    """Requests that decode together, in a batcher of their own."""

    def __init__(self, base: Base, rows: list[dict]) -> None:
        source, vocabulary = random.Random(1), base.config.vocab_size
        self.batcher = Batcher(base.decoder, KV_BYTES, cache_bytes=0)
        self.answers = [Answer() for _ in rows]
        for row, answer in zip(rows, self.answers, strict=True):
            request = Request(
                prompt_ids=[source.randrange(vocabulary) for _ in range(PROMPT_TOKENS)],
                params=SamplingParams.from_wire({"ignore_eos": True, "seed": "1", **row}, vocabulary),
                n=1,
                adapter=None,
                cache_salt="",
                sink=answer,
                tokenizer=base.tokenizer,
                max_length=base.max_model_len,
            )
            self.batcher.submit(request)
        while not all(answer.tokens for answer in self.answers):
            self.batcher.step()
        # The first step with all rows makes what the following ones use.
        self.batcher.step()

    def step(self) -> tuple[float, float]:
        """Seconds and CPU seconds of one step, in which every row gets a token."""
        before = [answer.tokens for answer in self.answers]
        began, began_cpu = time.perf_counter(), time.process_time()
        self.batcher.step()
        taken = time.perf_counter() - began, time.process_time() - began_cpu
        if [answer.tokens - 1 for answer in self.answers] != before:
            raise RuntimeError("a row got no token")
        return taken


class EngineDecoding:
    def load(self, base: str, threads: int) -> None:
        """Loads the model folder `base` and computes as the engine's serving thread does, on `threads` cores."""
        use_cores(threads)
        self.base = Bases().load({"name": base, "path": base})

    def decode(self, batches: list[list[dict]], steps: int) -> list[list[tuple[float, float]]]:
        """What each of `steps` steps takes, of every batch of rows with these sampling parameters.

        The batches take turns after each step, A B, B A, … so that other programs disturb them alike.
        """
        made = [Batch(self.base, rows) for rows in batches]
        taken: list[list[tuple[float, float]]] = [[] for _ in made]
        for step in range(steps):
            order = range(len(made))
            for place in order if step % 2 == 0 else reversed(order):
                taken[place].append(made[place].step())
        return taken


if __name__ == "__main__":
    decoding = EngineDecoding()
    worker.serve({"load": decoding.load, "decode": decoding.decode})
