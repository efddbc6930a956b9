"""Runs what strangers wrote in processes that can be killed: chat templates, and the first compilation of grammars."""

import contextlib
import json
import math
import os
import select
import struct
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

from ..errors import EngineError

_LENGTH = struct.Struct(">I")
_PACKAGE_ROOT = Path(__file__).parents[2]
_START_SECONDS = 60.0
_MOST_IDLE = 2
"""Processes that are kept for the next task; each has about 20 MiB."""
_KEPT_ENVIRONMENT = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "TZ")


class _TooLongError(Exception):
    pass


class Sandbox:
    """As many processes as tasks run at a time. Safe to call from any thread."""

    def __init__(self, seconds: float = 5.0):
        self._seconds = seconds
        self._idle: list[_Process] = []
        self._lock = threading.Lock()

    def run(self, what: str, task: dict, param: str | None = None):
        """The result of `task` (`sandbox_process`). `what` names it for people.

        Raises `invalid` when it is refused, takes too long or ends its process.
        """
        process = self._take()
        try:
            answer = process.ask(task, self._seconds)
        except _TooLongError:
            raise EngineError("invalid", f"{what} took longer than {self._seconds:g} s.", param) from None
        except (EOFError, OSError) as error:
            raise EngineError("invalid", f"{what} ended its process: it needs too much memory.", param) from error
        finally:
            self._give_back(process)
        if "refused" in answer:
            raise EngineError("invalid", answer["refused"], param)
        return answer["result"]

    def start(self) -> None:
        """Have a process ready for the first task."""
        self._give_back(self._take())

    def _take(self) -> "_Process":
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.is_alive:
                    return process
        return _Process(self._seconds)

    def _give_back(self, process: "_Process") -> None:
        with self._lock:
            if process.is_alive and len(self._idle) < _MOST_IDLE:
                self._idle.append(process)
                return
        process.end()


class _Process:
    """One task at a time. It is killed when this object is gone."""

    def __init__(self, seconds: float):
        command = [sys.executable, "-m", "heddle_engine.text.sandbox_process", str(math.ceil(seconds) + 1)]
        self._process = subprocess.Popen(
            command,
            cwd=_PACKAGE_ROOT,
            env={name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self._usable, self._ready = True, False
        self.end = weakref.finalize(self, _kill, self._process)

    @property
    def is_alive(self) -> bool:
        return self._usable and self._process.poll() is None

    def ask(self, task: dict, seconds: float) -> dict:
        """Raises _TooLongError, and EOFError or OSError when the process ends; it is of no use then."""
        self._usable = False
        if not self._ready:
            self._receive(_START_SECONDS)
            self._ready = True
        body = json.dumps(task).encode()
        self._write(_LENGTH.pack(len(body)) + body)
        answer = self._receive(seconds)
        self._usable = True
        return answer

    def _receive(self, seconds: float) -> dict:
        deadline = time.monotonic() + seconds
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size, deadline))
        return json.loads(self._read(length, deadline))

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._process.stdin.write(view) :]

    def _read(self, count: int, deadline: float) -> bytes:
        parts, arrival = [], select.poll()
        arrival.register(self._process.stdout, select.POLLIN)
        while count:
            if not arrival.poll(max(0.0, deadline - time.monotonic()) * 1000):
                raise _TooLongError
            part = self._process.stdout.read(min(count, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


def _kill(process: subprocess.Popen) -> None:
    process.kill()
    with contextlib.suppress(OSError):
        process.stdin.close()
    process.stdout.close()
    process.wait()
