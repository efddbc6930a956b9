"""A job that is stopped before its end, as by a pause, goes on after its last gradient step (engine 5.6)."""

import errno
import json
from pathlib import Path

import pytest

from heddle_engine.training.jobs import TrainingJob
from heddle_engine.training.saved.snapshots import Snapshots
from tests.training.jobs_support import cpu_bases, job_params, pair_lines, sampled_groups

SFT_LINES = [
    {"messages": [{"role": "user", "content": "say"}, {"role": "assistant", "content": text}]}
    for text in ("in the inn", "at the mill", "on the hill", "by the sea")
] * 2


@pytest.fixture(scope="module")
def folder(model_folders, request):
    return model_folders(getattr(request, "param", "qwen3"))


@pytest.fixture(autouse=True)
def no_other_snapshots(monkeypatch):
    """Turns off the snapshots of running jobs, which depend on the clock."""
    monkeypatch.setattr(Snapshots, "due", lambda _self: False)


@pytest.fixture(scope="module")
def lines(folder):
    pairs = pair_lines([("in the inn", "at"), ("at the mill", "no"), ("on the hill", "so")] * 2)
    return {"rl": sampled_groups(folder, groups=4), "sft": SFT_LINES, "dpo": pairs}


def job_of(folder, tmp_path, lines, kind, name) -> dict:
    params = job_params(folder, tmp_path, lines[kind], kind, name=name)
    return {**params, "record_dir": str(tmp_path / f"{name}-record")} if kind == "rl" else params


def told(event) -> list:
    data = json.loads(json.dumps(event.data))
    data.get("metrics", {}).pop("tokens_per_second", None)
    return [event.kind, data]


def run_for(params, turns: int | None) -> tuple[list, bool]:
    """Runs a job for so many turns and stops it; returns its events, and True when it ended before."""
    job = TrainingJob(params, cpu_bases().load(params["base"]))
    events, running = [], job.run()
    while turns is None or turns > 0:
        event = next(running, "ended")
        if event == "ended":
            return events, True
        if event is not None:
            events.append(told(event))
        turns = None if turns is None else turns - 1
    running.close()
    return events, False


def adapter(params) -> bytes:
    return (Path(params["output"]["path"]) / "adapter_model.safetensors").read_bytes()


def record(params) -> dict:
    return {file.name: file.read_bytes() for file in Path(params.get("record_dir", "none")).glob("*")}


def num_steps(events) -> int:
    return sum(kind == "gradient_step" for kind, _ in events)


@pytest.mark.parametrize(
    "folder", ["qwen3", "qwen3_moe_mixed", "qwen3_next_mixed", "qwen3_5", "qwen3_5_moe"], indirect=True
)
@pytest.mark.parametrize("kind", ["rl", "sft", "dpo"])
def test_a_job_stopped_at_every_turn_in_turn_ends_bit_for_bit_the_same(kind, folder, lines, tmp_path):
    whole = job_of(folder, tmp_path, lines, kind, "whole")
    expected, _ = run_for(whole, None)
    assert num_steps(expected) > 2
    stopped = job_of(folder, tmp_path, lines, kind, "stopped")
    turns, done, has_ended = 0, 0, False
    while not has_ended:
        turns += 1
        events, has_ended = run_for(stopped, turns)
        assert events == expected[: len(events)]
        saved = Snapshots(Path(stopped["work_dir"])).newest()
        # Reported steps are not done again, and none is skipped.
        assert (saved[1]["gradient_steps"] if saved else 0) >= max(done, num_steps(events) if not has_ended else 0)
        done = max(done, num_steps(events))
    assert events == expected
    assert adapter(stopped) == adapter(whole)
    assert record(stopped) == record(whole)


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), MemoryError()])
def test_a_stop_for_which_there_is_no_room_stops_all_the_same(failure, folder, lines, tmp_path, monkeypatch, caplog):
    def full(*_arguments):
        raise failure

    params = job_of(folder, tmp_path, lines, "sft", "job")
    with monkeypatch.context() as patch:
        patch.setattr(Snapshots, "write", full)
        events, has_ended = run_for(params, len(SFT_LINES) + 4)
    assert (num_steps(events) > 0, has_ended) == (True, False)
    assert "job was stopped without a snapshot of its last step" in caplog.text
    again, has_ended = run_for(params, None)
    assert (again[: len(events)], has_ended) == (events, True)
