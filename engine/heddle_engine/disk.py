"""Safe writing to disk: syncs, and errors that say which disk is full."""

import contextlib
import errno
import os
import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from safetensors import SafetensorError

from .errors import EngineError


def sync(path: Path) -> None:
    """Returns once the file, or the folder's list of names, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(path: Path) -> None:
    """Creates ``path`` and the folders above it that are missing, their names on the disk."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in missing:
        sync(folder.parent)


def sync_all(paths: Iterable[Path]) -> None:
    """Syncs wait for the disk, so they wait together."""
    waiting = list(paths)
    with ThreadPoolExecutor(len(waiting)) as pool:
        list(pool.map(sync, waiting))


@contextlib.contextmanager
def naming_full_disk(folder: Path, needed_bytes: int) -> Iterator[None]:
    """Raises ``disk_full``, at once when ``folder`` has no room for ``needed_bytes``, or when a write inside fails."""
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise _disk_full(folder, needed_bytes, free)
    try:
        yield
    except (OSError, SafetensorError) as error:
        if not _is_disk_full(error):
            raise
        raise _disk_full(folder, needed_bytes, shutil.disk_usage(folder).free) from error


def _is_disk_full(error: OSError | SafetensorError) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    # The safetensors writer reports an I/O error by its text alone.
    return f"os error {errno.ENOSPC}" in str(error)


def _disk_full(folder: Path, needed_bytes: int, free: int) -> EngineError:
    return EngineError(
        "disk_full",
        f"The disk of {folder} is full: about {needed_bytes} bytes are needed, {free} are free. "
        "Delete old checkpoints or enlarge the disk, then ask again.",
    )
