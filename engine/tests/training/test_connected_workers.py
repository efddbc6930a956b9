"""Training workers that torchrun starts and that connect to the engine (decision 0030)."""

import errno
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from heddle_engine.threads import usable_cores, use_cores
from heddle_engine.training.workers import member as member_module
from heddle_engine.training.workers.connected import ConnectedWorkers
from heddle_engine.training.workers.frames import encode, receive
from tests.processes import children_of, wait_for
from tests.training.jobs_support import job_params
from tests.training.test_workers import run, work_of

ENGINE = Path(__file__).parents[2]
TOKEN = "t" * 32


@pytest.fixture(autouse=True)
def _one_core():
    before = usable_cores()
    use_cores(1)
    yield
    use_cores(before)


@pytest.fixture
def token_file(tmp_path) -> Path:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    return file


@pytest.fixture
def group():
    group = ConnectedWorkers(3, ("127.0.0.1", 0), TOKEN)
    yield group
    group.close()


def test_workers_of_torchrun_share_the_work_and_are_started_again(
    model_folders, tmp_path, token_file, group, monkeypatch
):
    folder = model_folders("qwen3")
    lines, config = work_of("sft", folder)
    config |= {"batch_size": 6, "learning_rate": 1e-4}
    alone, _ = run(job_params(folder, tmp_path, lines, "sft", name="alone", **config))
    command = [
        *(sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--max-restarts", "3"),
        *("-m", "heddle_engine.training.workers", "--engine", f"127.0.0.1:{group.port}", "--token-file", token_file),
    ]
    agent = subprocess.Popen(command, cwd=ENGINE, stderr=(tmp_path / "torchrun.log").open("w"))
    try:
        wait_for(lambda: all(member.is_ready for member in group.members), seconds=90)
        together, events = run(job_params(folder, tmp_path, lines, "sft", name="together", **config), group)
        assert max(float((alone[name] - together[name]).abs().max()) for name in alone) < 1e-6
        assert [event.kind for event in events].count("gradient_step") == 2
        assert "base model" in (tmp_path / "torchrun.log").read_text()

        killed = children_of(agent.pid)[0]
        os.kill(killed, signal.SIGKILL)
        again, _ = run(job_params(folder, tmp_path, lines, "sft", name="again", **config), group)
        assert all(torch.equal(again[name], together[name]) for name in together)
        wait_for(
            lambda: all(member.is_ready for member in group.members) and killed not in children_of(agent.pid),
            seconds=90,
        )

        monkeypatch.setattr(member_module, "_HUNG_S", 1.0)
        os.kill(children_of(agent.pid)[0], signal.SIGSTOP)
        again, events = run(job_params(folder, tmp_path, lines, "sft", name="hung", **config), group)
        assert all(torch.equal(again[name], together[name]) for name in together)
        (warning,) = (event.data["message"] for event in events if event.kind == "warning")
        assert re.match(r"a training worker ended: the one at 127\.0\.0\.1:\d+ made no progress for 1 s;", warning)
    finally:
        for stopped in children_of(agent.pid):
            os.kill(stopped, signal.SIGCONT)
        agent.terminate()
        agent.wait()


def test_workers_can_connect_once_there_are_file_descriptors_again(monkeypatch):
    accept, failures = socket.socket.accept, [OSError(errno.EMFILE, "Too many open files")]

    def failing_once(listener):
        if failures:
            raise failures.pop()
        return accept(listener)

    monkeypatch.setattr(socket.socket, "accept", failing_once)
    group = ConnectedWorkers(2, ("127.0.0.1", 0), TOKEN)
    try:
        with socket.create_connection(("127.0.0.1", group.port), timeout=30) as worker:
            worker.sendall(encode({"token": TOKEN}))
            assert receive(worker) == ({"welcome": True}, {})
    finally:
        group.close()
    assert not failures


def test_a_worker_waits_for_its_engine_and_for_the_next_one(token_file, tmp_path):
    first = ConnectedWorkers(2, ("127.0.0.1", 0), TOKEN)
    port = first.port
    command = [sys.executable, "-m", "heddle_engine.training.workers", "--engine", f"127.0.0.1:{port}"]
    worker = subprocess.Popen([*command, "--token-file", token_file], cwd=ENGINE, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: first.members[0].is_ready, seconds=90)
        first.close()
        wait_for(lambda: not first.members[0].is_ready, seconds=90)
        second = ConnectedWorkers(2, ("127.0.0.1", port), TOKEN)
        wait_for(lambda: second.members[0].is_ready, seconds=90)
        assert worker.poll() is None
        second.close()
    finally:
        worker.kill()
        worker.wait()


def test_a_worker_without_the_token_is_refused(group, tmp_path):
    wrong = tmp_path / "wrong"
    wrong.write_text("w" * 32)
    command = [sys.executable, "-m", "heddle_engine.training.workers", "--engine", f"127.0.0.1:{group.port}"]
    ended = subprocess.run([*command, "--token-file", wrong], cwd=ENGINE, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == "The engine refuses this worker: the token is not the engine's."
    assert not any(member.is_ready for member in group.members)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--trainers-listen", "127.0.0.1:0"], "--trainers-listen needs --trainers-token-file"),
        (
            ["--trainers-listen", "nowhere", "--trainers-token-file", "x"],
            "--trainers-listen nowhere: expected HOST:PORT",
        ),
        (
            ["--trainers-listen", "127.0.0.1:0", "--trainers-token-file", "{token}"],
            "--trainers-listen needs --trainers:",
        ),
    ],
)
def test_an_engine_that_cannot_listen_for_workers_says_why(options, reason, token_file, tmp_path):
    command = [sys.executable, "-m", "heddle_engine", "--listen", f"unix:{tmp_path}/socket"]
    given = [option.format(token=token_file) for option in options]
    ended = subprocess.run([*command, *given], cwd=ENGINE, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert reason in ended.stderr
