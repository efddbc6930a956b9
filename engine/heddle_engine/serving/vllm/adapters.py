"""Adapters that one vLLM process has: numbered once, checked when loaded, dropped when too many are there."""

import asyncio
import contextlib
import itertools
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import dataclass

from ...errors import EngineError
from ...model.adapters import STORE_ADAPTERS, ServedAdapter
from .canary import Canary
from .process import VllmProcess


@dataclass(eq=False)
class _Loaded:
    id: int
    checked: "asyncio.Task[None]"
    users: int = 0


class LoadedAdapters:
    """Keys name the same weights for ever, and a number is never given to another key (laws 4 and 9)."""

    def __init__(self, process: VllmProcess, canary: Canary, max_rank: int):
        self._process, self._canary, self._max_rank = process, canary, max_rank
        self._loaded: OrderedDict[str, _Loaded] = OrderedDict()
        self._ids = itertools.count(1)

    @contextlib.asynccontextmanager
    async def used(self, adapter: ServedAdapter | None, path: str) -> AsyncIterator[dict | None]:
        """The adapter as frames name it, loaded and checked; it stays meanwhile. Raises EngineError."""
        if adapter is None:
            yield None
            return
        loaded = self._loaded.get(adapter.key) or self._load(adapter, path)
        self._loaded.move_to_end(adapter.key)
        loaded.users += 1
        try:
            await asyncio.shield(loaded.checked)
            yield _wire(adapter, loaded.id, path)
        finally:
            loaded.users -= 1
            self._drop_unused()

    def _load(self, adapter: ServedAdapter, path: str) -> _Loaded:
        if adapter.rank > self._max_rank:
            raise EngineError(
                "invalid",
                f"The adapter has rank {adapter.rank}, and vLLM was started for at most {self._max_rank}: "
                "start the server with a larger HEDDLE_VLLM_LORA_RANK.",
                "model",
            )
        number = next(self._ids)
        check = self._canary.check(self._process, adapter, _wire(adapter, number, path))
        loaded = self._loaded[adapter.key] = _Loaded(number, asyncio.ensure_future(check))
        loaded.checked.add_done_callback(lambda task: self._checked(adapter.key, loaded, task))
        return loaded

    def _checked(self, key: str, loaded: _Loaded, task: "asyncio.Task[None]") -> None:
        if task.cancelled() or task.exception():
            # The next request for it loads it anew, under another number.
            del self._loaded[key]
            self._process.drop_adapter(loaded.id)

    def _drop_unused(self) -> None:
        for key in [key for key, loaded in self._loaded.items() if not loaded.users]:
            if len(self._loaded) <= STORE_ADAPTERS:
                return
            self._process.drop_adapter(self._loaded.pop(key).id)


def _wire(adapter: ServedAdapter, number: int, path: str) -> dict:
    # vLLM finds cached prompts by the name: one that is loaded again begins without any.
    return {"name": f"{adapter.key}#{number}", "id": number, "path": path}
