"""An engine that cannot compute any more ends, so that its server starts another (engine 5.2)."""

import asyncio

import pytest
import torch

from heddle_engine.engine import Engine
from heddle_engine.errors import EngineError
from heddle_engine.settings import Settings
from heddle_engine.text.sandbox import Sandbox
from tests.serving.engine_process import EngineProcess
from tests.training.jobs_support import SFT_CONFIG, write_lines


@pytest.fixture
def failing(tmp_path, monkeypatch):
    """`failing(fault)` starts an engine with one of the faults of `failing_engine`."""
    started = []

    def start(fault):
        monkeypatch.setenv("HEDDLE_TEST_FAULT", fault)
        started.append(EngineProcess(tmp_path, module="tests.serving.failing_engine"))
        client = started[0].wait_until_listening()
        client.call("hello", {"protocol": 1, "token": None})
        return started[0], client

    yield start
    for engine in started:
        engine.close()


@pytest.mark.parametrize("fault", ["device", "defect"])
def test_chats_of_an_engine_that_can_compute_no_more_are_not_kept_waiting(failing, chat, fault):
    engine, client = failing(fault)
    client.send("chat", chat())
    assert client.receive() is None
    assert engine.process.wait(20) == 70
    assert "the serving thread failed" in engine.log.read_text()


def test_a_job_of_an_engine_that_lost_its_device_is_not_failed(failing, base, tmp_path):
    """No error is reported, which would count as the job's own; the server runs the job again in the next process."""
    engine, client = failing("device")
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    params = {
        "job_id": "j",
        "base": base,
        "lora": {"rank": 2, "alpha": 4, "seed": 1},
        "start": None,
        "reference": None,
        "data": write_lines(tmp_path / "data.jsonl", [{"messages": turns}]),
        "job": {"kind": "sft", "config": SFT_CONFIG},
        "work_dir": str(tmp_path / "work"),
        "output": {"key": "m@1", "path": str(tmp_path / "out")},
    }
    client.send("train", params)
    seen = iter(client.receive, None)
    assert [frame.get("event") for frame in seen] == ["training_started"]
    assert engine.process.wait(20) == 70
    assert "the training thread failed" in engine.log.read_text()


def test_a_chat_for_which_the_device_has_no_memory_left_says_so(model_folders, monkeypatch):
    """A GPU's keys and values are allocated at once, when the first chat of a model comes."""

    def no_memory(*_):
        raise torch.OutOfMemoryError("20 GiB are not there")

    monkeypatch.setattr("heddle_engine.serving_thread.Batcher", no_memory)
    base = {"name": "tiny", "path": str(model_folders("qwen3"))}
    params = {"base": base, "adapter": None, "prompt": "the rain", "sampling": {"max_tokens": 1}}

    async def chat():
        return await Engine(Settings(), Sandbox()).chat(params, print)

    with pytest.raises(EngineError, match="20 GiB are not there") as raised:
        asyncio.run(chat())
    assert raised.value.kind == "out_of_memory"
