"""The pool of a GPU: blocks for keys and values, and slots for what delta nets remember, within one limit."""

import pytest
import torch

from heddle_engine.bases import Base
from heddle_engine.serving import batching, kv_pool
from heddle_engine.serving.kv_pool import BLOCK, SCRATCH, KvPool
from heddle_engine.serving.pool_forward import PoolForward
from tests.serving.test_batching import batcher_of, prompts, request_of, run

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def base(model_folders):
    return Base("tiny", model_folders("qwen3_5"), CPU, torch.float32)


def nbytes(pool: KvPool) -> int:
    return pool.data.nbytes + pool.states.memory.nbytes + pool.states.inputs.nbytes


@pytest.mark.parametrize("most", [3, 146])
def test_blocks_and_slots_take_what_was_given_and_slots_at_most_half_of_it(most, base):
    decoder = base.decoder
    given = 20 * decoder.state_bytes + 5
    pool = KvPool(decoder, given, most)
    assert pool.most_lines == min(most, 9)
    block = BLOCK * decoder.kv_token_bytes
    # But for the block that no sequence has.
    assert given - block < nbytes(pool) - block <= given
    assert pool.limit == given - (pool.most_lines + 1) * decoder.state_bytes
    # One of four layers has keys and values.
    assert (len(pool.data), len(pool.states.memory)) == (1, 3)


def test_a_line_is_refused_where_there_is_no_slot_and_takes_no_blocks_then(base):
    pool = KvPool(base.decoder, 1 << 20, most=2)
    one, two = pool.allocate(10), pool.allocate(10)
    assert {one.slot, two.slot} == {1, 2}
    used = pool.used_bytes
    assert pool.allocate(10) is None
    assert pool.used_bytes == used == one.bytes + two.bytes
    pool.release(one)
    assert pool.allocate(10).slot not in (two.slot, SCRATCH)
    pool.release(two)


def test_a_slot_is_wiped_for_its_next_sequence_and_another_one_is_left_alone(base):
    pool = KvPool(base.decoder, 1 << 20, most=2)
    one, two = pool.allocate(10), pool.allocate(10)
    for number, line in enumerate((one, two), 1):
        line.state.memory.fill_(number)
        line.state.inputs.fill_(number)
    assert torch.equal(pool.states.memory[:, one.slot], torch.full_like(two.state.memory, 1))
    pool.release(one)
    again = pool.allocate(10)
    for wiped, left in zip((again.state.memory, again.state.inputs), (two.state.memory, two.state.inputs), strict=True):
        assert not wiped.any()
        assert (left == 2).all()


def test_what_a_failed_sequence_wrote_is_wiped_where_its_batch_was_filled_up_too(base):
    pool = KvPool(base.decoder, 1 << 20, most=2)
    line = pool.allocate(10)
    pool.data.fill_(torch.nan)
    pool.states.memory.fill_(torch.nan)
    line.wipe()
    assert not pool.states.memory[:, SCRATCH].any()
    assert not pool.data[:, :, SCRATCH * BLOCK : (SCRATCH + 1) * BLOCK].any()
    assert not line.pool.data[:, :, torch.from_numpy(line.places(0, line.room))].any()


def test_rows_wait_for_a_slot_as_they_do_for_a_row(base, monkeypatch):
    """Memory for three states and many keys; each request is answered as it is alone."""
    monkeypatch.setattr(batching, "forward_of", PoolForward)
    monkeypatch.setattr(kv_pool, "_STATES_SHARE", 40)

    def requests():
        return [
            request_of(base, line, max_tokens=5 + 7 * place, tenant=str(place % 4))
            for place, line in enumerate(prompts(9, seed=2))
        ]

    batcher, together = batcher_of(base, kv_bytes=160 * base.decoder.state_bytes), requests()
    assert batcher._kv.most_lines == 3
    for request in together:
        batcher.submit(request)
    running = []
    while batcher.busy:
        batcher.step()
        running.append(batcher.num_running)
    assert max(running) == 3
    assert batcher._kv.used_bytes == 0
    for request, alone in zip(together, requests(), strict=True):
        assert request.sink.ids() == run(batcher_of(base), [alone])[0].ids()
