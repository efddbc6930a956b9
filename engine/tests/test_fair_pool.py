"""A pool of threads that tenants share, and calls that several callers make at the same time."""

import asyncio
import random
import threading
import time

import pytest

from heddle_engine.fair_pool import FairPool
from heddle_engine.shared_calls import SharedCalls
from tests.waiting import until


class Work:
    """Blocking work that records its beginning and goes on until `let` ends it."""

    def __init__(self):
        self.begun = []
        self.most = {}
        self._running = []
        self._gate = threading.Semaphore(0)
        self._lock = threading.Lock()

    def of(self, name):
        def work():
            with self._lock:
                self.begun.append(name)
                self._running.append(name[0])
                for tenant in set(self._running):
                    count = self._running.count(tenant)
                    self.most[tenant] = max(count, self.most.get(tenant, 0))
                self.most["all"] = max(len(self._running), self.most.get("all", 0))
            assert self._gate.acquire(timeout=60)
            with self._lock:
                self._running.remove(name[0])
            return name

        return work

    def let(self, count=1):
        self._gate.release(count)


def test_tenants_take_turns_and_none_has_every_thread():
    async def histories():
        pool, work = FairPool(4, 2, "test"), Work()
        calls = [asyncio.ensure_future(pool.run("a", work.of(f"a{i}"))) for i in range(20)]
        await until(lambda: len(work.begun) == 2)
        calls += [asyncio.ensure_future(pool.run(name[0], work.of(name))) for name in ("b0", "b1", "c0", "b2")]
        await until(lambda: len(work.begun) == 4)
        assert set(work.begun[2:]) == {"b0", "b1"}
        for _ in range(24):
            work.let()
            await asyncio.sleep(0.02)
        await asyncio.gather(*calls)
        assert work.begun.index("c0") <= 6
        assert work.begun.index("b2") <= 8
        assert [name for name in work.begun if name[0] == "a"] == [f"a{i}" for i in range(20)]
        assert (work.most["a"], work.most["all"], pool.num_running) == (2, 4, 0)

    asyncio.run(histories())


def test_work_that_is_cancelled_while_it_waits_never_begins_and_frees_no_thread_twice():
    async def histories():
        chance, pool, work = random.Random(1), FairPool(3, 2, "test"), Work()
        calls = []
        for number in range(200):
            name = f"{chance.choice('aab')}{number}"
            calls.append((name, asyncio.ensure_future(pool.run(name[0], work.of(name)))))
            if chance.random() < 0.5:
                chance.choice(calls)[1].cancel()
            if chance.random() < 0.7:
                work.let()
            await asyncio.sleep(0)
        work.let(200)
        outcomes = await asyncio.gather(*(call for _, call in calls), return_exceptions=True)
        await until(lambda: pool.num_running == 0)
        for (name, _), outcome in zip(calls, outcomes, strict=True):
            assert outcome == name or isinstance(outcome, asyncio.CancelledError)
        assert work.most["all"] <= 3
        assert max(work.most["a"], work.most["b"]) <= 2
        work.let()
        assert await pool.run("a", work.of("a")) == "a"

    asyncio.run(histories())


def test_a_thread_that_falls_free_goes_past_those_who_are_just_leaving():
    async def histories():
        pool, work = FairPool(1, 1, "test"), Work()
        calls = [asyncio.ensure_future(pool.run(name[0], work.of(name))) for name in ("a", "b1", "b2", "c")]
        await until(lambda: work.begun == ["a"])
        work.let()
        time.sleep(0.2)  # the event loop learns of the free thread and of the cancellations in one go
        for leaving in calls[1:3]:
            leaving.cancel()
        await until(lambda: work.begun == ["a", "c"])
        work.let()
        assert await calls[3] == "c"
        await until(lambda: pool.num_running == 0)

    asyncio.run(histories())


def test_an_error_reaches_the_caller_and_its_thread_is_free_again():
    async def histories():
        pool = FairPool(1, 1, "test")
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                await pool.run("a", lambda: 1 // 0)

    asyncio.run(histories())


def test_calls_of_the_same_key_are_made_once_and_end_when_nobody_waits():
    async def histories():
        shared, made, release = SharedCalls(), [], asyncio.Event()

        async def make():
            made.append("begun")
            try:
                await release.wait()
            except asyncio.CancelledError:
                made.append("cancelled")
                raise
            return len(made)

        calls = [asyncio.ensure_future(shared.get("key", make)) for _ in range(3)]
        await asyncio.sleep(0)
        calls[0].cancel()
        await asyncio.sleep(0.01)
        release.set()
        assert await asyncio.gather(*calls[1:]) == [1, 1]
        release.clear()
        lonely = asyncio.ensure_future(shared.get("key", make))
        await asyncio.sleep(0.01)
        lonely.cancel()
        await asyncio.sleep(0.01)
        assert made == ["begun", "begun", "cancelled"]
        release.set()
        assert await shared.get("key", make) == 4
        assert len(shared) == 0

    asyncio.run(histories())
