"""Brings base models up beside everything else: whoever needs one waits for it without a thread."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from .bases import Base, Bases
from .fair_pool import FairPool
from .shared_calls import SharedCalls

_FINDING, _ASKING, _FETCHING = 4, 4, 2
"""How many models are looked for in folders, asked of the hub, and downloaded, at a time."""
_MOST_LOADING, _CORES_EACH = 2, 2
_AGAIN_S = 1.0
"""After how long at least a model that is being loaded is tried again to be unloaded."""


def loads_at_once(cores: int, device: torch.device) -> int:
    """Two; where a CPU decodes, no more than one for two cores, since each load keeps one busy."""
    return _MOST_LOADING if device.type == "cuda" else min(_MOST_LOADING, max(1, cores // _CORES_EACH))


class BaseLoader:
    """Used from the event loop only."""

    def __init__(
        self,
        bases: Bases,
        idle_s: int | None = None,
        unloading: Callable[[Base], None] = lambda _base: None,
        loading: int = _MOST_LOADING,
    ):
        """`idle_s`: how long weights stay that nobody uses, None: for ever. `unloading` is told of those that go.

        `loading`: how many models are loaded at a time.
        """
        self._bases = bases
        self._idle_s, self._unloading = idle_s, unloading
        self._users: Counter[Base] = Counter()
        self._unloads: dict[Base, asyncio.TimerHandle] = {}
        self._finders = FairPool(_FINDING, _FINDING, "find")
        # A hub that does not answer keeps its threads for minutes, also when nobody waits any more.
        self._askers = FairPool(_ASKING, _ASKING, "hub")
        self._fetchers = FairPool(_FETCHING, _FETCHING, "fetch")
        self._loaders = FairPool(loading, loading, "load")
        self._found: SharedCalls[Base] = SharedCalls()
        self._loaded: SharedCalls[None] = SharedCalls()
        # A download that nobody waits for goes on: who comes back waits for it.
        self._fetched: SharedCalls[None] = SharedCalls(go_on=True)

    @property
    def num_loading(self) -> int:
        return self._fetchers.num_running + self._loaders.num_running

    def loaded_names(self) -> list[str]:
        """Of the bases whose weights are in memory, each name they were asked for."""
        return self._bases.loaded_names()

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
        with self.kept(base):
            await self.load(base)
        return base

    async def load(self, base: Base) -> None:
        """Return with its weights in memory."""
        if not base.is_loaded:
            await self._loaded.get(base, lambda: self._fetch_and_load(base))

    async def _fetch_and_load(self, base: Base) -> None:
        # Downloads have threads of their own: one may take hours, and holds up no model that is there.
        if base.from_hub and await self._finders.run("", base.lacks_weights):
            await self._fetched.get(base, lambda: self._fetchers.run("", base.fetch))
        await self._loaders.run("", base.load)

    @contextmanager
    def kept(self, base: Base) -> Iterator[None]:
        """Its weights are not unloaded meanwhile."""
        self._users[base] += 1
        if timer := self._unloads.pop(base, None):
            timer.cancel()
        try:
            yield
        finally:
            self._users[base] -= 1
            if not self._users[base] and self._idle_s is not None:
                self._unloads[base] = asyncio.get_running_loop().call_later(self._idle_s, self._unload, base)

    def _unload(self, base: Base) -> None:
        was_loaded = base.is_loaded
        if not base.unload():
            # Who asked for it has left while it is read. To wait here would hold up everything else.
            again = max(self._idle_s, _AGAIN_S)
            self._unloads[base] = asyncio.get_running_loop().call_later(again, self._unload, base)
            return
        del self._unloads[base]
        if was_loaded:
            self._unloading(base)
