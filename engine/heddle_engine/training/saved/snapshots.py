"""Snapshots of a running job in its work folder, so that a killed job goes on bit for bit.

A snapshot is one file: the SHA-256 of the rest, then safetensors bytes whose metadata holds the
job's progress. Files are renamed into place but not synced: losing one to a power failure only means
doing its steps again, and the hash tells a torn file from a whole one.
"""

import contextlib
import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

from safetensors.torch import load, save
from torch import Tensor

from ...disk import naming_full_disk

_PATTERN = "snapshot-*.bin"
#: Snapshots take at most this part of the time.
_SHARE = 0.05


class Snapshots:
    """Two files are kept, so that one whole snapshot survives whatever happens to the other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for torn in folder.glob("*.tmp"):
            torn.unlink()
        self._last = time.monotonic()
        self._cost = 0.0

    def newest(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Tensors and progress of the newest whole snapshot; torn ones are removed."""
        for file in sorted(self._folder.glob(_PATTERN), reverse=True):
            content = file.read_bytes()
            digest, body = content[:32], content[32:]
            if hashlib.sha256(body).digest() == digest:
                return load(body), json.loads(_metadata(body)["progress"])
            file.unlink()
        return None

    def due(self) -> bool:
        return self._cost <= _SHARE * (time.monotonic() - self._last)

    def write(self, step: int, tensors: dict[str, Tensor], progress: dict[str, Any]) -> None:
        start = time.monotonic()
        body = save({name: tensor.cpu() for name, tensor in tensors.items()}, {"progress": json.dumps(progress)})
        file = self._folder / f"snapshot-{step:08d}.bin"
        temporary = file.with_suffix(".tmp")
        with naming_full_disk(self._folder, len(body)), temporary.open("wb") as out:
            out.write(hashlib.sha256(body).digest())
            out.write(body)
        os.replace(temporary, file)
        for old in sorted(self._folder.glob(_PATTERN))[:-2]:
            with contextlib.suppress(FileNotFoundError):
                old.unlink()
        self._last = time.monotonic()
        self._cost = self._last - start


def _metadata(body: bytes) -> dict[str, str]:
    """safetensors: an 8-byte little-endian header length, then JSON whose `__metadata__` is free text."""
    length = int.from_bytes(body[:8], "little")
    return json.loads(body[8 : 8 + length])["__metadata__"]
