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
_PIPE_BYTES = 1 << 16
_MOST_IDLE = 4
"""Processes that are kept for the next task, as many as chats are prepared at a time where cores are few.

Each has about 20 MiB; starting one means starting Python.
"""
_OWN_SHARE_SECONDS = 0.1
"""Time of the processor that a task has at the priority of serving: a hundred times what a chat template takes."""
_NICE = 10
_KEPT_ENVIRONMENT = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "TZ")


class _TooLongError(Exception):
    pass


class Sandbox:
    """As many processes as tasks run at a time. Safe to call from any thread.

    Serving goes first where the processor is short: a task `beside_serving` gives way if it takes long, others at once.
    """

    def __init__(self, seconds: float = 5.0, *, beside_serving: bool = True):
        self._seconds, self._beside_serving = seconds, beside_serving
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
        return _Process(self._seconds, self._beside_serving)

    def _give_back(self, process: "_Process") -> None:
        with self._lock:
            if process.is_alive and len(self._idle) < _MOST_IDLE:
                self._idle.append(process)
                return
        process.end()


class _Process:
    """One task at a time. It is killed when this object is gone."""

    def __init__(self, seconds: float, beside_serving: bool):
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
        self._beside_serving, self._has_given_way = beside_serving, False
        if not beside_serving:
            self._lower()
        self._arrival = select.poll()
        self._arrival.register(self._process.stdout, select.POLLIN)
        self.end = weakref.finalize(self, _kill, self._process)

    @property
    def is_alive(self) -> bool:
        return self._usable and self._process.poll() is None

    def ask(self, task: dict, seconds: float) -> dict:
        """Raises _TooLongError, and EOFError or OSError when the process ends; it is of no use then."""
        self._usable = False
        if not self._ready:
            self._receive(_START_SECONDS, math.inf)
            self._ready = True
        body = json.dumps(task).encode()
        share_ends = self._used_seconds() + _OWN_SHARE_SECONDS if self._beside_serving else math.inf
        self._write(_LENGTH.pack(len(body)) + body)
        answer = self._receive(seconds, share_ends)
        # Nobody may raise the priority of a process again.
        self._usable = not self._has_given_way
        return answer

    def _receive(self, seconds: float, share_ends: float) -> dict:
        """Waits for so many seconds. The process gives way once it has used the processor up to `share_ends`."""
        deadline = time.monotonic() + seconds
        received, whole = bytearray(), _LENGTH.size
        while len(received) < whole:
            received += self._read(deadline, share_ends)
            if len(received) >= _LENGTH.size:
                whole = _LENGTH.size + _LENGTH.unpack_from(received)[0]
        return json.loads(received[_LENGTH.size : whole])

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._process.stdin.write(view) :]

    def _read(self, deadline: float, share_ends: float) -> bytes:
        """Whatever has come, waiting for something."""
        while not self._arrival.poll(min(max(0.0, deadline - time.monotonic()), _OWN_SHARE_SECONDS) * 1000):
            if time.monotonic() >= deadline:
                raise _TooLongError
            if not self._has_given_way and self._used_seconds() >= share_ends:
                self._has_given_way = True
                self._lower()
        part = self._process.stdout.read(_PIPE_BYTES)
        if not part:
            raise EOFError
        return part

    def _lower(self) -> None:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self._process.pid, os.getpriority(os.PRIO_PROCESS, 0) + _NICE)

    def _used_seconds(self) -> float:
        """Time of the processor; by the clock where the system has no name for that of another process."""
        try:
            # Linux's name for it, as clock_getcpuclockid(3) makes it.
            return time.clock_gettime(~self._process.pid << 3 | 2)
        except OSError:
            return time.monotonic()


def _kill(process: subprocess.Popen) -> None:
    process.kill()
    with contextlib.suppress(OSError):
        process.stdin.close()
    process.stdout.close()
    process.wait()
