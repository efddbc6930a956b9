"""Checkpoint folders that appear whole or not at all, with a manifest of every file (engine 5.6)."""

import contextlib
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from .errors import EngineError

ADAPTER_FILES = ("adapter_config.json", "adapter_model.safetensors")
OPTIMIZER_FILE = "optimizer.safetensors"
STATE_FILE = "state.json"
MANIFEST_FILE = "manifest.json"


@dataclass(frozen=True)
class Written:
    size_bytes: int
    manifest_sha256: str


@dataclass(frozen=True)
class OptimizerState:
    """AdamW moments [P] in the order of ``layout`` (names and shapes), and the kind of job that made them."""

    kind: str
    steps: int
    layout: list[tuple[str, list[int]]]
    mean: Tensor
    square: Tensor


def write_folder(path: Path, owner: str, needed_bytes: int, fill: Callable[[Path], None]) -> Written:
    """Creates folder ``path`` with the files that ``fill`` writes into the folder it is given.

    Order: files, fsync of each, manifest, fsync, rename, fsync of the parent. ``owner`` names the
    temporary folder, so that a repeated attempt clears what a killed one left. Raises ``disk_full``,
    and ``invalid`` when ``path`` is there already.
    """
    if path.exists():
        raise EngineError("invalid", f"checkpoint folder {path} exists and is not this job's work", "output.path")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{path.name}.{owner}.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    with _disk_full_named(path.parent, needed_bytes):
        try:
            temporary.mkdir()
            fill(temporary)
            written = _seal(temporary)
            os.rename(temporary, path)
            _sync(path.parent)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    return written


def describe_folder(path: Path) -> Written:
    """The figures of a folder that :func:`write_folder` made earlier."""
    manifest = (path / MANIFEST_FILE).read_bytes()
    size = sum(entry["size"] for entry in json.loads(manifest)["files"].values())
    return Written(size + len(manifest), hashlib.sha256(manifest).hexdigest())


def read_state(path: Path) -> dict[str, Any] | None:
    """`state.json` of a checkpoint folder, None where there is none (an adapter made elsewhere)."""
    try:
        return json.loads((path / STATE_FILE).read_text())
    except FileNotFoundError:
        return None


def write_state(folder: Path, state: dict[str, Any]) -> None:
    (folder / STATE_FILE).write_text(json.dumps(state) + "\n")


def write_optimizer(folder: Path, state: OptimizerState) -> None:
    metadata = {"kind": state.kind, "steps": str(state.steps), "layout": json.dumps(state.layout)}
    save_file({"mean": state.mean.cpu(), "square": state.square.cpu()}, folder / OPTIMIZER_FILE, metadata)


def read_optimizer(folder: Path) -> OptimizerState | None:
    """None when the folder holds no optimizer state."""
    file = folder / OPTIMIZER_FILE
    if not file.exists():
        return None
    with safe_open(file, "pt") as tensors:
        metadata = tensors.metadata()
        layout = [(name, shape) for name, shape in json.loads(metadata["layout"])]
        steps = int(metadata["steps"])
        return OptimizerState(metadata["kind"], steps, layout, tensors.get_tensor("mean"), tensors.get_tensor("square"))


def link_files(source: Path, names: tuple[str, ...], folder: Path) -> None:
    """Hard links, or copies across file systems, of those of ``names`` that ``source`` has."""
    for name in names:
        if (source / name).exists():
            try:
                os.link(source / name, folder / name)
            except OSError:
                shutil.copyfile(source / name, folder / name)


def _seal(folder: Path) -> Written:
    files = sorted(folder.iterdir())
    # Syncs wait for the disk, so they wait together.
    with ThreadPoolExecutor(max(1, len(files))) as pool:
        entries = dict(zip((file.name for file in files), pool.map(_sync_and_hash, files), strict=True))
    manifest = folder / MANIFEST_FILE
    manifest.write_text(json.dumps({"files": entries}, indent=1) + "\n")
    _sync(manifest)
    _sync(folder)
    return describe_folder(folder)


def _sync_and_hash(file: Path) -> dict[str, Any]:
    _sync(file)
    with file.open("rb") as content:
        return {"size": file.stat().st_size, "sha256": hashlib.file_digest(content, "sha256").hexdigest()}


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _disk_full_named(folder: Path, needed_bytes: int) -> Iterator[None]:
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise _disk_full(folder, needed_bytes, free)
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise _disk_full(folder, needed_bytes, shutil.disk_usage(folder).free) from error
    except SafetensorError as error:
        # The safetensors writer reports an I/O error by its text alone.
        if f"os error {errno.ENOSPC}" not in str(error):
            raise
        raise _disk_full(folder, needed_bytes, shutil.disk_usage(folder).free) from error


def _disk_full(folder: Path, needed_bytes: int, free: int) -> EngineError:
    return EngineError(
        "disk_full",
        f"the disk of {folder} is full: the checkpoint needs about {needed_bytes} bytes, {free} are free. "
        "Delete old checkpoints or enlarge the disk, then train again.",
    )
