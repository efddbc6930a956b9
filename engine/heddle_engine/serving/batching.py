"""Continuous batching over one base model (Orca, OSDI 2022): every step admits, prefills and decodes.

Prompts enter in chunks so that running rows keep producing tokens, and tenants share each step's chunks. Memory for
keys and values is bounded; when it runs out the youngest row of the tenant that has most of it goes back to the
queue and is computed again later.
"""

import logging
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from ..errors import EngineError
from ..faults import as_engine_error, device_is_lost
from ..model.adapters import ServedAdapter
from ..model.decoder import Decoder
from .admission import Admission, Usage
from .forward import SlabForward
from .generation import Generation, Request, Token
from .kv_lines import KvMemory
from .pool_forward import PoolForward
from .prefix_cache import PrefixCache
from .sampler import Sampled, Sampler

MAX_ROWS = 146
"""One tenant alone gets 128 of them (`admission`)."""
PREFILL_TOKENS = {"cpu": 2048, "cuda": 8192}
"""Prompt tokens per step when nothing decodes."""
PREFILL_TOKENS_BESIDE_DECODE = {"cpu": 512, "cuda": 2048}
_LEAST_CHUNK = 64
"""If more tenants wait than can have this many tokens each in a step, some wait for the next."""

log = logging.getLogger(__name__)


class DecodeBatch(Protocol):
    """A fixed set of rows that decode together; `ids` [rows] are their last tokens."""

    rows: list[Generation]
    ids: Tensor

    def step(self) -> Tensor:
        """Write the last token of every row; hidden states [rows, hidden]."""
        ...


class Forward(Protocol):
    """The passes of one base model over its memory for keys and values.

    `goes_ahead`: a step may begin before the tokens of the one before are read; the device computes meanwhile.
    """

    memory: KvMemory
    goes_ahead: bool

    def prefill(self, chunks: list[tuple[Generation, int]]) -> list[Tensor]:
        """Run the next `count` unwritten tokens of each generation; what `run_chunks` returns of them."""
        ...

    def batch(self, rows: list[Generation]) -> DecodeBatch: ...


def forward_of(decoder: Decoder, kv_bytes: int, max_rows: int) -> Forward:
    if decoder.device.type == "cpu":
        return SlabForward(decoder, kv_bytes, max_rows)
    return PoolForward(decoder, kv_bytes, max_rows)


@dataclass(frozen=True)
class _Step:
    """Hidden states [rows, hidden] of rows whose last tokens were written."""

    rows: list[Generation]
    hidden: Tensor


class Batcher:
    """Runs requests of one base. Not thread safe: one thread calls everything."""

    def __init__(self, decoder: Decoder, kv_bytes: int, cache_bytes: int, max_rows: int = MAX_ROWS):
        self._decoder = decoder
        self._forward = forward_of(decoder, kv_bytes, max_rows)
        self._kv = self._forward.memory
        self._cache = PrefixCache(decoder, cache_bytes)
        rows = min(max_rows, self._kv.most_lines)
        self._admission = Admission(self._kv, rows, lambda request, error: self._fail({request}, error))
        self._prefilling: list[Generation] = []
        self._rows: list[Generation] = []
        self._batch: DecodeBatch | None = None  # None once rows or lines have changed
        self._ahead: _Step | None = None  # begun before the tokens of the last step were handed over
        self._sampler: Sampler | None = None

    @property
    def num_running(self) -> int:
        return len(self._rows) + len(self._prefilling)

    @property
    def num_waiting(self) -> int:
        return self._admission.num_choices

    @property
    def busy(self) -> bool:
        return bool(self._admission or self._prefilling or self._rows)

    def submit(self, request: Request) -> None:
        self._admission.add(request)

    @torch.inference_mode()
    def step(self) -> None:
        """Admit, prefill and decode once. A failure ends the requests it touched; raises when the device is lost."""
        self._drop_cancelled()
        self._admit()
        if self._prefilling:
            self._guard(self._prefill, lambda: self._prefilling)
        if self._rows:
            self._guard(self._decode, lambda: self._rows)
        else:
            self._ahead = None

    def _guard(self, work: Callable[[], None], touched: Callable[[], Iterable[Generation]]) -> None:
        try:
            work()
        except Exception as error:
            if device_is_lost(error):
                raise
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
        self._admission.drop_cancelled()
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
        """Begin the choices that are admitted. One whose whole prompt is cached needs no prefill."""
        computing = {generation.request.prompt_key for generation in self._prefilling}
        ready: list[tuple[Generation, Tensor]] = []
        for generation in self._admission.admit([*self._prefilling, *self._rows], computing):
            try:
                hidden = self._reuse(generation)
            except Exception as error:
                if device_is_lost(error):
                    raise
                log.exception("a choice could not begin")
                self._free(generation)
                self._fail({generation.request}, as_engine_error(error))
                continue
            self._batch = None  # a new line may have moved the others
            if hidden is None:
                self._prefilling.append(generation)
                computing.add(generation.request.prompt_key)
            else:
                ready.append((generation, hidden))
        if ready:
            self._begin([generation for generation, _ in ready], torch.stack([hidden for _, hidden in ready]))

    def _reuse(self, generation: Generation) -> Tensor | None:
        """Copy the cached part of the sequence into its line. Returns the last hidden state if all of it was cached."""
        hit = None
        if not generation.reads_prompt:
            hit = self._cache.find(generation.request.namespace, generation.ids)
        line = generation.line
        if hit:
            line.fill(self._cache.read(hit))
            if hit.state is not None:
                line.state.copy_(hit.state)
        if not generation.request.started:
            generation.request.started = True
            generation.request.sink.started(line.length)
        return hit.hidden if hit else None

    # Prefill

    def _prefill(self) -> None:
        budget = PREFILL_TOKENS_BESIDE_DECODE if self._rows else PREFILL_TOKENS
        chunks = self._chunks(budget[self._decoder.device.type])
        chunks.sort(key=lambda chunk: chunk[0].adapter.key if chunk[0].adapter else "")
        done, last_hidden = [], []
        for (generation, _), hidden in zip(chunks, self._forward.prefill(chunks), strict=True):
            if generation.reads_prompt:
                generation.request.reader.read(self._decoder, hidden)
            if generation.line.length == len(generation.ids):
                if hidden[-1].sum().isfinite():
                    self._remember(generation, hidden[-1])
                generation.request.prompt_is_read |= generation.reads_prompt
                done.append(generation)
                last_hidden.append(hidden[-1])
        if done:
            self._prefilling = [g for g in self._prefilling if g not in done]
            self._begin(done, torch.stack(last_hidden))

    def _chunks(self, budget: int) -> list[tuple[Generation, int]]:
        """The part of each prompt to compute now: equal parts for the tenants, in the order of arrival within one.

        Tokens that a tenant does not need go to the first of the others. Tenants that are served now stand behind
        the others in the next step.
        """
        tenants = list(dict.fromkeys(generation.tenant for generation in self._prefilling))
        part = max(_LEAST_CHUNK, budget // len(tenants))
        counts = dict.fromkeys(self._prefilling, 0)
        for most in (part, budget):
            for tenant in tenants:
                left = min(most, budget)
                for generation in (g for g in self._prefilling if g.tenant == tenant):
                    count = min(len(generation.ids) - generation.line.length - counts[generation], left)
                    counts[generation] += count
                    left -= count
                    budget -= count
        served = {generation.tenant for generation, count in counts.items() if count}
        self._prefilling.sort(key=lambda generation: generation.tenant in served)
        return [(generation, count) for generation, count in counts.items() if count]

    def _begin(self, generations: list[Generation], hidden: Tensor) -> None:
        """Sample the first token of each and add it to the running rows. A generation that may have no token ends."""
        for generation, last in zip(generations, hidden, strict=True):
            if generation.remaining <= 0:
                self._end_unsampled(generation, last)
        places = [place for place, generation in enumerate(generations) if generation.remaining > 0]
        started = [generations[place] for place in places]
        if started:
            self._rows += started
            self._batch = None
            self._guard(lambda: self._accept(started, self._sample(started, hidden[places])), lambda: started)

    def _end_unsampled(self, generation: Generation, hidden: Tensor) -> None:
        is_finite = bool(hidden.sum().isfinite())
        if not is_finite:
            generation.line.wipe()
        self._free(generation)
        try:
            if not is_finite:
                raise not_finite(generation.adapter)
            generation.request.sink.ended(generation.index)
        except Exception as error:
            self._fail({generation.request}, as_engine_error(error))

    def _sample(self, generations: list[Generation], hidden: Tensor) -> Sampled:
        return self._sampler_of(generations).draw(self._decoder.head.in_fp32(hidden)).read()

    def _sampler_of(self, generations: list[Generation]) -> Sampler:
        return Sampler(generations, self._decoder.config.vocab_size, self._decoder.device)

    def _remember(self, generation: Generation, hidden: Tensor | None) -> None:
        line = generation.line
        ids = generation.ids[: line.length]
        self._cache.store(generation.request.namespace, ids, line.read(), hidden, line.state)

    # Decode

    def _decode(self) -> None:
        step = self._take_ahead() or self._begin_step()
        if step is None:
            return
        drawn = self._sampler.draw(self._decoder.head.in_fp32(step.hidden))
        if self._batch:
            self._batch.ids = drawn.ids
            self._ahead = self._go_ahead(self._batch)
        self._accept(step.rows, drawn.read())

    def _take_ahead(self) -> _Step | None:
        """The step that was begun ahead, less the rows that have ended. Rows that came since wait for the next one."""
        ahead, self._ahead = self._ahead, None
        if ahead is None or self._batch:
            return ahead
        running = set(self._rows)
        kept = [place for place, row in enumerate(ahead.rows) if row in running]
        if not kept:
            return None
        rows = [ahead.rows[place] for place in kept]
        self._sampler = self._sampler_of(rows)
        return _Step(rows, ahead.hidden[torch.tensor(kept, device=ahead.hidden.device)])

    def _begin_step(self) -> _Step | None:
        self._make_room()
        if not self._rows:
            return None
        if self._batch is None:
            self._batch = self._forward.batch(self._rows)
            self._sampler = self._sampler_of(self._batch.rows)
        return _Step(self._batch.rows, self._batch.step())

    def _go_ahead(self, batch: DecodeBatch) -> _Step | None:
        """Begin the next step with the tokens that were drawn, if each row will have one and memory lasts.

        A row that turns out to have ended with its token is computed in vain.
        """
        if not self._forward.goes_ahead or any(row.remaining < 2 for row in batch.rows):
            return None
        if not all(self._lengthen(row) for row in batch.rows if row.line.is_full):
            return None
        return _Step(batch.rows, batch.step()) if batch is self._batch else None

    def _make_room(self) -> None:
        """Lengthen full lines. When memory is out, a row of the tenant that holds most goes back to the queue."""
        for generation in [row for row in self._rows if row.line.is_full]:
            while generation.line and not self._lengthen(generation):
                self._preempt()

    def _lengthen(self, generation: Generation) -> bool:
        line = generation.line
        if not self._admission.may_grow(generation, self._usage()):
            return False
        longer = self._kv.grow(line)
        if longer is not None and longer is not line:
            generation.line = longer
            self._batch = None
        return longer is not None

    def _preempt(self) -> None:
        largest = self._usage().largest({row.tenant for row in self._rows})
        youngest = next(row for row in reversed(self._rows) if row.tenant == largest)
        self._rows.remove(youngest)
        self._free(youngest)
        self._admission.put_back(youngest)

    def _usage(self) -> Usage:
        return Usage([*self._prefilling, *self._rows])

    def _accept(self, generations: list[Generation], sampled: Sampled) -> None:
        ended = []
        for place, generation in enumerate(generations):
            if not math.isfinite(sampled.logprobs[place]):
                self._fail({generation.request}, not_finite(generation.adapter))
            if generation.request.cancelled:
                continue
            top = sampled.tops[place] if sampled.tops else []
            try:
                if generation.accept(Token(sampled.tokens[place], sampled.logprobs[place], top)):
                    ended.append(generation)
            except Exception as error:
                log.exception("a token could not be handed over")
                self._fail({generation.request}, as_engine_error(error))
        for generation in ended:
            if generation.line is None:
                continue  # another choice of its request failed
            self._rows.remove(generation)
            if generation.line.length > generation.prompt_length:
                self._remember(generation, None)  # the prompt by itself is known since it was computed
            self._free(generation)


def not_finite(adapter: ServedAdapter | None) -> EngineError:
    """What a request is told whose logits are NaN or infinite."""
    what = f"adapter {adapter.key}" if adapter else "the base model"
    return EngineError("internal", f"The logits of {what} are not finite: its weights are damaged or have diverged.")
