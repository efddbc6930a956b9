"""The prefix cache: every sequence finds a stored beginning; each beginning is held once, within the limit."""

import random
from itertools import accumulate

import pytest
import torch

from heddle_engine.bases import Base
from heddle_engine.serving.delta_states import begun_state
from heddle_engine.serving.prefix_cache import PrefixCache
from tests.serving.test_batching import batcher_of, request_of, run

CPU = torch.device("cpu")
ONE, OTHER = ("a", "x"), ("a", "y")


@pytest.fixture(scope="module")
def base(model_folders):
    return Base("tiny", model_folders("qwen3"), CPU, torch.float32)


@pytest.fixture
def cache_of(base):
    """`cache_of(blocks)` makes a cache with room for so many blocks."""

    def make(blocks):
        return PrefixCache(base.decoder, blocks * PrefixCache(base.decoder, 0).block_bytes)

    return make


def kv_of(namespace, ids):
    """Keys and values that depend, as a model's, on all tokens up to their own and on nothing else."""
    seen = accumulate(
        ids, lambda state, token: (state * 31 + token) % 65_521, initial=len(namespace[1]) + ord(namespace[1])
    )
    values = torch.tensor(list(seen)[1:], dtype=torch.float32)
    return values[None, None, None, :, None].expand(3, 2, 2, len(ids), 16)


def store(cache, ids, hidden=None, namespace=ONE):
    cache.store(namespace, ids, kv_of(namespace, ids), hidden)


def found(cache, ids, namespace=ONE):
    """Number of tokens found, and the hidden state; asserts that their keys and values are the sequence's."""
    hit = cache.find(namespace, ids)
    if hit is None:
        return 0, None
    assert torch.equal(cache.read(hit), kv_of(namespace, ids)[:, :, :, : hit.length])
    return hit.length, hit.hidden


def tokens(seed, count):
    return [random.Random(seed).randrange(300) for _ in range(count)]


def test_a_prompt_that_ends_inside_a_block_is_found_whole_with_its_hidden_state(cache_of):
    cache, prompt = cache_of(20), tokens(1, 37)
    store(cache, prompt, torch.ones(64))
    length, hidden = found(cache, prompt)
    assert (length, hidden.sum()) == (37, 64)
    assert found(cache, [*prompt, 5]) == (37, None)
    assert found(cache, prompt[:36]) == (35, None)
    assert found(cache, [*prompt[:20], 400, 401]) == (20, None)
    assert found(cache, prompt, OTHER) == (0, None)


def test_a_shared_beginning_outlives_the_conversation_that_extended_it(cache_of):
    """Dropping a conversation from the cache drops nothing of the prompt that it shares."""
    cache, system = cache_of(12), tokens(1, 40)
    store(cache, system, torch.ones(64))
    store(cache, system + tokens(2, 50))
    for seed in range(3, 9):
        assert found(cache, system + tokens(seed, 30))[0] == 40
        store(cache, system + tokens(seed, 45))
    assert found(cache, system)[1] is not None


def test_the_same_sequence_costs_once_however_often_it_is_stored(cache_of):
    cache, line = cache_of(40), tokens(1, 100)
    for _ in range(3):
        store(cache, line[:70], torch.ones(64))
        store(cache, line)
    # 100 tokens take 7 blocks; the end of the prompt, inside the fifth, takes one more.
    assert cache.bytes == 8 * cache.block_bytes


def test_a_conversation_that_goes_on_fills_the_block_it_ended_in(cache_of):
    cache, line = cache_of(40), tokens(1, 90)
    for length in range(20, 91, 5):
        store(cache, line[:length])
    assert cache.bytes == 6 * cache.block_bytes
    assert found(cache, [*line, 7])[0] == 90


def test_a_sequence_as_large_as_the_cache_does_not_displace_the_others(cache_of):
    cache = cache_of(20)
    for seed in range(5):
        store(cache, tokens(seed, 32))
    huge = tokens(9, 16 * 25)
    store(cache, huge)
    assert [found(cache, [*tokens(seed, 32), 7])[0] for seed in range(5)] == [32] * 5
    assert found(cache, huge)[0] == 160
    assert cache.bytes <= 20 * cache.block_bytes


@pytest.mark.parametrize("blocks", [0, 1, 2, 7, 60])
def test_random_histories(cache_of, blocks):
    """A tree of conversations in two namespaces: nothing wrong is found, and the newest conversation is found whole."""
    chance, cache = random.Random(blocks), cache_of(blocks)
    lines = [tokens(seed, 20) for seed in range(4)]
    for _ in range(1500):
        line = chance.choice(lines)
        line = line[: chance.randrange(1, len(line) + 1)] + [chance.randrange(3) for _ in range(chance.randrange(40))]
        namespace = chance.choice([ONE, OTHER])
        prompt = chance.random() < 0.4
        store(cache, line, torch.ones(64) if prompt else None, namespace)
        kept = min(len(line), blocks // 2 * 16)
        if kept >= 16 and len(line) >= 16:
            assert found(cache, [*line, 500], namespace)[0] == kept
            assert found(cache, line, namespace)[0] in (kept, len(line) - 1)
        found(cache, chance.choice(lines), chance.choice([ONE, OTHER]))
        assert cache.bytes <= blocks * cache.block_bytes
        if len(line) < 400:
            lines[chance.randrange(4)] = line


def test_a_system_prompt_is_reused_when_the_conversations_behind_it_are_gone(base):
    system = tokens(1, 60)
    block_bytes = PrefixCache(base.decoder, 0).block_bytes
    batcher = batcher_of(base, cache_bytes=16 * block_bytes)
    for seed in range(2, 10):
        [sink] = run(batcher, [request_of(base, system + tokens(seed, 40), max_tokens=40)])
        assert sink.cached == (0 if seed == 2 else 60)


class HybridCache:
    """A cache of a model of whose four layers one has keys and values; each sequence is stored with a state."""

    def __init__(self, base, states):
        """With room for so many states, which have half of it."""
        self.base = base
        self.limit = 2 * states * base.decoder.state_bytes
        self.cache = PrefixCache(base.decoder, self.limit)

    def store(self, ids, number, is_prompt=False):
        """`number` fills the state."""
        state = begun_state(self.base.decoder)
        state.memory.fill_(number)
        self.cache.store(ONE, ids, torch.zeros(1, 2, 2, len(ids), 16), torch.ones(64) if is_prompt else None, state)

    def found(self, ids):
        """How many tokens, and what fills the state behind them."""
        hit = self.cache.find(ONE, ids)
        return (hit.length, hit.state.memory.unique().item()) if hit else (0, None)


@pytest.fixture
def hybrid(model_folders):
    return HybridCache(Base("hybrid", model_folders("qwen3_5"), CPU, torch.float32), states=20)


def test_a_hybrid_finds_the_longest_beginning_that_ended_somewhere(hybrid):
    """The state behind a beginning cannot be had from that of a longer one."""
    line = tokens(1, 100)
    hybrid.store(line[:20], 1, is_prompt=True)
    hybrid.store(line[:32], 2)
    hybrid.store(line[:70], 3, is_prompt=True)
    hybrid.store(line[:75], 4)
    assert hybrid.found(line) == (75, 4)
    assert hybrid.found(line[:75]) == (70, 3)  # one token is left to compute: no hidden state is known behind 75
    assert hybrid.found(line[:70]) == (70, 3)
    assert hybrid.found(line[:69]) == (32, 2)
    assert hybrid.found([*line[:69], 400]) == (32, 2)
    assert hybrid.found(line[:31]) == (20, 1)
    assert hybrid.found(line[:20]) == (20, 1)
    assert hybrid.found(line[:19]) == (0, None)


def test_of_too_many_states_that_which_was_used_longest_ago_goes(hybrid):
    lines = [tokens(seed, 16) for seed in range(30)]
    for number, line in enumerate(lines[:20]):
        hybrid.store(line, number, is_prompt=True)
    assert hybrid.found(lines[0]) == (16, 0)
    for number, line in enumerate(lines[20:], 20):
        hybrid.store(line, number, is_prompt=True)
        assert hybrid.cache.bytes <= hybrid.limit
    assert [hybrid.found(line)[0] for line in lines[:12]] == [16, *[0] * 10, 16]


def test_a_hybrids_random_histories(hybrid):
    """Each beginning that is found has the state that was stored with it, and the limit holds."""
    chance = random.Random(1)
    stored, lines = [], [tokens(seed, 20) for seed in range(4)]
    for number in range(600):
        line = chance.choice(lines)
        line = line[: chance.randrange(1, len(line) + 1)] + [chance.randrange(3) for _ in range(chance.randrange(40))]
        stored.append(line)
        hybrid.store(line, number, chance.random() < 0.4)
        for asked in ([*line, 500], chance.choice(lines)):
            length, filled = hybrid.found(asked)
            assert length == 0 or stored[int(filled)] == asked[:length]
        assert hybrid.cache.bytes <= hybrid.limit
        assert hybrid.cache._states.keys() <= hybrid.cache._used.keys(), "the state of a block that is gone is kept"
        if len(line) < 200:
            lines[chance.randrange(4)] = line
