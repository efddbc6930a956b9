"""Checkpoint folders that appear whole or not at all, with a manifest of every file (engine 5.6)."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from ...disk import make_folder, naming_full_disk, sync, sync_all
from ...errors import EngineError

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

    Order: files, manifest, fsync of each, of the folder, rename, fsync of the parent. ``owner`` names the
    temporary folder, so that a repeated attempt clears what a killed one left. Raises ``disk_full``,
    and ``invalid`` when ``path`` is there already.
    """
    if path.exists():
        raise EngineError("invalid", f"Checkpoint folder {path} exists and is not this job's work.", "output.path")
    make_folder(path.parent)
    temporary = path.parent / f".{path.name}.{owner}.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    with naming_full_disk(path.parent, needed_bytes):
        try:
            temporary.mkdir()
            fill(temporary)
            _seal(temporary)
            os.rename(temporary, path)
            sync(path.parent)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    return describe_folder(path)


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


def _seal(folder: Path) -> None:
    """Writes the manifest and puts everything on the disk."""
    files = sorted(folder.iterdir())
    manifest = folder / MANIFEST_FILE
    manifest.write_text(json.dumps({"files": {file.name: _entry(file) for file in files}}, indent=1) + "\n")
    sync_all([*files, manifest])
    sync(folder)


def _entry(file: Path) -> dict[str, Any]:
    with file.open("rb") as content:
        return {"size": file.stat().st_size, "sha256": hashlib.file_digest(content, "sha256").hexdigest()}
