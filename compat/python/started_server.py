"""Starts the real server, with its real engine, for one test session."""

import os
import re
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[2]
READY_TIMEOUT_S = 240.0


@dataclass(frozen=True)
class Server:
    """A server that answers: its origin, the key of its bootstrap admin, its default entity."""

    url: str
    key: str
    entity: str = "local"

    @property
    def api(self) -> str:
        """Base URL to give to a client."""
        return f"{self.url}/v1"


@contextmanager
def started_server(**environment: str) -> Iterator[Server]:
    """A server on a free port with an empty data folder; both are gone afterwards.

    Raises RuntimeError with the server's own output when it ends or is not ready in time.
    """
    folder = Path(tempfile.mkdtemp(prefix="heddle-compat-"))
    key = secrets.token_hex(24)
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                str(ROOT / "node_modules/.bin/node"),
                "server/src/main.ts",
                *("--port", "0", "--data-dir", str(folder / "data")),
            ],
            cwd=ROOT,
            env={**os.environ, "HEDDLE_ADMIN_KEY": key, "HEDDLE_ENTITY": "local", **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield Server(_wait_until_ready(process, log), key)
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_until_ready(process: subprocess.Popen, log: Path) -> str:
    """The printed URL, once its health page answers 200."""
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        printed = re.search(r"http://127\.0\.0\.1:\d+", log.read_text(errors="replace"))
        if printed and _is_healthy(printed.group()):
            return printed.group()
        time.sleep(0.1)
    ended = process.poll()
    why = "not ready in time" if ended is None else f"ended with {ended}"
    raise RuntimeError(f"the server is {why}:\n{log.read_text(errors='replace')[-4000:]}")


def _is_healthy(url: str) -> bool:
    try:
        with urlopen(f"{url}/v1/health", timeout=5) as answer:
            return answer.status == 200
    except (URLError, OSError):
        return False
