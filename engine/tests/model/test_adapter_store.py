"""Which adapters stay in memory, and that each is read once."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from heddle_engine.errors import EngineError
from heddle_engine.model.adapters import AdapterStore
from heddle_engine.model.config import DecoderConfig
from heddle_engine.model.lora import initial_lora, read_peft, write_peft

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def config(model_folders):
    return DecoderConfig.from_hf(json.loads((model_folders("qwen3") / "config.json").read_text()))


@pytest.fixture
def store(config):
    return AdapterStore(config, CPU, torch.float32)


@pytest.fixture
def folder(config, tmp_path):
    write_peft(tmp_path, initial_lora(config, 4, 8.0, seed=1), "base", config)
    return str(tmp_path)


def test_a_small_adapter_displaces_no_large_ones(store, config):
    for number in range(8):
        store.publish(f"large{number}", initial_lora(config, 32, 8.0, seed=number))
    store.publish("small", initial_lora(config, 1, 8.0, seed=9))
    assert [number for number in range(8) if f"large{number}" in store] == list(range(8))


def test_an_adapter_is_read_once_however_many_ask_for_it(store, folder, monkeypatch):
    """inference-api 11.4: else each of many chats after a pause holds a copy, and none decodes with the others."""
    read, entered, all_asked = [], threading.Event(), threading.Event()

    def slow_read(path, config):
        read.append(path)
        entered.set()
        all_asked.wait(60)
        return read_peft(path, config)

    monkeypatch.setattr("heddle_engine.model.adapters.read_peft", slow_read)
    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(store.get, "model@1", folder)]
        entered.wait(60)
        asked += [threads.submit(store.get, "model@1", folder) for _ in range(7)]
        while sum(each.running() for each in asked) < 8:
            time.sleep(0.01)
        all_asked.set()
        found = {id(each.result()) for each in asked}
    assert (len(found), len(read)) == (1, 1)


def test_an_adapter_that_could_not_be_read_is_read_by_who_asks_next(store, folder, tmp_path):
    weights = tmp_path / "adapter_model.safetensors"
    weights.rename(tmp_path / "away")
    with pytest.raises(EngineError, match="does not exist"):
        store.get("model@1", folder)
    (tmp_path / "away").rename(weights)
    assert store.get("model@1", folder) is store.get("model@1", folder)
