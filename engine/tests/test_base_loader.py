"""Models are downloaded and loaded beside each other."""

import asyncio
import shutil
import threading
from pathlib import Path
from time import thread_time

import pytest
import torch

from heddle_engine.base_loader import BaseLoader, loads_at_once
from heddle_engine.model.files.hub import fetch_weights
from heddle_engine.pace import tokens_computed
from tests.training.jobs_support import cpu_bases
from tests.waiting import until


class Hub:
    """Models in folders of their own; a download of one that begins with `far` waits until `go` is set."""

    def __init__(self, source: Path, folder: Path):
        self._source, self._folder = source, folder
        self.go = threading.Event()
        self.asked: list[str] = []

    def folder(self, name: str) -> Path:
        folder = self._folder / name.replace("/", "--")
        if not folder.exists():
            shutil.copytree(self._source, folder)
            if name.startswith("far"):
                (folder / "model.safetensors").rename(folder / "kept")
        return folder

    def fetch_weights(self, name: str, folder: Path) -> None:
        if name.startswith("far") and (folder / "kept").exists():
            self.asked.append(name)
            assert self.go.wait(60)
            (folder / "kept").rename(folder / "model.safetensors")
        fetch_weights(name, folder)


@pytest.fixture
def hub(model_folders, tmp_path, monkeypatch):
    hub = Hub(model_folders("qwen3"), tmp_path)
    monkeypatch.setattr("heddle_engine.bases.hub_folder", hub.folder)
    monkeypatch.setattr("heddle_engine.bases.fetch_weights", hub.fetch_weights)
    yield hub
    hub.go.set()


def loading(loader: BaseLoader, name: str) -> asyncio.Task:
    return asyncio.ensure_future(loader.loaded({"name": name}))


@pytest.mark.parametrize("here", ["folder", "near/model"])
def test_downloads_hold_up_no_model_that_is_there(here, hub, model_folders):
    async def scenario():
        loader = BaseLoader(cpu_bases(), loading=1)
        far = [loading(loader, f"far/{number}") for number in range(3)]
        await until(lambda: len(hub.asked) == loader.num_loading == 2)
        ref = {"name": here, "path": str(model_folders("qwen3")) if here == "folder" else None}
        assert (await loader.loaded(ref)).is_loaded
        assert not any(task.done() for task in far)
        hub.go.set()
        assert all(base.is_loaded for base in await asyncio.gather(*far))
        assert loader.num_loading == 0

    asyncio.run(scenario())


def test_who_comes_back_waits_for_the_download_that_they_left(hub):
    async def scenario():
        loader = BaseLoader(cpu_bases())
        for _ in range(3):
            left = loading(loader, "far/model")
            await until(lambda: hub.asked)
            left.cancel()
            await asyncio.gather(left, return_exceptions=True)
        again = loading(loader, "far/model")
        hub.go.set()
        assert (await again).is_loaded
        assert hub.asked == ["far/model"]

    asyncio.run(scenario())


def test_a_model_that_is_left_before_it_is_loaded_is_not_told_to_be_unloaded(hub):
    async def scenario():
        gone = []
        loader = BaseLoader(cpu_bases(), 0, gone.append)
        left = loading(loader, "far/model")
        await until(lambda: hub.asked)
        left.cancel()
        await asyncio.gather(left, return_exceptions=True)
        await asyncio.sleep(0.05)
        assert gone == []
        hub.go.set()
        assert (await loading(loader, "far/model")) is not None
        await until(lambda: gone)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("cores", "device", "loads"),
    [(1, "cpu", 1), (2, "cpu", 1), (3, "cpu", 1), (4, "cpu", 2), (16, "cpu", 2), (2, "cuda", 2)],
)
def test_a_cpu_loads_one_model_for_two_cores(cores, device, loads):
    assert loads_at_once(cores, torch.device(device)) == loads


def test_while_tokens_are_computed_a_load_rests_as_long_as_its_thread_computes(hub, monkeypatch):
    rests, times = [], []
    monkeypatch.setattr("heddle_engine.pace.sleep", rests.append)
    monkeypatch.setattr("heddle_engine.pace.thread_time", lambda: times.append(thread_time()) or times[-1])

    async def scenario():
        loader = BaseLoader(cpu_bases(), loading=1)
        await loading(loader, "near/alone")
        assert rests == []
        del times[:-1]
        with tokens_computed():
            await loading(loader, "near/beside")
        # The first is what was computed for the model before, behind its last rest.
        computed = sum(ended - began for began, ended in zip(times[::2], times[1::2], strict=False))
        assert computed > 0
        assert sum(rests) == pytest.approx(computed)
        rests.clear()
        await loading(loader, "near/behind")
        assert rests == []

    asyncio.run(scenario())
