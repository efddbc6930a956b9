"""Tenants take turns: the requests of one, however many, delay another by a few steps at most.

Invariants of random histories: (1) tokens are those of the same request alone; (2) rows and memory stay within
their limits; (3) of one tenant's requests none begins before an earlier one; (4) who has nothing running
begins within a few steps; (5) everything ends.
"""

import random

import pytest
import torch

from heddle_engine.bases import Base
from heddle_engine.serving.generation import Request
from tests.serving.test_batching import batcher_of, prompts, request_of, run

CPU = torch.device("cpu")
SHORT = [1, 2, 3]


@pytest.fixture(scope="module")
def base(model_folders):
    return Base("tiny", model_folders("qwen3"), CPU, torch.float32)


def steps_until(batcher, done, most=200):
    """Number of steps that the batcher takes until `done`."""
    for step in range(most):
        if done():
            return step
        batcher.step()
    raise AssertionError(f"not within {most} steps")


def rows_of(batcher, tenant):
    return sum(g.tenant == tenant for g in (*batcher._rows, *batcher._prefilling))


def memory_for(base, count, **options):
    """A batcher with memory for `count` times 128 tokens."""
    return batcher_of(base, kv_bytes=count * 128 * base.decoder.kv_token_bytes, cache_bytes=0, **options)


@pytest.mark.parametrize(("requests", "n"), [(4, 64), (32, 16), (300, 4), (2000, 1)])
def test_a_short_chat_begins_at_once_whatever_another_has_queued(base, requests, n):
    batcher = batcher_of(base)
    for line in prompts(requests, low=20, high=40):
        batcher.submit(request_of(base, line, n=n, tenant="many", max_tokens=300))
    for _ in range(5):
        batcher.step()
    batcher.submit(short := request_of(base, SHORT, tenant="one", max_tokens=2))
    assert steps_until(batcher, lambda: short.sink.ends[0]) == 1
    assert rows_of(batcher, "many") == 128
    assert batcher.num_waiting == requests * n - 128


def test_one_tenant_alone_gets_128_rows(base):
    batcher = batcher_of(base)
    for line in prompts(200):
        batcher.submit(request_of(base, line, tenant="one", max_tokens=300))
    steps_until(batcher, lambda: rows_of(batcher, "one") == 128)
    for _ in range(5):
        batcher.step()
    assert rows_of(batcher, "one") == 128


def test_several_tenants_who_want_everything_get_equal_parts_and_leave_rows_to_the_next(base):
    batcher = batcher_of(base, max_rows=30)
    names = ["a", "b", "c"]
    for name in names:
        for line in prompts(60):
            batcher.submit(request_of(base, line, tenant=name, max_tokens=30))
    for _ in range(60):
        batcher.step()
    shares = [rows_of(batcher, name) for name in names]
    assert max(shares) - min(shares) <= 1
    assert 24 <= sum(shares) < 30
    batcher.submit(late := request_of(base, SHORT, tenant="late", max_tokens=2))
    assert steps_until(batcher, lambda: late.sink.ends[0]) == 1


def test_a_freed_row_goes_to_the_tenants_in_turn(base):
    batcher = batcher_of(base, max_rows=1)
    begun = []
    for seed, name in enumerate(("a", "b", "c")):
        for number, line in enumerate(prompts(4, seed)):
            request = request_of(base, line, tenant=name, max_tokens=2)
            request.sink.started = lambda _, name=name, number=number: begun.append(f"{name}{number}")
            batcher.submit(request)
    run(batcher, [])
    assert begun == ["a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"]


def test_a_tenant_with_little_memory_to_its_name_gets_some_at_once(base):
    """The other tenant's rows grow beyond all memory there is."""
    batcher = memory_for(base, 16)
    for line in prompts(40, low=100, high=127):
        batcher.submit(request_of(base, line, tenant="many", max_tokens=300))
    for _ in range(40):
        batcher.step()
        assert batcher._kv.used_bytes <= batcher._kv.limit * 7 // 8
    batcher.submit(short := request_of(base, SHORT, tenant="one", max_tokens=2))
    assert steps_until(batcher, lambda: short.sink.ends[0]) == 1


def test_the_tenant_with_most_memory_makes_room(base):
    batcher = memory_for(base, 8)
    modest = [request_of(base, line, tenant="modest", max_tokens=60) for line in prompts(2, low=30, high=40)]
    greedy = [request_of(base, line, tenant="greedy", max_tokens=300) for line in prompts(6, seed=2, low=90, high=99)]
    for request in (*modest, *greedy):
        batcher.submit(request)
    preempted = []
    put_back = batcher._admission.put_back

    def recording(generation):
        preempted.append(generation.tenant)
        put_back(generation)

    batcher._admission.put_back = recording
    sinks = run(batcher, [])
    assert sinks == []
    assert set(preempted) == {"greedy"}
    assert all(request.sink.ends[0] == ("length", None) for request in (*modest, *greedy))


def test_a_long_prompt_delays_a_short_one_of_another_by_a_chunk(base, monkeypatch):
    monkeypatch.setattr("heddle_engine.serving.batching.PREFILL_TOKENS", {"cpu": 64})
    monkeypatch.setattr("heddle_engine.serving.batching._LEAST_CHUNK", 16)
    batcher = batcher_of(base)
    for line in prompts(3, low=400, high=450):
        batcher.submit(request_of(base, line, tenant="long", max_tokens=1))
    batcher.step()
    batcher.submit(short := request_of(base, prompts(1, low=20, high=20)[0], tenant="short", max_tokens=1))
    assert steps_until(batcher, lambda: short.sink.ends[0]) == 1


def test_more_tenants_than_fit_a_step_take_turns_in_prefill(base, monkeypatch):
    monkeypatch.setattr("heddle_engine.serving.batching.PREFILL_TOKENS", {"cpu": 64})
    monkeypatch.setattr("heddle_engine.serving.batching._LEAST_CHUNK", 32)
    batcher = batcher_of(base)
    requests = [
        request_of(base, line, tenant=f"t{i}", max_tokens=1) for i, line in enumerate(prompts(6, low=96, high=96))
    ]
    for request in requests:
        batcher.submit(request)
    batcher.step()
    written = []
    for _ in range(6):
        written.append(sorted(g.line.length for g in batcher._prefilling))
        batcher.step()
    # Two tenants get 32 tokens each in a step; none gets a second part before all have had the first.
    assert written[:4] == [[0, 0, 0, 0, 32, 32], [0, 0, 32, 32, 32, 32], [32] * 6, [32, 32, 32, 32, 64, 64]]


def test_a_request_that_needs_much_memory_is_served_beside_a_stream_of_another_tenant(base):
    batcher = memory_for(base, 8)
    lines = prompts(14, seed=11, low=50, high=60)
    stream = [request_of(base, line, tenant="stream", max_tokens=12 + 3 * i) for i, line in enumerate(lines)]
    for request in stream:
        batcher.submit(request)
    batcher.step()
    long = request_of(base, [i % 300 for i in range(400)], tenant="long", max_tokens=1)
    batcher.submit(long)
    for step in range(200):
        if long.sink.ends[0]:
            break
        for place, running in enumerate(stream):
            if running.sink.ends[0]:
                line = prompts(1, seed=100 * step + place, low=50, high=60)[0]
                stream[place] = request_of(base, line, tenant="stream", max_tokens=12 + 3 * place)
                batcher.submit(stream[place])
        batcher.step()
    assert step < 80, "the long request has not come to its turn"
    run(batcher, [])
    assert [request.sink.ends[0] for request in stream] == [("length", None)] * 14


def test_no_request_gets_the_memory_that_is_kept_for_other_tenants(base):
    batcher = memory_for(base, 4)
    [sink] = run(batcher, [request_of(base, [1] * 480, max_tokens=4)])
    assert sink.error.kind == "out_of_memory"
    assert "HEDDLE_ENGINE_KV_BYTES" in sink.error.message
    [sink] = run(batcher, [request_of(base, [1] * 400, max_tokens=4)])
    assert sink.ends == [("length", None)]


@pytest.mark.parametrize("seed", range(4))
def test_random_histories(base, seed):
    chance = random.Random(seed)
    batcher = memory_for(base, 10, max_rows=12) if seed % 2 else batcher_of(base, max_rows=12, kv_bytes=1 << 22)
    tenants = [f"t{i}" for i in range(4)]
    alone, begun, requests = {}, {name: [] for name in tenants}, []
    for number in range(40):
        name = chance.choices(tenants, weights=[8, 2, 1, 1])[0]
        line = prompts(1, seed=number % 5, low=40, high=90)[0] if chance.random() < 0.5 else []
        line = line + prompts(1, seed=number, low=3, high=60)[0]
        wire = {"temperature": 1, "seed": str(number), "max_tokens": chance.randint(1, 50)}
        request = request_of(base, line, n=chance.choice([1, 1, 3]), tenant=name, **wire)
        request.sink.started = lambda _, name=name, number=number: begun[name].append(number)
        requests.append((number, request))
        alone[number] = (line, wire, request.n)
    waits = dict.fromkeys(tenants, 0)
    arriving = list(requests)
    while arriving or batcher.busy:
        for _ in range(chance.choice([0, 0, 1, 3])):
            if arriving:
                batcher.submit(arriving.pop(0)[1])
        if chance.random() < 0.02 and batcher._rows:
            chance.choice(batcher._rows).request.cancelled = True
        batcher.step()
        running = [*batcher._rows, *batcher._prefilling]
        assert len(running) <= 12
        assert sum(g.line.bytes for g in running) == batcher._kv.used_bytes <= batcher._kv.limit
        for name in tenants:
            idle = not rows_of(batcher, name) and any(r.tenant == name for r in batcher._admission._waiting)
            waits[name] = waits[name] + 1 if idle else 0
            assert waits[name] < 200
    for number, request in requests:
        if request.cancelled:
            continue
        line, wire, n = alone[number]
        [sink] = run(batcher_of(base), [request_of(base, line, n=n, **wire)])
        assert [request.sink.ids(i) for i in range(n)] == [sink.ids(i) for i in range(n)]
    for numbers in begun.values():
        assert numbers == sorted(numbers)


def test_those_who_wait_are_counted_while_others_come(base):
    """Heartbeats count them on another thread. One that fails is the last, and the engine would be taken for hung."""
    batcher = batcher_of(base)

    class Counted(Request):
        @property
        def num_waiting(self):
            for tenant in ("one", "two"):
                batcher.submit(request_of(base, SHORT, tenant=tenant))
            return super().num_waiting

    for request in (first := request_of(base, SHORT, tenant="one"), request_of(base, SHORT, tenant="one", n=3)):
        batcher.submit(request)
    first.__class__ = Counted
    assert batcher.num_waiting == 4
    first.__class__ = Request
    assert batcher.num_waiting == 6
