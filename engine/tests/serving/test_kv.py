"""Lines of keys and values: what decode reads of them, and that sorting them changes no result."""

import random

import pytest
import torch

from heddle_engine.bases import Base
from heddle_engine.serving.kv import Slab
from tests.serving.test_batching import batcher_of, request_of, run

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def base(model_folders):
    return Base("tiny", model_folders("qwen3"), CPU, torch.float32)


def slab_of(base, lengths):
    """A slab of 512 tokens a line, each line filled with its number."""
    slab = Slab(base.decoder, 512, len(lengths))
    for number, length in enumerate(lengths):
        line = slab.add()
        line.length = length
        slab.tokens(line, 0, length).fill_(number)
    return slab


def test_lines_are_sorted_where_that_pays(base):
    slab = slab_of(base, [50, 400] * 16)
    lines = list(slab.lines)
    slab.sort()
    assert [line.length for line in slab.lines] == [400] * 16 + [50] * 16
    assert [line.index for line in slab.lines] == list(range(32))
    for number, line in enumerate(lines):
        assert (slab.tokens(line, 0, line.length) == number).all()


def test_lines_stay_where_sorting_would_save_little(base):
    lengths = [400 + number % 2 for number in range(32)]
    slab = slab_of(base, lengths)
    slab.sort()
    assert [line.length for line in slab.lines] == lengths


def test_runs_follow_the_lengths(base):
    """A token is 256 bytes a layer, so a run costs as much as 781 tokens."""
    slab = slab_of(base, [])
    assert slab.runs([400] * 32) == [range(32)]
    assert slab.runs([400] * 16 + [50] * 16) == [range(16), range(16, 32)]
    assert slab.runs([400] * 8 + [300] * 8 + [200] * 8 + [50] * 8) == [
        range(8), range(8, 16), range(16, 24), range(24, 32),
    ]  # fmt: skip


def test_rows_of_unlike_length_decode_as_if_alone(base):
    chance = random.Random(3)
    lines = [[chance.randrange(300) for _ in range(length)] for length in [20, 380] * 20]
    batcher = batcher_of(base)
    requests = [request_of(base, line, max_tokens=140 if len(line) == 20 else 20) for line in lines]
    for request in requests:
        batcher.submit(request)
    runs = 0
    while batcher.busy:
        batcher.step()
        runs = max([runs, *(len(group._runs) for group in batcher._batch._groups)] if batcher._batch else [runs])
    assert runs > 1
    for number in (0, 1, 38, 39):
        line, together = lines[number], requests[number].sink
        [alone] = run(batcher_of(base), [request_of(base, line, max_tokens=len(together.ids()))])
        assert alone.ids() == together.ids()
        assert alone.logprobs() == pytest.approx(together.logprobs(), abs=1e-5)
