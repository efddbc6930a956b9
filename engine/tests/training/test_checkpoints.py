"""Checkpoint folders appear whole or not at all, and torn snapshots are survived (engine 5.6)."""

import errno
import hashlib
import json
import os
from types import SimpleNamespace

import pytest
import torch
from safetensors import SafetensorError

from heddle_engine.errors import EngineError
from heddle_engine.training.saved import snapshots
from heddle_engine.training.saved.checkpoints import (
    OptimizerState,
    describe_folder,
    read_optimizer,
    write_folder,
    write_optimizer,
)
from heddle_engine.training.saved.snapshots import Snapshots


def fill(folder):
    (folder / "a").write_bytes(b"alpha")
    (folder / "b").write_bytes(b"")


def test_the_manifest_lists_every_file(tmp_path):
    written = write_folder(tmp_path / "step", "job", 0, fill)
    manifest = (tmp_path / "step" / "manifest.json").read_bytes()
    assert json.loads(manifest)["files"] == {
        "a": {"size": 5, "sha256": "8ed3f6ad685b959ead7022518e1af76cd816f8e8ec7ccdda1ed4018e8f2223f8"},
        "b": {"size": 0, "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    }
    assert written.manifest_sha256 == hashlib.sha256(manifest).hexdigest()
    assert written.size_bytes == 5 + len(manifest)
    assert describe_folder(tmp_path / "step") == written
    assert [path.name for path in tmp_path.iterdir()] == ["step"]


def test_the_names_of_new_folders_above_are_on_the_disk_too(tmp_path, monkeypatch):
    """A checkpoint on disk is lost in a power failure when the name of a folder above it is not on disk."""
    synced = []
    fsync = os.fsync

    def recording(descriptor):
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", recording)
    write_folder(tmp_path / "project" / "model" / "step", "job", 0, fill)
    assert {str(tmp_path), str(tmp_path / "project"), str(tmp_path / "project" / "model")} <= set(synced)


def test_a_failed_write_leaves_nothing(tmp_path):
    def broken(folder):
        fill(folder)
        raise RuntimeError("lost")

    with pytest.raises(RuntimeError, match="lost"):
        write_folder(tmp_path / "step", "job", 0, broken)
    assert list(tmp_path.iterdir()) == []


def test_files_that_a_killed_attempt_left_are_cleared(tmp_path):
    stale = tmp_path / ".step.job.tmp"
    stale.mkdir()
    (stale / "half").write_bytes(b"x")
    write_folder(tmp_path / "step", "job", 0, fill)
    assert {path.name for path in (tmp_path / "step").iterdir()} == {"a", "b", "manifest.json"}
    assert not stale.exists()


def test_an_existing_folder_is_never_replaced(tmp_path):
    write_folder(tmp_path / "step", "job", 0, fill)
    with pytest.raises(EngineError, match="exists") as refused:
        write_folder(tmp_path / "step", "job", 0, fill)
    assert refused.value.kind == "invalid"


DISK_FULL = [OSError(errno.ENOSPC, "No space left on device"), SafetensorError("I/O error: (os error 28)")]


@pytest.mark.parametrize("failure", DISK_FULL)
def test_a_full_disk_is_named(tmp_path, failure):
    def no_room(folder):
        raise failure

    told = f"The disk of {tmp_path} is full.*about 4096 bytes.*then ask again"
    with pytest.raises(EngineError, match=told) as refused:
        write_folder(tmp_path / "step", "job", 4096, no_room)
    assert refused.value.kind == "disk_full"
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_larger_than_the_disk_is_refused_before_writing(tmp_path):
    with pytest.raises(EngineError, match="is full") as refused:
        write_folder(tmp_path / "step", "job", 2**62, fill)
    assert refused.value.kind == "disk_full"


def test_optimizer_state_round_trip(tmp_path):
    state = OptimizerState("rl", 7, [("0.qkv.a", [2, 3])], torch.randn(6), torch.rand(6))
    write_optimizer(tmp_path, state)
    found = read_optimizer(tmp_path)
    assert (found.kind, found.steps, found.layout) == ("rl", 7, [("0.qkv.a", [2, 3])])
    assert torch.equal(found.mean, state.mean)
    assert torch.equal(found.square, state.square)


def test_no_optimizer_state_is_none(tmp_path):
    assert read_optimizer(tmp_path) is None


def write_three(folder):
    snapshots = Snapshots(folder)
    for step in (1, 2, 3):
        snapshots.write(step, {"x": torch.full((4,), float(step))}, {"gradient_steps": step})


def newest(folder):
    found = Snapshots(folder).newest()
    return found and (found[0]["x"].tolist(), found[1])


def test_the_newest_snapshot_wins_and_old_ones_go(tmp_path):
    write_three(tmp_path)
    assert newest(tmp_path) == ([3.0] * 4, {"gradient_steps": 3})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["snapshot-00000002.bin", "snapshot-00000003.bin"]


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b[:40], lambda b: b"", lambda b: bytes(len(b))])
def test_a_torn_snapshot_is_removed_and_the_one_before_used(tmp_path, damage):
    write_three(tmp_path)
    file = tmp_path / "snapshot-00000003.bin"
    file.write_bytes(damage(file.read_bytes()))
    (tmp_path / "snapshot-00000004.tmp").write_bytes(b"half")
    assert newest(tmp_path) == ([2.0] * 4, {"gradient_steps": 2})
    assert [path.name for path in tmp_path.iterdir()] == ["snapshot-00000002.bin"]


def test_no_snapshot_is_none(tmp_path):
    assert newest(tmp_path / "new") is None


def test_snapshots_take_a_twentieth_of_the_time_however_long_one_takes(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(snapshots, "time", SimpleNamespace(monotonic=lambda: now[0]))
    real = snapshots.save

    def slow(*args):
        now[0] += 2
        return real(*args)

    monkeypatch.setattr(snapshots, "save", slow)
    kept = Snapshots(tmp_path)
    assert kept.due()
    kept.write(1, {"x": torch.zeros(1)}, {})
    now[0] += 39.9
    assert not kept.due()
    now[0] += 0.2
    assert kept.due()
