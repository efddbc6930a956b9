"""Grants rows of the batch and memory for keys and values: tenants take turns, and nobody can take all.

A tenant may have seven times as much as is left free (dynamic thresholds, Choudhury and Hahne 1998): alone
it gets seven eighths; several greedy ones get equal parts, and something is left for the next. A tenant that has
nothing yet takes the first row and line that fit. A request of a tenant with nothing running gets memory before
later ones: otherwise short sequences would take each freed line, and never leave room for a long one.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..errors import EngineError
from ..turns import TurnQueue
from .generation import Generation, Request
from .kv_lines import KvLine, KvMemory
from .prefix_cache import BLOCK

_TIMES_THE_FREE = 7
_EXPECTED_OUTPUT = 256


class Usage:
    """Rows and bytes of the sequences in progress, in all and by tenant."""

    def __init__(self, running: list[Generation]):
        self.rows: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()
        for generation in running:
            self.add(generation)

    def add(self, generation: Generation) -> None:
        self.rows[generation.tenant] += 1
        self.bytes[generation.tenant] += generation.line.bytes

    @property
    def num_rows(self) -> int:
        return self.rows.total()

    def largest(self, tenants: set[str]) -> str:
        """The one of `tenants` that has most memory."""
        return max(tenants, key=lambda tenant: self.bytes[tenant])


@dataclass(frozen=True)
class _Claim:
    """`generation` waits for `bytes`; lines that are not among `before` must leave them free."""

    request: Request
    bytes: int
    before: frozenset[KvLine]


class Admission:
    """The requests that wait. `refuse` ends one that can never be served."""

    def __init__(self, memory: KvMemory, max_rows: int, refuse: Callable[[Request, EngineError], None]):
        self._memory, self._max_rows, self._refuse = memory, max_rows, refuse
        self._most_bytes = memory.limit * _TIMES_THE_FREE // (_TIMES_THE_FREE + 1)
        self._waiting: TurnQueue[Request] = TurnQueue()
        self._claim: _Claim | None = None

    @property
    def num_choices(self) -> int:
        return sum(request.num_waiting for request in self._waiting)

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, request: Request) -> None:
        self._waiting.add(request.tenant, request)

    def put_back(self, generation: Generation) -> None:
        """A row that had to make room is the next of its tenant."""
        request = generation.request
        if not request.num_waiting:
            self._waiting.add_first(request.tenant, request)
        request.put_back(generation)

    def drop_cancelled(self) -> None:
        self._waiting.discard(lambda request: request.cancelled)
        if self._claim and self._claim.request.cancelled:
            self._claim = None

    def admit(self, running: list[Generation], computing: set[bytes]) -> Iterator[Generation]:
        """Choices that begin now, each with a line. Those whose prompt is among `computing` wait, to reuse it."""
        usage = Usage(running)
        lines = {generation.line for generation in running}
        tenants = self._waiting.tenants()
        while tenants and usage.num_rows < self._max_rows:
            tenant = tenants.pop(0)
            generation = self._next(tenant, usage, lines, computing)
            if generation is None:
                continue
            tenants.append(tenant)
            usage.add(generation)
            lines.add(generation.line)
            self._waiting.served(tenant)
            yield generation

    def _next(self, tenant: str, usage: Usage, lines: set[KvLine], computing: set[bytes]) -> Generation | None:
        """The first choice of `tenant` that may begin, if it has a place left."""
        if usage.rows[tenant] >= _TIMES_THE_FREE * (self._max_rows - usage.num_rows):
            return None
        for request in self._waiting.line(tenant):
            if request.cancelled or (request.prompt_key in computing and len(request.prompt_ids) >= BLOCK):
                continue
            generation = request.take()
            if self._memory.bytes_for(len(generation.ids) + 1) > self._most_bytes:
                self._refuse(request, _too_long_for_memory(len(generation.ids)))
                continue
            generation.line = self._allocate(generation, usage, lines)
            if generation.line is None:
                request.put_back(generation)
                return None
            if not request.num_waiting:
                self._waiting.remove(tenant, request)
            return generation
        return None

    def _allocate(self, generation: Generation, usage: Usage, lines: set[KvLine]) -> KvLine | None:
        expected = min(generation.remaining, _EXPECTED_OUTPUT)
        for length in (len(generation.ids) + expected, len(generation.ids) + 1):
            if self._may_take(generation, self._memory.bytes_for(length), usage, lines):
                line = self._memory.allocate(length)
                if line:
                    self._end_claim(generation.request)
                    return line
        if self._claim is None and not usage.bytes[generation.tenant]:
            wanted = self._memory.bytes_for(len(generation.ids) + 1)
            self._claim = _Claim(generation.request, wanted, frozenset(lines))
        return None

    def _may_take(self, generation: Generation, wanted: int, usage: Usage, lines: set[KvLine]) -> bool:
        claim = self._claim
        if claim and claim.request is generation.request:
            return wanted <= self._most_bytes
        if claim:
            later = sum(line.bytes for line in lines if line not in claim.before)
            if later + wanted > self._memory.limit - claim.bytes:
                return False
        if not usage.bytes[generation.tenant]:
            return wanted <= self._most_bytes
        return self._within_share(generation, wanted, usage)

    def may_grow(self, generation: Generation, usage: Usage) -> bool:
        """Whether the full line of `generation` may have more room."""
        line = generation.line
        more = self._memory.bytes_for(line.room + 1) - line.bytes
        return self._within_share(generation, more, usage)

    def _within_share(self, generation: Generation, more: int, usage: Usage) -> bool:
        free = self._memory.limit - usage.bytes.total() - more
        return usage.bytes[generation.tenant] + more <= _TIMES_THE_FREE * free

    def _end_claim(self, request: Request) -> None:
        if self._claim and self._claim.request is request:
            self._claim = None


def _too_long_for_memory(length: int) -> EngineError:
    return EngineError(
        "out_of_memory",
        f"A sequence of {length} tokens does not fit the memory for keys and values. "
        "Shorten it, or start the server with a larger HEDDLE_ENGINE_KV_BYTES.",
    )
