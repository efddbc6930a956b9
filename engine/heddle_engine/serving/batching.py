"""Continuous batching over one base model (Orca, OSDI 2022): every step admits, prefills and decodes.

Prompts enter in chunks so that running rows keep producing tokens. Memory for keys and values is
bounded; when it runs out the youngest row goes back to the queue and is computed again later. What
waits for memory, a choice or a score, gets it before anything that came later: a stream of short
chats would else take each freed line, and never leave room for a long one.
"""

import itertools
import logging
import math
from collections import deque
from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from ..errors import EngineError
from ..faults import as_engine_error
from ..model.decoder import Decoder, LoraView
from .forward import DecodeBatch, prefill
from .generation import Generation, Request, Token
from .kv import KvMemory
from .prefix_cache import BLOCK, PrefixCache
from .sampler import Sampled, Sampler
from .scoring import Score, not_finite

MAX_ROWS = 128
PREFILL_TOKENS = 2048
"""Prompt tokens per step when nothing decodes."""
PREFILL_TOKENS_BESIDE_DECODE = 512
_EXPECTED_OUTPUT = 256

log = logging.getLogger(__name__)


class Batcher:
    """Runs requests of one base. Not thread safe: one thread calls everything."""

    def __init__(self, decoder: Decoder, kv_bytes: int, cache_bytes: int, max_rows: int = MAX_ROWS):
        self._decoder, self._max_rows = decoder, max_rows
        self._kv = KvMemory(decoder, kv_bytes)
        self._cache = PrefixCache(cache_bytes)
        self._waiting: deque[Generation] = deque()
        self._prefilling: list[Generation] = []
        self._rows: list[Generation] = []
        self._batch: DecodeBatch | None = None  # None once rows or lines have changed
        self._last_lora: LoraView | None = None
        self._sampler: Sampler | None = None
        self._scores: deque[Score] = deque()
        self._arrivals = itertools.count()

    @property
    def num_running(self) -> int:
        return len(self._rows) + len(self._prefilling)

    @property
    def num_waiting(self) -> int:
        return len(self._waiting)

    @property
    def busy(self) -> bool:
        return bool(self._waiting or self._prefilling or self._rows or self._scores)

    def submit(self, request: Request) -> None:
        request.arrival = next(self._arrivals)
        self._waiting.extend(request.generations())

    def submit_score(self, score: Score) -> None:
        score.arrival = next(self._arrivals)
        self._scores.append(score)

    @torch.inference_mode()
    def step(self) -> None:
        """Admit, prefill and decode once. A failure ends the requests it touched, never the process."""
        self._drop_cancelled()
        if self._scores:
            self._score(self._scores[0])
        self._admit()
        if self._prefilling:
            self._guard(self._prefill, lambda: self._prefilling)
        if self._rows:
            self._guard(self._decode, lambda: self._rows)

    def _guard(self, work: Callable[[], None], touched: Callable[[], Iterable[Generation]]) -> None:
        try:
            work()
        except Exception as error:
            log.exception("a batch step failed")
            self._fail({generation.request for generation in touched()}, as_engine_error(error))

    def _fail(self, requests: set[Request], error: EngineError) -> None:
        for request in requests:
            request.cancelled = True
            request.sink.failed(error)
        for generation in self._rows:
            if generation.request in requests:
                generation.line.wipe()
        self._drop_cancelled()

    def _drop_cancelled(self) -> None:
        if any(g.request.cancelled for g in (*self._waiting, *self._prefilling, *self._rows)):
            self._waiting = deque(g for g in self._waiting if not g.request.cancelled)
            for group in (self._prefilling, self._rows):
                for generation in [g for g in group if g.request.cancelled]:
                    group.remove(generation)
                    if group is self._prefilling:
                        generation.line.wipe()  # nothing of it has been sampled yet, so it may not be finite
                    self._free(generation)

    def _free(self, generation: Generation) -> None:
        if generation.line:
            self._kv.release(generation.line)
            generation.line = None
        self._batch = None

    # Admission

    def _admit(self) -> None:
        """Give waiting choices a line each, in order, until rows or memory are full.

        A choice whose prompt is just being computed waits for it and then reuses it.
        """
        computing = {_prompt_key(generation) for generation in self._prefilling}
        postponed: list[Generation] = []
        ready: list[tuple[Generation, Tensor]] = []
        while self._waiting and self.num_running + len(ready) < self._max_rows:
            if self._must_leave_room(self._waiting[0]):
                break
            generation = self._waiting.popleft()
            key = _prompt_key(generation)
            if key in computing and len(generation.ids) >= BLOCK:
                postponed.append(generation)
                continue
            try:
                hidden = self._place(generation)
            except Exception as error:
                if generation.line:
                    self._free(generation)
                self._fail({generation.request}, as_engine_error(error))
                continue
            if generation.line is None:
                postponed.append(generation)
                break
            if hidden is None:
                self._prefilling.append(generation)
                computing.add(key)
            else:
                ready.append((generation, hidden))
        self._waiting.extendleft(reversed(postponed))
        if ready:
            self._begin([generation for generation, _ in ready], torch.stack([hidden for _, hidden in ready]))

    def _must_leave_room(self, generation: Generation) -> bool:
        """Whether a score that came before `generation` still waits for memory."""
        first = self._scores[0] if self._scores else None
        return first is not None and first.line is None and first.arrival < generation.request.arrival

    def _place(self, generation: Generation) -> Tensor | None:
        """Allocate a line, if there is room, and fill it from the cache; the last hidden state when that is all."""
        if not self._kv.fits_alone(len(generation.ids) + 1):
            raise _too_long_for_memory(len(generation.ids))
        expected = min(generation.remaining, _EXPECTED_OUTPUT)
        generation.line = self._kv.allocate(len(generation.ids) + expected) or self._kv.allocate(
            len(generation.ids) + 1
        )
        self._batch = None
        return self._reuse(generation) if generation.line else None

    def _reuse(self, generation: Generation) -> Tensor | None:
        """Copy what is cached of the sequence; its last hidden state when that is all of it."""
        hit = self._cache.find(generation.request.namespace, generation.ids)
        line = generation.line
        if hit:
            line.slab.tokens(line, 0, hit.length)[:] = hit.entry.kv[:, :, :, : hit.length]
            line.length = hit.length
        if not generation.request.started:
            generation.request.started = True
            generation.request.sink.started(line.length)
        return hit.hidden if hit and hit.length == len(generation.ids) else None

    # Prefill

    def _prefill(self) -> None:
        budget = PREFILL_TOKENS_BESIDE_DECODE if self._rows else PREFILL_TOKENS
        chunks: list[tuple[Generation, int]] = []
        for generation in self._prefilling:
            count = min(len(generation.ids) - generation.line.length, budget)
            if count:
                chunks.append((generation, count))
                budget -= count
        chunks.sort(key=lambda chunk: chunk[0].adapter.key if chunk[0].adapter else "")
        done, last_hidden = [], []
        for (generation, _), hidden in zip(chunks, prefill(self._decoder, chunks), strict=True):
            if generation.line.length == len(generation.ids):
                if hidden[-1].sum().isfinite():
                    self._remember(generation, hidden[-1])
                done.append(generation)
                last_hidden.append(hidden[-1])
        if done:
            self._prefilling = [g for g in self._prefilling if g not in done]
            self._begin(done, torch.stack(last_hidden))

    def _begin(self, generations: list[Generation], hidden: Tensor) -> None:
        """Sample the first token of each and let it join the running rows."""
        self._rows += generations
        self._batch = None
        self._guard(lambda: self._accept(generations, self._sample(generations, hidden)), lambda: generations)

    def _sample(self, generations: list[Generation], hidden: Tensor) -> Sampled:
        sampler = Sampler(generations, self._decoder.config.vocab_size, self._decoder.device)
        return sampler.sample(self._decoder.head(hidden))

    def _remember(self, generation: Generation, hidden: Tensor | None) -> None:
        line = generation.line
        kv = line.slab.tokens(line, 0, line.length)
        self._cache.store(generation.request.namespace, generation.ids[: line.length], kv, hidden)

    # Decode

    def _decode(self) -> None:
        self._make_room()
        if not self._rows:
            return
        if self._batch is None:
            self._batch = DecodeBatch(self._decoder, self._rows, self._last_lora)
            self._last_lora = self._batch.lora
            self._sampler = Sampler(self._batch.rows, self._decoder.config.vocab_size, self._decoder.device)
        batch = self._batch
        sampled = self._sampler.sample(self._decoder.head(batch.step()))
        batch.ids = sampled.ids
        self._accept(batch.rows, sampled)

    def _make_room(self) -> None:
        """Lengthen full lines; where memory is out, the youngest rows wait and are computed again."""
        for generation in list(self._rows):
            line = generation.line
            if line is None or line.length < line.slab.capacity:
                continue
            self._batch = None
            while (longer := self._kv.grow(line)) is None:
                victim = self._rows[-1]
                self._preempt(victim)
                if victim is generation:
                    break
            else:
                generation.line = longer

    def _preempt(self, generation: Generation) -> None:
        self._rows.remove(generation)
        self._free(generation)
        self._waiting.appendleft(generation)

    def _accept(self, generations: list[Generation], sampled: Sampled) -> None:
        ended = []
        for place, generation in enumerate(generations):
            if math.isnan(sampled.logprobs[place]):
                self._fail({generation.request}, not_finite(generation.adapter))
            if generation.request.cancelled:
                continue
            top = sampled.tops[place] if sampled.tops else []
            try:
                if generation.accept(Token(sampled.tokens[place], sampled.logprobs[place], top)):
                    ended.append(generation)
            except Exception as error:
                log.exception("a token could not be told")
                self._fail({generation.request}, as_engine_error(error))
        for generation in ended:
            if generation.line is None:
                continue  # another choice of its request failed
            self._rows.remove(generation)
            self._remember(generation, None)
            self._free(generation)

    # Scoring

    def _score(self, score: Score) -> None:
        try:
            finished = score.cancelled or score.advance(self._decoder, self._kv, PREFILL_TOKENS_BESIDE_DECODE)
        except Exception as error:
            log.exception("a score call failed")
            if score.line:
                score.line.wipe()
            score.fail(as_engine_error(error))
            finished = True
        if score.line is None and not finished:
            return
        self._batch = None
        if finished:
            self._scores.popleft()
            score.release(self._kv)


def _prompt_key(generation: Generation) -> tuple:
    return (generation.request.namespace, tuple(generation.ids))


def _too_long_for_memory(length: int) -> EngineError:
    return EngineError(
        "out_of_memory",
        f"A sequence of {length} tokens does not fit the memory for keys and values. "
        "Shorten it, or start the engine with a larger --kv-bytes.",
    )
