"""Base models that nobody uses give their memory back when the operator's setting says so."""

import asyncio
import os
import threading
import weakref

import pytest

from heddle_engine.base_loader import BaseLoader
from heddle_engine.bases import Base, Bases
from heddle_engine.engine import Engine
from heddle_engine.model.files.weights import load_decoder
from heddle_engine.settings import Settings
from heddle_engine.text.sandbox import Sandbox
from tests.training.jobs_support import cpu_bases
from tests.waiting import until


@pytest.fixture
def ref(model_folders):
    return {"name": "tiny", "path": str(model_folders("qwen3"))}


def chat(ref, max_tokens=4):
    sampling = {"max_tokens": max_tokens, "temperature": 0, "ignore_eos": True}
    return {"base": ref, "adapter": None, "prompt": "the rain", "sampling": sampling}


def run(scenario, settings):
    async def main():
        await scenario(Engine(settings, Sandbox()))

    asyncio.run(main())


def test_an_idle_model_is_unloaded_whole_and_comes_back_with_the_next_chat(ref, monkeypatch):
    made, real = [], Bases.resolve
    monkeypatch.setattr(Bases, "resolve", lambda self, ref: made.append(real(self, ref)) or made[-1])

    async def scenario(engine):
        answers = []
        for _ in range(2):
            chatting = asyncio.ensure_future(engine.chat(chat(ref, 40), print))
            await until(lambda: made and made[0].is_loaded)
            decoder = weakref.ref(made[0].decoder)
            answers.append(await chatting)
            del chatting
            await until(lambda gone=decoder: gone() is None)
            assert not made[0].is_loaded
        assert answers[0]["choices"] == answers[1]["choices"]
        assert len(made) == 1

    run(scenario, Settings(unload_idle_s=0))


def test_a_model_stays_while_anybody_uses_it_and_for_ever_without_the_setting(ref):
    async def scenario(idle_s):
        gone = []
        loader = BaseLoader(cpu_bases(), idle_s, gone.append)
        base = await loader.loaded(ref)
        with loader.kept(base), loader.kept(base):
            await asyncio.sleep(0.05)
            assert base.is_loaded
        await asyncio.sleep(0.05)
        return base.is_loaded, len(gone)

    assert asyncio.run(scenario(0))[0] is False
    assert asyncio.run(scenario(3600)) == (True, 0)
    assert asyncio.run(scenario(None)) == (True, 0)


def test_a_model_whose_client_left_while_it_was_loaded_holds_nothing_up(ref, monkeypatch):
    """Its weights may be read from a slow disk; they go once they are there."""
    entered, let_go, was_let_go, tries = threading.Event(), threading.Event(), [], []
    real = Base.unload

    def slow(*arguments):
        entered.set()
        was_let_go.append(let_go.wait(30))
        return load_decoder(*arguments)

    monkeypatch.setattr("heddle_engine.bases.load_decoder", slow)
    monkeypatch.setattr(Base, "unload", lambda self: tries.append(real(self)) or tries[-1])

    async def scenario():
        gone = []
        loader = BaseLoader(cpu_bases(), 0, gone.append)
        asking = asyncio.ensure_future(loader.loaded(ref))
        await until(entered.is_set)
        asking.cancel()
        await until(lambda: tries)
        let_go.set()
        await until(lambda: gone)
        assert not gone[0].is_loaded

    asyncio.run(scenario())
    assert was_let_go == [True], "the event loop stood still until the weights were there"


def test_a_model_of_the_hub_that_is_also_named_by_its_folder_is_one_base(ref, monkeypatch, tmp_path):
    link = tmp_path / "snapshot"
    os.symlink(ref["path"], link)
    monkeypatch.setattr("heddle_engine.bases.hub_folder", lambda _name: link)

    async def scenario(engine):
        assert (await engine.base_resolve({"base": ref}, print))["name"] == "tiny"
        hub = {"name": "acme/tiny", "path": None}
        assert (await engine.base_resolve({"base": hub}, print))["name"] == "acme/tiny"

    run(scenario, Settings())
    bases = cpu_bases()
    assert bases.resolve({"name": "acme/tiny", "path": None}) is bases.resolve(ref)
