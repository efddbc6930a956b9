"""Threads for blocking work of many tenants: they take turns, and none has all of them."""

import asyncio
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from . import progress
from .threads import single_core_pool
from .turns import TurnQueue

Result = TypeVar("Result")


class FairPool:
    """`threads` threads, at most `per_tenant` of them for one tenant. Used from the event loop only."""

    def __init__(self, threads: int, per_tenant: int, name: str):
        self._threads = single_core_pool(threads, name)
        self._num_threads, self._per_tenant = threads, per_tenant
        self._running: Counter[str] = Counter()
        self._waiting: TurnQueue[asyncio.Future[None]] = TurnQueue()

    @property
    def num_running(self) -> int:
        return self._running.total()

    async def run(self, tenant: str, work: Callable[[], Result]) -> Result:
        """The result of `work` in a thread. Cancelling ends this call at once; work that has begun runs to its end."""
        loop = asyncio.get_running_loop()
        if self._may_begin(tenant):
            self._running[tenant] += 1
        else:
            await self._turn(tenant, loop.create_future())
        outcome: asyncio.Future[Result] = loop.create_future()
        self._threads.submit(self._carry_out, loop, tenant, work, outcome)
        return await outcome

    def _carry_out(
        self,
        loop: asyncio.AbstractEventLoop,
        tenant: str,
        work: Callable[[], Result],
        outcome: "asyncio.Future[Result]",
    ) -> None:
        """In a thread. Wakes the event loop once, for the result and for the thread's end."""
        try:
            settle = partial(outcome.set_result, work())
        except BaseException as error:
            settle = partial(outcome.set_exception, error)
        loop.call_soon_threadsafe(self._carried_out, tenant, outcome, settle)

    def _carried_out(self, tenant: str, outcome: "asyncio.Future[Result]", settle: Callable[[], None]) -> None:
        self._end(tenant)  # counted until here, even if the caller has been cancelled
        if not outcome.done():
            settle()

    async def _turn(self, tenant: str, turn: "asyncio.Future[None]") -> None:
        """Returns with a thread to use, counted as running."""
        self._waiting.add(tenant, turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._waiting.remove(tenant, turn)
            else:
                self._end(tenant)
            raise

    def _may_begin(self, tenant: str) -> bool:
        return self.num_running < self._num_threads and self._running[tenant] < self._per_tenant

    def _end(self, tenant: str) -> None:
        progress.advance()
        self._running[tenant] -= 1
        for waiting in self._waiting.tenants():
            # A request that was cancelled a moment ago still stands in the line.
            turn = next((turn for turn in self._waiting.line(waiting) if not turn.done()), None)
            if turn is not None and self._may_begin(waiting):
                self._waiting.remove(waiting, turn)
                self._waiting.served(waiting)
                self._running[waiting] += 1
                turn.set_result(None)
                return
