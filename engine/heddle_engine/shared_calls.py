"""Work that several ask for at the same time is done once."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

Value = TypeVar("Value")


@dataclass(eq=False)
class _Call(Generic[Value]):
    task: "asyncio.Task[Value]"
    num_waiting: int = 0


class SharedCalls(Generic[Value]):
    """Calls by key. One is cancelled when nobody waits for it any more, unless they go on."""

    def __init__(self, go_on: bool = False) -> None:
        self._go_on = go_on
        self._calls: dict[Hashable, _Call[Value]] = {}

    def __len__(self) -> int:
        return len(self._calls)

    async def get(self, key: Hashable, make: Callable[[], Awaitable[Value]]) -> Value:
        """The result of the call under `key`, which `make` begins when there is none."""
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = _Call(asyncio.ensure_future(make()))
            call.task.add_done_callback(lambda _: self._forget(key, call))
        call.num_waiting += 1
        try:
            return await asyncio.shield(call.task)
        finally:
            call.num_waiting -= 1
            if not call.num_waiting and not call.task.done() and not self._go_on:
                self._forget(key, call)
                call.task.cancel()

    def _forget(self, key: Hashable, call: _Call[Value]) -> None:
        if self._calls.get(key) is call:
            del self._calls[key]
