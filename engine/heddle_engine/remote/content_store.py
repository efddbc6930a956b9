"""Files by content, for servers on other machines: what they name is the SHA-256 of a file, never a path.

Everything lies in the engine's own data folder:

- ``partial/<digest>``: what has come of a file so far; an upload that broke off goes on behind it;
- ``blobs/<digest>``: whole files, checked before they appear under their name;
- ``folders/<digest of their list>``: adapters, as hard links to blobs, because PEFT's files are read by their names;
- ``jobs/<id>``: snapshots of training jobs and what they made;
- ``making/<id>``: what is made for a call, until its files are adopted as blobs.

The store has a limit: what was used longest ago goes first. A server sends again what has gone.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..disk import naming_full_disk, sync
from ..errors import EngineError

CHUNK_BYTES = 1 << 20
_DIGEST = re.compile(r"[0-9a-f]{64}")
_JOB = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FILES_OF_ADAPTER = ("adapter_config.json", "adapter_model.safetensors", "optimizer.safetensors")
_GRACE_S = 600
"""After its last use: so long a call may take from naming a file to opening it."""


class ContentStore:
    """Safe to call from any thread."""

    def __init__(self, folder: Path, most_bytes: int):
        """Raises ``BlockingIOError`` when another engine has the folder."""
        self.most_bytes = most_bytes
        self._partial, self._blobs = folder / "partial", folder / "blobs"
        self._folders, self._jobs = folder / "folders", folder / "jobs"
        self._making = folder / "making"
        for each in (self._partial, self._blobs, self._folders, self._jobs, self._making):
            each.mkdir(parents=True, exist_ok=True)
        self._owned = (folder / "lock").open("w")
        fcntl.flock(self._owned, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for torn in (*self._folders.glob("*.tmp"), *self._making.iterdir()):
            shutil.rmtree(torn)
        self._changing = threading.RLock()
        self._held: Counter[Path] = Counter()
        # Apart from the other, which is kept while a large file is checked: the event loop takes this one.
        self._holding = threading.Lock()

    def lacking(self, digests: Iterable[str]) -> list[dict]:
        """Of each file that is not here, how much of it has come."""
        paths = [self._blob(digest) for digest in digests]
        return [{"sha256": path.name, "have": self._have(path.name)} for path in paths if not self._use(path)]

    def put(self, digest: str, size: int, offset: int, data: bytes) -> dict:
        """Appends a piece. A caller whose ``offset`` is not where the file ends is told where to go on.

        Raises ``invalid`` when the whole file has another digest, and forgets it then.
        """
        blob, partial = self._blob(digest), self._partial / digest
        if size > self.most_bytes:
            raise EngineError("disk_full", f"A file of {size} bytes is larger than the engine's store (--store-bytes).")
        with self._changing:
            if self._use(blob):
                return {"have": size, "stored": True}
            have = self._have(digest)
            if offset == have and have + len(data) <= size:
                with naming_full_disk(self._partial, size - have), partial.open("ab") as out:
                    out.write(data)
                have += len(data)
            if have < size:
                return {"have": have, "stored": False}
            with partial.open("rb") as content:
                found = hashlib.file_digest(content, "sha256").hexdigest()
            if found != digest:
                partial.unlink()
                raise EngineError(
                    "invalid", f"A file came with SHA-256 {found}, not {digest}. Send it again.", "sha256"
                )
            sync(partial)
            os.replace(partial, blob)
            self._use(blob)
            self._make_room()
        return {"have": size, "stored": True}

    def get(self, digest: str, offset: int) -> bytes:
        """At most a chunk of a file that is here."""
        with self.file(digest).open("rb") as content:
            content.seek(offset)
            return content.read(CHUNK_BYTES)

    def file(self, digest: str) -> Path:
        """Raises ``unavailable`` when it is not here: its server sends it and tries again."""
        path = self._blob(digest)
        if not self._use(path):
            raise EngineError("unavailable", f"The engine has no file {digest} (any more).", "files")
        return path

    def known_folder(self, files: list[dict]) -> Path | None:
        """As ``folder``, when it was made before. Takes microseconds."""
        path = self._folder_path(files)
        return path if self._use(path) else None

    def folder(self, files: list[dict]) -> Path:
        """A PEFT folder of files that are here, by their names there. Raises ``unavailable`` and ``invalid``."""
        path = self._folder_path(files)
        with self._changing:
            if self._use(path):
                return path
            temporary = path.with_suffix(".tmp")
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir()
            for file in files:
                os.link(self.file(file["sha256"]), temporary / file["name"])
            os.rename(temporary, path)
        return path

    def adopt(self, folder: Path) -> list[dict]:
        """Takes the files of a folder, which never change again, for whoever asks for them by digest."""
        files = []
        for path in sorted(folder.iterdir()):
            with path.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            with self._changing:
                if not self._use(self._blobs / digest):
                    os.link(path, self._blobs / digest)
            files.append({"name": path.name, "sha256": digest, "size": path.stat().st_size})
        with self._changing:
            self._make_room()
        return files

    def new_folder(self) -> Path:
        """An empty folder, which whoever asked for it removes. A start removes those that were left."""
        path = self._making / uuid.uuid4().hex
        path.mkdir()
        return path

    def job(self, job_id: str) -> Path:
        """The folder of a job. Raises ``invalid`` for a name that is none of a job."""
        if not _JOB.fullmatch(job_id):
            raise EngineError("invalid", f"{job_id!r} is no id of a job.", "job_id")
        return self._jobs / job_id

    def forget_job(self, job_id: str) -> None:
        shutil.rmtree(self.job(job_id), ignore_errors=True)

    @contextmanager
    def held(self, *paths: Path) -> Iterator[None]:
        """They do not go meanwhile, and count as used until the end."""
        with self._holding:
            self._held.update(paths)
        try:
            yield
        finally:
            with self._holding:
                self._held.subtract(paths)
                self._held += Counter()
            for path in paths:
                self._use(path)

    def _folder_path(self, files: list[dict]) -> Path:
        listed = sorted((file["name"], self._blob(file["sha256"]).name) for file in files)
        for name, _ in listed:
            if name not in _FILES_OF_ADAPTER:
                raise EngineError("invalid", f"{name!r} is no file of an adapter ({', '.join(_FILES_OF_ADAPTER)}).")
        return self._folders / hashlib.sha256(json.dumps(listed).encode()).hexdigest()

    def _blob(self, digest: str) -> Path:
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise EngineError("invalid", f"{digest!r} is no SHA-256 in lower-case hexadecimal digits.", "sha256")
        return self._blobs / digest

    def _have(self, digest: str) -> int:
        try:
            return (self._partial / digest).stat().st_size
        except FileNotFoundError:
            return 0

    def _use(self, path: Path) -> bool:
        """False when it is not there."""
        try:
            os.utime(path)
        except FileNotFoundError:
            return False
        return True

    def _make_room(self) -> None:
        """A file that is linked to from several places goes with the last of them."""
        kinds = (self._partial, self._blobs, self._folders, self._jobs)
        entries = {entry: _used_at(entry) for kind in kinds for entry in kind.iterdir()}
        files = {entry: list(_files_in(entry)) for entry in entries}
        links = Counter(inode for inodes in files.values() for inode, _ in inodes)
        total = sum(dict(file for inodes in files.values() for file in inodes).values())
        latest = time.time() - _GRACE_S
        with self._holding:
            held = set(self._held)
        for entry in sorted(entries, key=lambda entry: entries[entry]):
            if total <= self.most_bytes or entries[entry] > latest:
                return
            if entry in held:
                continue
            _remove(entry)
            for inode, size in files[entry]:
                links[inode] -= 1
                total -= 0 if links[inode] else size


# Jobs write, replace and remove files of theirs meanwhile.


def _used_at(path: Path) -> float:
    found = _stat(path)
    return found.st_mtime if found else 0


def _files_in(path: Path) -> Iterator[tuple[int, int]]:
    """Inode and size of each."""
    names = (Path(folder, name) for folder, _, names in os.walk(path) for name in names)
    for file in names if path.is_dir() else [path]:
        if found := _stat(file):
            yield found.st_ino, found.st_size


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _remove(entry: Path) -> None:
    if entry.is_dir():
        shutil.rmtree(entry, ignore_errors=True)
    else:
        entry.unlink(missing_ok=True)
