"""Chats on a loaded base go on, whatever other work the engine gets at the same time."""

import asyncio
import threading
from pathlib import Path

import pytest

from heddle_engine.bases import Base
from heddle_engine.engine import Engine
from heddle_engine.errors import EngineError
from heddle_engine.model.files.hub import local_folder
from heddle_engine.serving.batching import Batcher
from heddle_engine.settings import Settings
from heddle_engine.text.grammar import GrammarCompiler
from heddle_engine.text.sandbox import Sandbox
from heddle_engine.text.tokenizer import TextTokenizer
from tests.waiting import until


@pytest.fixture
def refs(model_folders):
    """References of two bases, `here` and `slow`; tests hold up the loading of `slow`."""
    return {
        name: {"name": name, "path": str(model_folders(kind))} for name, kind in (("here", "qwen3"), ("slow", "llama"))
    }


def chat(base, tenant, **changes):
    params = {"base": base, "adapter": None, "prompt": "the rain", "tenant": tenant}
    return {**params, "sampling": {"max_tokens": 2, "temperature": 0}, **changes}


async def short_chats(engine, base, count=5):
    for _ in range(count):
        result = await asyncio.wait_for(engine.chat(chat(base, "victim"), lambda *_: None), 60)
        assert result["completion_tokens"] == 2


def held_up(monkeypatch, owner, name, applies):
    """Makes calls of `owner.name` whose arguments fit `applies` wait for the returned event."""
    go, real = threading.Event(), getattr(owner, name)

    def waiting(*args, **options):
        if applies(*args):
            assert go.wait(120)
        return real(*args, **options)

    monkeypatch.setattr(owner, name, waiting)
    return go


def run(scenario):
    async def main():
        await scenario(Engine(Settings(), Sandbox()))

    asyncio.run(main())


def test_chats_and_jobs_that_wait_for_a_base_hold_up_no_other(refs, monkeypatch, tmp_path):
    go = held_up(monkeypatch, Base, "load", lambda base: base.name == "slow")

    async def scenario(engine):
        await short_chats(engine, refs["here"], 1)
        waiting = [asyncio.ensure_future(engine.chat(chat(refs["slow"], "other"), print)) for _ in range(20)]
        job = {"job_id": "j", "base": refs["slow"], "output": {"path": str(tmp_path)}}
        training = asyncio.ensure_future(engine.train(job, print))
        await short_chats(engine, refs["here"])
        assert not any(call.done() for call in waiting)
        beat = engine.heartbeat()
        assert (beat["loading"], beat["training"]) == (1, 0)
        await engine.train_cancel({"job_id": "j"}, print)
        with pytest.raises(EngineError, match="Job j was cancelled"):
            await training
        go.set()
        assert {(await call)["completion_tokens"] for call in waiting} == {2}
        assert engine.heartbeat()["loading"] == 0

    run(scenario)


def test_a_model_that_loads_beside_a_chat_leaves_it_time_and_alone_takes_all(refs, monkeypatch):
    rests, steps = [], []
    monkeypatch.setattr("heddle_engine.pace.sleep", rests.append)
    go = held_up(monkeypatch, Batcher, "step", lambda batcher: steps.append(batcher) or True)

    async def scenario(engine):
        chatting = asyncio.ensure_future(engine.chat(chat(refs["here"], "victim"), print))
        await until(lambda: steps)
        assert rests == []
        loading = asyncio.ensure_future(engine.chat(chat(refs["slow"], "other"), print))
        await until(lambda: rests)
        go.set()
        await asyncio.gather(chatting, loading)

    run(scenario)


def test_looking_for_unknown_models_holds_up_no_chat(refs, monkeypatch):
    monkeypatch.setattr("heddle_engine.bases.hub_folder", lambda name: Path(refs["here"]["path"]))
    go = held_up(monkeypatch, Base, "__init__", lambda base, name, *_: name.startswith("unknown"))

    async def scenario(engine):
        await short_chats(engine, refs["here"], 1)
        names = [f"unknown/model-{i}" for i in range(8) for _ in range(4)]
        looking = [asyncio.ensure_future(engine.base_resolve({"base": {"name": name}}, print)) for name in names]
        await short_chats(engine, refs["here"])
        assert not any(call.done() for call in looking)
        go.set()
        assert [(await call)["name"] for call in looking] == names

    run(scenario)


def test_a_hub_that_does_not_answer_holds_up_no_model_in_a_folder(refs, monkeypatch):
    go = held_up(monkeypatch, Base, "__init__", lambda base, name, *_: name.startswith("unknown"))
    monkeypatch.setattr("heddle_engine.bases.hub_folder", lambda name: Path(refs["here"]["path"]))

    async def scenario(engine):
        names = [f"unknown/model-{i}" for i in range(8)]
        looking = [asyncio.ensure_future(engine.base_resolve({"base": {"name": name}}, print)) for name in names]
        await asyncio.sleep(0)
        await short_chats(engine, refs["here"], 1)
        assert not any(call.done() for call in looking)
        go.set()
        assert [(await call)["name"] for call in looking] == names

    run(scenario)


def test_texts_that_one_tenant_has_cut_into_tokens_hold_up_no_other(refs, monkeypatch):
    go = held_up(monkeypatch, TextTokenizer, "encode_prompt", lambda _tokenizer, text: text == "slow")

    async def scenario(engine):
        def tokenize(tenant, prompt):
            return engine.tokenize({"base": refs["here"], "prompt": prompt, "tenant": tenant}, print)

        held = [asyncio.ensure_future(tokenize("many", "slow")) for _ in range(50)]
        while not engine.heartbeat()["waiting"]:
            await asyncio.sleep(0.01)
        assert (await asyncio.wait_for(tokenize("one", "the rain"), 60))["token_ids"]
        assert not any(call.done() for call in held)
        go.set()
        await asyncio.gather(*held)

    run(scenario)


def test_a_model_that_is_not_there_is_looked_for_again(refs, tmp_path, model_folders):
    async def scenario(engine):
        ref = {"name": "late", "path": str(tmp_path / "late")}
        with pytest.raises(EngineError, match="does not exist"):
            await engine.base_resolve({"base": ref}, print)
        (tmp_path / "late").symlink_to(local_folder("here", refs["here"]["path"]))
        assert (await engine.base_resolve({"base": ref}, print))["name"] == "late"

    run(scenario)


def test_grammars_are_compiled_beside_chats_once_for_equal_requests_and_for_tenants_in_turn(refs, monkeypatch):
    compiled = []
    go = held_up(monkeypatch, GrammarCompiler, "compile", lambda _compiler, text, _param: compiled.append(text) or True)

    async def scenario(engine):
        await short_chats(engine, refs["here"], 1)

        def held(tenant, pattern):
            output = {"kind": "regex", "text": pattern, "param": "guided_regex"}
            return asyncio.ensure_future(engine.chat(chat(refs["here"], tenant, structured_output=output), print))

        hostile = [held("hostile", f"[a-c]{{{i + 1}}}") for i in range(16)] + [held("hostile", "[a-c]{1}")]
        for _ in range(100):
            await asyncio.sleep(0.02)
            if compiled:
                break
        await short_chats(engine, refs["here"])
        victim = held("victim", "[xy]")
        for _ in range(500):
            await asyncio.sleep(0.02)
            if len(compiled) == 2:
                break
        assert len(compiled) == 2
        assert not any(call.done() for call in (*hostile, victim))
        go.set()
        await victim
        for call in hostile:
            await call
        assert len(compiled) == 17
        await held("another", "[a-c]{5}")
        assert len(compiled) == 17, "what was compiled is kept"

    run(scenario)


def test_a_grammar_that_cannot_be_compiled_in_time_is_refused(refs):
    async def scenario(engine):
        engine._grammars._sandbox = Sandbox(seconds=1)
        output = {"kind": "regex", "text": ".*" * 30_000, "param": "guided_regex"}
        for _ in range(2):
            with pytest.raises(EngineError) as refused:
                await engine.chat(chat(refs["here"], "a", structured_output=output), print)
            assert (
                refused.value.message == "The answer cannot be held to guided_regex: compiling it took longer than 1 s."
            )
        await short_chats(engine, refs["here"], 1)

    run(scenario)


@pytest.mark.parametrize(
    "output",
    [
        {"kind": "choice", "options": [f"{i}" + "x" * 5000 for i in range(999)], "param": "guided_choice"},
        {"kind": "regex", "text": "x" * 300_000, "param": "guided_regex"},
        {"kind": "json", "schema": {"enum": ["x" * 300_000]}, "param": "response_format"},
    ],
    ids=["choice", "regex", "json"],
)
def test_a_grammar_that_is_too_large_is_refused_before_it_is_compiled(refs, output):
    async def scenario(engine):
        with pytest.raises(EngineError, match=r"it has \d+ bytes, and at most 262144 are taken") as refused:
            await engine.chat(chat(refs["here"], "a", structured_output=output), print)
        assert refused.value.param == output["param"]

    run(scenario)
