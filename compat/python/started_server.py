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
    """A started server: its origin, the key of its bootstrap admin, its default entity."""

    url: str
    key: str
    entity: str = "local"

    @property
    def api(self) -> str:
        """Base URL to give to a client."""
        return f"{self.url}/v1"


class ServerProcess:
    """A server process on a data folder of its own, which may be killed and started again."""

    def __init__(self, environment: dict[str, str], key: str | None = None) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="heddle-compat-"))
        self._environment = environment
        self._key = key or secrets.token_hex(24)
        self._process: subprocess.Popen | None = None
        self._port = 0

    @property
    def pid(self) -> int:
        """Of the process that was started last."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> Server:
        """Starts on the same port as before and waits until it answers.

        Raises RuntimeError with the server's own output when it ends or is not ready in time.
        """
        log = self._folder / "server.log"
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [
                    str(ROOT / "node_modules/.bin/node"),
                    "server/src/main.ts",
                    *("--port", str(self._port), "--data-dir", str(self._folder / "data")),
                ],
                cwd=ROOT,
                env={
                    # The refusing proxy is for the clients only, not for the server.
                    **{name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")},
                    "HEDDLE_ADMIN_KEY": self._key,
                    "HEDDLE_ENTITY": "local",
                    **self._environment,
                },
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        server = Server(_wait_until_ready(self._process, log), self._key)
        self._port = int(server.url.rsplit(":", 1)[1])
        return server

    def kill(self) -> None:
        """Kills the process as a crash does: it flushes nothing and closes no connection properly."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Ends the process, also one that never got ready, and removes its folder."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


@contextmanager
def server_process(key: str | None = None, **environment: str) -> Iterator[ServerProcess]:
    """Yields a process that is not started yet; ends it and deletes its data afterwards."""
    process = ServerProcess(environment, key)
    try:
        yield process
    finally:
        process.close()


@contextmanager
def started_server(**environment: str) -> Iterator[Server]:
    """Yields a server on a free port with an empty data folder; ends it and deletes the folder afterwards."""
    with server_process(**environment) as process:
        yield process.start()


def _wait_until_ready(process: subprocess.Popen, log: Path) -> str:
    """Waits until the health page answers 200; returns the URL that the server printed."""
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
