"""An engine that trains in two processes, through the protocol (decision 0030)."""

import os
import re
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.processes import children_of, wait_for
from tests.serving.engine_process import ENGINE, EngineProcess
from tests.training.jobs_support import job_params

ANSWERS = [f"{animal} in the {place}" for animal in ("a hen", "a cat", "an ant") for place in ("barn", "rain")] * 20


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    process = EngineProcess(tmp_path_factory.mktemp("engine"), "--trainers", "2")
    process.wait_until_listening()
    yield process
    process.close()


@pytest.fixture
def job(model_folders, tmp_path):
    def params(name, batch_size=4):
        lines = [
            {"messages": [{"role": "user", "content": "say"}, {"role": "assistant", "content": text}]}
            for text in ANSWERS
        ]
        return job_params(model_folders("qwen3"), tmp_path, lines, "sft", name=name, batch_size=batch_size)

    return params


def workers_of(engine) -> list[int]:
    pids = children_of(engine.process.pid)
    return [pid for pid in pids if b"heddle_engine.training.workers" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def worker_that_is_ready(engine) -> int:
    """The only worker, once its log says so."""
    return wait_for(
        lambda: next((pid for pid in workers_of(engine) if f" {pid} ready" in engine.log.read_text()), None)
    )


def test_a_job_goes_on_when_its_worker_is_killed_and_so_do_chats(engine, client, job, chat):
    worker = worker_that_is_ready(engine)
    training = client.send("train", job("killed", batch_size=2))
    while client.receive().get("event") != "gradient_step":
        pass
    os.kill(worker, signal.SIGKILL)
    answer = client.send("chat", chat())
    frames = []
    while (frame := client.receive())["id"] != answer:
        frames.append(frame)
    assert frame["result"]["completion_tokens"] > 0
    assert not any("error" in other for other in frames)
    _, last = client.outcome(training)
    assert last["result"]["gradient_steps"] == len(ANSWERS) / 2
    assert worker_that_is_ready(engine) != worker
    assert "training worker 1 ended: it was killed" in engine.log.read_text()


def test_two_jobs_share_the_worker_and_one_is_cancelled(engine, client, job):
    worker = worker_that_is_ready(engine)
    before = processor_seconds(worker)
    calls = {name: client.send("train", job(name)) for name in ("left", "right")}
    seen = set()
    while seen != set(calls.values()):
        frame = client.receive()
        if frame.get("event") == "gradient_step":
            seen.add(frame["id"])
    client.send("train.cancel", {"job_id": "left"})
    ends = {}
    while len(ends) < 2:
        frame = client.receive()
        if frame["id"] in calls.values() and "event" not in frame:
            ends[frame["id"]] = frame
    assert ends[calls["left"]]["error"]["kind"] == "cancelled"
    assert ends[calls["right"]]["result"]["gradient_steps"] == len(ANSWERS) / 4
    assert workers_of(engine) == [worker]
    assert processor_seconds(worker) > before


def test_no_worker_outlives_a_killed_engine(tmp_path, job):
    process = EngineProcess(tmp_path, "--trainers", "3")
    with process.wait_until_listening() as client:
        client.call("hello", {"protocol": 1, "token": None})
        client.send("train", job("orphaned", batch_size=2))
        wait_for(lambda: client.receive().get("event") == "gradient_step")
        workers = wait_for(lambda: workers_of(process))
        assert len(workers) == 2
        process.process.kill()
        process.process.wait()
    wait_for(lambda: not any(map(is_running, workers)), seconds=10)


def test_a_worker_that_connects_shares_the_work_and_unloads_with_the_engine(tmp_path, job):
    token = tmp_path / "token"
    token.write_text("t" * 32)
    options = ["--trainers", "2", "--trainers-listen", "127.0.0.1:0", "--trainers-token-file", str(token)]
    engine = EngineProcess(tmp_path, *options, "--unload-idle-s", "0")
    with closing(engine) as process, process.wait_until_listening() as client:
        client.call("hello", {"protocol": 1, "token": None})
        [port] = wait_for(lambda: re.findall(r"workers are awaited on port (\d+)", process.log.read_text()))
        command = [sys.executable, "-m", "heddle_engine.training.workers", "--engine", f"127.0.0.1:{port}"]
        log = tmp_path / "worker.log"
        worker = subprocess.Popen([*command, "--token-file", token], cwd=ENGINE, stderr=log.open("w"))
        try:
            wait_for(lambda: " ready, on " in log.read_text())
            for name in ("first", "second"):
                _, result = client.call("train", job(name))
                assert result["gradient_steps"] == len(ANSWERS) / 4
                wait_for(lambda: "its weights are unloaded" in process.log.read_text())
            assert log.read_text().count("is in memory") == 2
            assert workers_of(process) == []
        finally:
            worker.kill()
            worker.wait()


@pytest.mark.parametrize("count", ["0", "two"])
def test_a_number_of_trainers_that_is_none_is_refused(tmp_path, count):
    process = EngineProcess(tmp_path, "--trainers", count)
    assert process.process.wait(20) == 2
    assert f"argument --trainers: must be a whole number from 1, not '{count}'" in process.log.read_text()
