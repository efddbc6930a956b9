"""Brings base models up beside everything else: whoever needs one waits for it without a thread."""

from .bases import Base, Bases
from .fair_pool import FairPool
from .shared_calls import SharedCalls

_FINDING, _ASKING, _LOADING = 4, 4, 2
"""How many models are looked for in folders, asked of the hub, and loaded, at a time."""


class BaseLoader:
    """Used from the event loop only."""

    def __init__(self, bases: Bases):
        self._bases = bases
        self._finders = FairPool(_FINDING, _FINDING, "find")
        # A hub that does not answer keeps its threads for minutes, also when nobody waits any more.
        self._askers = FairPool(_ASKING, _ASKING, "hub")
        self._loaders = FairPool(_LOADING, _LOADING, "load")
        self._found: SharedCalls[Base] = SharedCalls()
        self._loaded: SharedCalls[None] = SharedCalls()

    @property
    def num_loading(self) -> int:
        return self._loaders.num_running

    async def found(self, ref: dict) -> Base:
        """The base, its weights loaded or not. Raises `not_found` or `invalid`."""
        known = self._bases.known(ref)
        if known is not None:
            return known
        pool = self._askers if ref.get("path") is None else self._finders
        return await self._found.get(self._bases.key(ref), lambda: pool.run("", lambda: self._bases.resolve(ref)))

    async def loaded(self, ref: dict) -> Base:
        """The base with its weights in memory."""
        base = await self.found(ref)
        if not base.is_loaded:
            await self._loaded.get(base, lambda: self._loaders.run("", base.load))
        return base
