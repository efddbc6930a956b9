"""Exports through the protocol, by a real engine: their events and results, and what a stopped export leaves."""

import os
import time

import gguf
import psutil
import pytest

from tests.serving.engine_process import EngineProcess


@pytest.fixture
def engine(tmp_path):
    process = EngineProcess(tmp_path)
    yield process
    process.close()


def params(folder, output, adapter=None):
    return {
        "base": {"name": "a/model", "path": str(folder)},
        "adapter": adapter and {"key": "m@1", "path": str(adapter)},
        "format": "gguf",
        "dtype": None,
        "title": "model-step1",
        "tenant": "acme",
        "output": {"path": str(output)},
    }


def blocked_adapter(tmp_path):
    """Folder of an adapter that blocks its reader for ever: its config is a pipe to which nobody writes."""
    folder = tmp_path / "adapter"
    folder.mkdir()
    os.mkfifo(folder / "adapter_config.json")
    return folder


def exporting(engine):
    """Waits for the process that writes the export, and returns it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for child in psutil.Process(engine.process.pid).children():
            if "heddle_engine.exports.process" in child.cmdline():
                return child
        time.sleep(0.05)
    raise AssertionError("no process exports")


def test_an_export_reports_its_planned_size_first_and_its_written_size_last(engine, model_folders, tmp_path):
    client = engine.wait_until_listening()
    output = tmp_path / "out" / "model.gguf"
    client.send("checkpoint.export", params(model_folders("qwen3"), output))
    planned, done = client.receive(), client.receive()
    assert planned["event"] == "planned"
    assert done["result"] == {"size_bytes": output.stat().st_size}
    assert planned["data"]["size_bytes"] >= output.stat().st_size
    assert gguf.GGUFReader(output).fields["general.name"].contents() == "model-step1"
    assert [path.name for path in output.parent.iterdir()] == ["model.gguf"]


def test_an_export_that_is_cancelled_ends_its_process_and_others_go_on(engine, model_folders, tmp_path):
    client = engine.wait_until_listening()
    output = tmp_path / "out" / "model.gguf"
    call = client.send("checkpoint.export", params(model_folders("qwen3"), output, blocked_adapter(tmp_path)))
    child = exporting(engine)
    client.send("chat.cancel", {"id": call})
    answers = [client.receive(), client.receive()]
    assert [answer["error"]["kind"] for answer in answers if "error" in answer] == ["cancelled"]
    child.wait(20)
    client.send("checkpoint.export", params(model_folders("qwen3"), output))
    assert client.receive()["event"] == "planned"
    assert "result" in client.receive()


def test_an_export_ends_with_an_engine_that_is_killed(engine, model_folders, tmp_path):
    client = engine.wait_until_listening()
    output = tmp_path / "out" / "model.gguf"
    client.send("checkpoint.export", params(model_folders("qwen3"), output, blocked_adapter(tmp_path)))
    child = exporting(engine)
    engine.process.kill()
    child.wait(20)
    assert not output.exists()
