"""Lines of keys and values: the parts that decode reads, their memory, and that moving them changes no result."""

import gc
import random
import re
from pathlib import Path

import pytest
import torch

from heddle_engine.allocator import give_back_freed_pages
from heddle_engine.bases import Base
from heddle_engine.memory import resident_bytes
from heddle_engine.serving import kv
from heddle_engine.serving.kv import DenseSlab, PagedSlab, SlabMemory
from tests.serving.test_batching import batcher_of, request_of, run

CPU = torch.device("cpu")
KINDS = [PagedSlab, DenseSlab]


@pytest.fixture(scope="module")
def base(model_folders):
    return Base("tiny", model_folders("qwen3"), CPU, torch.float32)


def slab_of(kind, base, lengths):
    """A slab with 512 tokens a line, in which each line is filled with its number."""
    slab = kind(base.decoder, 512, max(1, len(lengths)))
    if kind is DenseSlab:
        slab.resize(len(lengths))
    for number, length in enumerate(lengths):
        line = slab.add(-(-length // 64) * 64)
        line.length = length
        slab.tokens(line, 0, length).fill_(number)
    return slab


@pytest.mark.parametrize("kind", KINDS)
def test_lines_are_sorted_where_that_pays(kind, base):
    slab = slab_of(kind, base, [50, 400] * 16)
    lines = list(slab.lines)
    slab.sort()
    assert [line.length for line in slab.lines] == [400] * 16 + [50] * 16
    assert [line.index for line in slab.lines] == list(range(32))
    for number, line in enumerate(lines):
        assert (slab.tokens(line, 0, line.length) == number).all()


def test_lines_of_every_length_keep_their_contents_when_they_are_sorted(base):
    chance = random.Random(1)
    slab = slab_of(PagedSlab, base, [chance.choice([20, 60, 130, 270, 500]) for _ in range(40)])
    lines = list(slab.lines)
    slab.sort()
    assert [line.index for line in slab.lines] == list(range(40))
    assert {line.length for line in slab.lines[:3]} == {500}
    for number, line in enumerate(lines):
        assert (slab.tokens(line, 0, line.length) == number).all()


def test_lines_stay_where_sorting_would_save_little(base):
    lengths = [400 + number % 2 for number in range(32)]
    slab = slab_of(PagedSlab, base, lengths)
    slab.sort()
    assert [line.length for line in slab.lines] == lengths


def test_runs_follow_the_lengths(base):
    """A token has 256 bytes a layer here, so starting a run costs as much as reading 3125 tokens."""
    slab = slab_of(PagedSlab, base, [])
    assert slab.runs([400] * 32) == [range(32)]
    assert slab.runs([400] * 16 + [50] * 16) == [range(16), range(16, 32)]
    assert slab.runs([1600] * 8 + [1200] * 8 + [800] * 8 + [200] * 8) == [
        range(8), range(8, 16), range(16, 24), range(24, 32),
    ]  # fmt: skip


def test_one_long_line_is_read_in_a_run_of_its_own(base):
    slab = slab_of(PagedSlab, base, [])
    assert slab.runs([100] * 60 + [30_000] + [110] * 67) == [range(60), range(60, 61), range(61, 128)]


def memory_of(kind, base, limit, monkeypatch):
    if kind is DenseSlab:
        monkeypatch.setattr(SlabMemory, "_make_pages", lambda memory: None)
    return SlabMemory(base.decoder, limit, 30)


def held_bytes(memory):
    """Bytes that tensors hold, or that lines of pages were promised."""
    if memory._pages:
        return sum(line.bytes for line in memory._pages.lines)
    return sum(slab.data.nbytes for slab in memory._slabs.values())


@pytest.mark.parametrize("kind", KINDS)
def test_no_history_of_lines_holds_more_than_the_limit(kind, base, monkeypatch):
    """Lengths reach a peak again and again; while lines are copied, their old memory counts too."""
    memory = memory_of(kind, base, 40 * 128 * base.decoder.kv_token_bytes, monkeypatch)
    resize, peaks = DenseSlab.resize, [0]

    def counting(slab, held):
        peaks.append(held_bytes(memory) + held * slab.line_bytes)
        resize(slab, held)

    monkeypatch.setattr(DenseSlab, "resize", counting)
    chance, lines, served = random.Random(2), {}, 0
    for step in range(3000):
        wanted = (20, 100, 300, 480)[step // 100 % 4]
        line = memory.allocate(wanted) if chance.random() < 0.6 and len(lines) < 30 else None
        if line:
            served += 1
            line.length = wanted
            line.slab.tokens(line, 0, wanted).fill_(served)
            lines[line] = served
        elif lines:
            line, number = chance.choice(list(lines.items()))
            assert (line.slab.tokens(line, 0, line.length) == number).all()
            if line.is_full and (longer := memory.grow(line)):
                del lines[line]
                lines[longer] = number
            else:
                del lines[line]
                memory.release(line)
        assert held_bytes(memory) == memory.used_bytes <= memory.limit
    assert served > 500
    assert max(peaks) <= memory.limit
    for line in lines:
        memory.release(line)
    assert held_bytes(memory) == memory.used_bytes == 0


def test_memory_of_lines_that_ended_is_given_back(base):
    memory = SlabMemory(base.decoder, 1 << 40, 200)
    # Frees the memory of earlier tests first, which would be freed during the measurement otherwise.
    gc.collect()
    give_back_freed_pages()
    before = resident_bytes()
    lines = [memory.allocate(512) for _ in range(200)]
    for line in lines:
        line.length = 512
        line.slab.tokens(line, 0, 512).fill_(1.0)
    taken = resident_bytes() - before
    assert taken > 0.9 * memory.used_bytes
    for line in lines:
        memory.release(line)
    assert resident_bytes() - before < 0.1 * taken


@pytest.mark.skipif(not Path("/sys/kernel/mm/transparent_hugepage").exists(), reason="the system has no large pages")
def test_no_page_of_a_line_becomes_a_large_one(base):
    """Where the system makes them by itself, a token would take 2 MiB for the keys of each head in each layer."""
    memory = SlabMemory(base.decoder, 1 << 40, 4)
    start = memory._pages.data.data_ptr()
    mappings = re.findall(r"^(\w+)-(\w+) .*?^VmFlags: (.*?)$", Path("/proc/self/smaps").read_text(), re.M | re.S)
    [flags] = [flags for first, end, flags in mappings if int(first, 16) <= start < int(end, 16)]
    assert "nh" in flags.split()


def test_lines_that_follow_each_other_use_the_same_pages(base):
    memory = SlabMemory(base.decoder, 1 << 40, 4)
    given_back = []
    memory._pages._pages.give_back = lambda start, end: given_back.append((start, end))
    for _ in range(1000):
        lines = [memory.allocate(length) for length in (500, 100)]
        for line in lines:
            line.length = line.room
            memory.release(line)
    assert given_back == []


def test_no_history_of_lines_loses_what_another_holds_when_pages_are_given_back(base, monkeypatch):
    monkeypatch.setattr(kv, "SPARE_BYTES", 300 * base.decoder.kv_token_bytes)
    memory = SlabMemory(base.decoder, 1 << 40, 30)
    give_back, times = memory._pages._pages.give_back, []

    def counting(start, end):
        times.append(start)
        give_back(start, end)

    memory._pages._pages.give_back = counting
    chance, lines = random.Random(4), {}
    for number in range(1, 2000):
        if not lines or (len(lines) < 30 and chance.random() < 0.6):
            line = memory.allocate(chance.choice([20, 100, 300, 480]))
        else:
            line = chance.choice(list(lines))
            assert (line.slab.tokens(line, 0, line.length) == lines.pop(line)).all()
            if chance.random() < 0.5 or line.room == memory.max_length:
                memory.release(line)
                continue
            memory.grow(line)
        line.length = line.room
        line.slab.tokens(line, 0, line.length).fill_(number)
        lines[line] = number
        if number % 50 == 0:
            memory._pages.sort()
    assert times


def test_a_line_of_pages_costs_what_is_written(base):
    memory = SlabMemory(base.decoder, 1 << 40, 4)
    line = memory.allocate(70)
    assert (line.room, memory.used_bytes) == (128, 128 * memory.token_bytes)
    line.length = 128
    assert memory.grow(line) is line
    assert (line.room, memory.used_bytes) == (192, 192 * memory.token_bytes)


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
