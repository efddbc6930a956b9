"""Slots of adapters at fixed addresses, and how rows are laid out over them."""

import pytest
import torch

from heddle_engine.bases import Base
from heddle_engine.model.adapters import ServedAdapter
from heddle_engine.model.lora import initial_lora
from heddle_engine.serving import lora_slots
from heddle_engine.serving.lora_slots import LoraSlots
from heddle_engine.serving.pool_step import Layout, lay_out

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def base(model_folders):
    return Base("tiny", model_folders("qwen3"), CPU, torch.float32)


def adapters_of(base, count, rank=4):
    made = []
    for seed in range(count):
        weights = initial_lora(base.config, rank=rank, alpha=8.0, seed=seed)
        for module in weights.modules.values():
            module.b.fill_(seed + 1)
        made.append(ServedAdapter(f"r{rank}-{seed}", weights, base.config, CPU, torch.float32))
    return made


def assert_holds(slots, slot, adapter):
    for key, (a, b) in adapter.sites.items():
        rank = a.shape[1]
        in_slots = slots.at(*key)
        assert torch.equal(in_slots[0][slot, :, :rank], a)
        assert torch.equal(in_slots[1][slot, :rank], b)
        assert not in_slots[1][slot, rank:].any()


def test_each_adapter_is_found_in_its_slot_and_no_adapter_in_the_last(base):
    slots, adapters = LoraSlots(base.decoder), adapters_of(base, 3)
    found = slots.find([None, *adapters])
    assert len(set(found)) == 4
    for slot, adapter in zip(found[1:], adapters, strict=True):
        assert_holds(slots, slot, adapter)
    assert not any(weights[found[0]].any() for weights in slots.at(0, "qkv"))
    assert slots.find([*adapters[::-1], None]) == [*found[:0:-1], found[0]]


def test_the_adapter_that_was_used_longest_ago_leaves_and_too_many_find_no_slots(base, monkeypatch):
    monkeypatch.setattr(lora_slots, "_MOST_SLOTS", 2)
    slots, (one, two, three) = LoraSlots(base.decoder), adapters_of(base, 3)
    assert slots.find([one, two, three]) is None
    first, second = slots.find([one, two])
    slots.find([one])
    assert slots.find([one, three]) == [first, second]
    assert_holds(slots, first, one)
    assert_holds(slots, second, three)


def test_a_batch_of_one_adapter_has_it_in_the_first_slot(base):
    slots, (one, two, three) = LoraSlots(base.decoder), adapters_of(base, 3)
    slots.find([one, two])
    for adapter in (two, three, one):
        slots.find_one(adapter)
        assert_holds(slots, 0, adapter)
    for slot, adapter in zip(slots.find([two, three]), (two, three), strict=True):
        assert_holds(slots, slot, adapter)


def test_slots_grow_with_the_rank_and_say_so(base):
    slots, [small], [large] = LoraSlots(base.decoder), adapters_of(base, 1, rank=4), adapters_of(base, 1, rank=24)
    slots.find([small, None])
    before = slots.version
    slots.find([small, None])
    assert slots.version == before
    [slot, _] = slots.find([large, None])
    assert slots.version > before
    assert_holds(slots, slot, large)
    assert_holds(slots, slots.find([small, None])[0], small)


def test_rows_of_several_adapters_stand_in_tiles_and_those_of_one_side_by_side():
    assert lay_out([5], adapted=False) == (Layout(0, 8), [0, 1, 2, 3, 4], [])
    assert lay_out([5], adapted=True) == (Layout(1, 8), [0, 1, 2, 3, 4], [])
    assert lay_out([200], adapted=True)[0] == Layout(1, 200)
    layout, places, tiles = lay_out([2, 9, 1], adapted=True)
    assert (layout, tiles) == (Layout(4, 8), [0, 1, 1, 2])
    assert places == [0, 1, *range(8, 17), 24]
