"""Compiled grammars: each is compiled once, in threads of their own, within a time limit."""

from collections import OrderedDict

from ..bases import Base
from ..errors import EngineError
from ..fair_pool import FairPool
from ..shared_calls import SharedCalls
from ..text.grammar import GrammarMatcher, GrammarSource, unusable
from ..text.sandbox import Sandbox

_THREADS, _PER_TENANT = 2, 1
_CACHED_BYTES = 4 << 20
"""Source text of the grammars that are kept; compiled they take a few times as much."""
_MOST_CACHED = 128
"""However short their texts are: compiled, even those take 36 KB and more."""


class Grammars:
    """Used from the event loop only. A grammar is compiled in `sandbox` first, in a process that can be killed."""

    def __init__(self, sandbox: Sandbox):
        self._sandbox = sandbox
        self._pool = FairPool(_THREADS, _PER_TENANT, "grammar")
        self._compiling: SharedCalls[GrammarMatcher] = SharedCalls()
        self._kept: OrderedDict[tuple[Base, GrammarSource], GrammarMatcher] = OrderedDict()
        self._kept_bytes = 0

    @property
    def num_compiling(self) -> int:
        return self._pool.num_running

    async def matcher(self, base: Base, tenant: str, source: GrammarSource) -> GrammarMatcher:
        """At its beginning. Raises `invalid` that says what of `source` cannot be followed."""
        key = (base, source)
        compiled = self._kept.get(key)
        if compiled is None:
            # The tenant is part of the key: nobody waits for a compilation that another tenant has queued.
            compiled = await self._compiling.get((tenant, key), lambda: self._compile(base, tenant, source))
            self._keep(key, compiled)
        else:
            self._kept.move_to_end(key)
        return compiled.fork()

    async def _compile(self, base: Base, tenant: str, source: GrammarSource) -> GrammarMatcher:
        return await self._pool.run(tenant, lambda: base.grammars.compile(self._checked(source), source.param))

    def _checked(self, source: GrammarSource) -> str:
        task = {"task": "grammar", "kind": source.kind, "body": source.body, "around": source.around}
        try:
            return self._sandbox.run("compiling it", task)
        except EngineError as error:
            raise unusable(source.param, error.message) from error

    def _keep(self, key: tuple[Base, GrammarSource], compiled: GrammarMatcher) -> None:
        if key not in self._kept:
            self._kept[key] = compiled
            self._kept_bytes += len(key[1].body)
        while self._kept_bytes > _CACHED_BYTES or len(self._kept) > _MOST_CACHED:
            (_, dropped), _ = self._kept.popitem(last=False)
            self._kept_bytes -= len(dropped.body)
