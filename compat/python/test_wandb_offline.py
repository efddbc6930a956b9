"""wandb's SDK offline, in several processes of one run, and killed: platform-wandb 6.4, 11."""

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import wandb

from covers import covers
from started_server import Server

SCRIPT_TIMEOUT_S = 120.0


@pytest.fixture(autouse=True)
def settings(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_CONSOLE", "wrap")
    monkeypatch.setenv("WANDB_BASE_URL", server.url)
    monkeypatch.setenv("WANDB_API_KEY", server.key)
    monkeypatch.chdir(tmp_path)
    yield
    wandb.finish()


@pytest.fixture
def project() -> str:
    return f"away-{secrets.token_hex(4)}"


def read(path: str) -> Any:
    """The run, read by a new client, which has cached nothing."""
    return wandb.Api().run(path)


def started(script: str, *arguments: str) -> subprocess.Popen[str]:
    """Starts a process with a wandb service of its own: it must not find this process's service."""
    env = {name: value for name, value in os.environ.items() if name != "WANDB_SERVICE"}
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def ended(process: subprocess.Popen[str]) -> str:
    output, _ = process.communicate(timeout=SCRIPT_TIMEOUT_S)
    assert process.returncode == 0, output
    return output


def sync(folder: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name not in ("WANDB_SERVICE", "WANDB_SILENT")}
    command = [sys.executable, "-m", "wandb", "sync", str(folder)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=SCRIPT_TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@covers("wandb-offline")
def test_an_offline_run_is_synced_and_a_second_time_doubles_nothing(project: str, tmp_path: Path) -> None:
    run = wandb.init(project=project, mode="offline", name="Shown", config={"lr": 0.1}, tags=["a"])
    for step in range(50):
        run.log({"loss": 1 / (step + 1), "n": step})
    print("a line of the console")
    (tmp_path / "note.txt").write_text("content")
    run.save("note.txt", policy="end")
    run.summary["best"] = 0.5
    folder, name = Path(run.dir).parent, run.id
    run.finish()
    assert project not in {one.name for one in wandb.Api().projects()}

    for _ in range(2):
        sync(folder)
        stored = read(f"local/{project}/{name}")
        assert (stored.name, stored.state, stored.tags) == ("Shown", "finished", ["a"])
        assert stored.config == {"lr": 0.1}
        assert (stored.summary["best"], stored.summary["n"]) == (0.5, 49)
        rows = [(row["_step"], row["loss"], row["n"]) for row in stored.scan_history()]
        assert rows == [(step, 1 / (step + 1), step) for step in range(50)]
        names = [file.name for file in stored.files()]
        assert len(names) == len(set(names))
        assert {"note.txt", "config.yaml", "wandb-summary.json"} <= set(names)
        with stored.file("note.txt").download(root=str(tmp_path / "down"), replace=True) as content:
            assert content.read() == "content"
    assert len(wandb.Api().runs(f"local/{project}")) == 1


SHARED = """
import sys, time
from pathlib import Path
import wandb

project, run_id, label, others_end = sys.argv[1:]
is_primary = label == "primary"
settings = wandb.Settings(
    mode="shared", x_primary=is_primary, x_label=label, x_update_finish_state=is_primary,
    x_file_stream_transmit_interval=1,
)
run = wandb.init(project=project, id=run_id, settings=settings, config={label: True})
for n in range(20):
    run.log({label: n})
print(f"a line of {label}")
while is_primary and not Path(others_end).exists():
    time.sleep(0.1)
run.finish()
"""


@covers("wandb-shared")
def test_two_processes_write_one_run_and_neither_loses_a_row(project: str, tmp_path: Path) -> None:
    name, others_end = secrets.token_hex(4), tmp_path / "ended"
    primary = started(SHARED, project, name, "primary", str(others_end))
    worker = started(SHARED, project, name, "worker", str(others_end))
    try:
        ended(worker)
        others_end.touch()
        ended(primary)
    finally:
        for process in (primary, worker):
            process.kill()
    stored = read(f"local/{project}/{name}")
    rows = list(stored.scan_history())
    for label in ("primary", "worker"):
        assert sorted(row[label] for row in rows if row.get(label) is not None) == list(range(20)), label
    assert stored.config == {"primary": True, "worker": True}
    assert (stored.summary["primary"], stored.summary["worker"]) == (19, 19)
    assert stored.state == "finished"


KILLED = """
import sys, time
import wandb

project, run_id = sys.argv[1:]
run = wandb.init(project=project, id=run_id, settings=wandb.Settings(x_file_stream_transmit_interval=1))
for n in range(100):
    run.log({"n": n})
time.sleep(600)
"""


@covers("wandb-killed")
def test_what_a_killed_client_had_sent_is_there_and_the_run_goes_on(project: str) -> None:
    name = secrets.token_hex(4)
    process = started(KILLED, project, name)
    try:
        until = time.monotonic() + SCRIPT_TIMEOUT_S
        sent: list[int] = []
        while not sent and time.monotonic() < until:
            assert process.poll() is None, process.communicate()[0]
            time.sleep(0.5)
            sent = steps_of(f"local/{project}/{name}")
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert sent == list(range(len(sent)))
    assert len(sent) > 0
    there = steps_of(f"local/{project}/{name}")
    assert there[: len(sent)] == sent
    assert read(f"local/{project}/{name}").state == "running"

    run = wandb.init(project=project, id=name, resume="must")
    run.log({"n": -1})
    run.finish()
    stored = read(f"local/{project}/{name}")
    assert [row["n"] for row in stored.scan_history()] == [*there, -1]
    assert stored.state == "finished"


def steps_of(path: str) -> list[int]:
    """Steps that the run has by now; none before there is a run."""
    try:
        return [row["n"] for row in read(path).scan_history()]
    except (ValueError, wandb.errors.CommError):
        return []
