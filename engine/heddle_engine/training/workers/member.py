"""A training worker seen from the engine: what it was given, and what came of that."""

import itertools
import queue
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from torch import Tensor

from ...errors import EngineError
from .frames import Message, encode, receive

_HUNG_S = 120.0
"""A worker that has work and makes no progress for so long is killed; as the server does with an engine."""

_numbers = itertools.count(1)


class Task:
    """A share that a worker has. Once it is done, exactly one of ``answer``, ``error`` and ``lost`` is set.

    ``lost`` says how the worker ended.
    """

    def __init__(self, member: "Member"):
        self.number = next(_numbers)
        self.began = time.monotonic()
        self.answer: Message | None = None
        self.error: EngineError | None = None
        self.lost: str | None = None
        self._member, self._done = member, threading.Event()

    def wait(self, seconds: float) -> bool:
        """Whether it is done, for which this waits a while."""
        self._member.kill_if_hung()
        return self._done.wait(seconds)

    def drop(self) -> None:
        """Nobody wants it any more; nothing happens where it is done."""
        self._member.drop(self)

    def settle(self, answer: Message | None = None, error: EngineError | None = None, lost: str | None = None) -> None:
        self.answer, self.error, self.lost = answer, error, lost
        self._done.set()


class Member:
    """One place of the group. Its worker may be missing, and another one take the place. Used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tasks: dict[int, Task] = {}
        self._outbox: queue.SimpleQueue[bytes | None] | None = None
        self._kill: Callable[[], None] = lambda: None
        self._progress, self._moved = -1, 0.0
        self._hung = False

    @property
    def is_ready(self) -> bool:
        return self._outbox is not None

    def begin(self, content: dict[str, Any], tensors: dict[str, Tensor]) -> Task | None:
        """Give it a share; None where there is no worker."""
        task = Task(self)
        frame = encode({"share": task.number, **content}, tensors)
        with self._lock:
            if self._outbox is None:
                return None
            self._tasks[task.number] = task
            self._outbox.put(frame)
        return task

    def tell(self, content: dict[str, Any]) -> None:
        """Nothing happens where there is no worker."""
        with self._lock:
            if self._outbox is not None:
                self._outbox.put(encode(content))

    def drop(self, task: Task) -> None:
        with self._lock:
            wanted = self._tasks.pop(task.number, None)
        if wanted:
            self.tell({"drop": task.number})

    def kill_if_hung(self) -> None:
        with self._lock:
            oldest = min((task.began for task in self._tasks.values()), default=None)
            hung = oldest is not None and time.monotonic() - max(oldest, self._moved) > _HUNG_S
            self._hung |= hung
        if hung:
            self.kill()

    def kill(self) -> None:
        """End the worker, if there is one, or the connection to it."""
        with self._lock:
            kill = self._kill
        kill()

    def serve(self, connection: socket.socket, kill: Callable[[], None]) -> None:
        """Carry frames until the worker at the other end is gone; :meth:`lose` is due then."""
        outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        threading.Thread(target=_send_all, args=(connection, outbox), name="to-worker", daemon=True).start()
        while (message := receive(connection)) is not None:
            content = message[0]
            if "ready" in content:
                with self._lock:
                    self._outbox, self._kill = outbox, kill
            elif "progress" in content:
                self._advance(content["progress"])
            else:
                self._settle(message)
        outbox.put(None)

    def lose(self, how: str, who: str = "it") -> str:
        """The worker ``who`` is gone: its tasks are lost. Returns ``how``, or why :meth:`kill_if_hung` ended it."""
        with self._lock:
            tasks, self._tasks = self._tasks, {}
            self._outbox, self._kill = None, lambda: None
            if self._hung:
                how = f"{who} made no progress for {_HUNG_S:g} s"
            self._hung = False
        for task in tasks.values():
            task.settle(lost=how)
        return how

    def _advance(self, progress: int) -> None:
        with self._lock:
            if progress != self._progress:
                self._progress, self._moved = progress, time.monotonic()

    def _settle(self, message: Message) -> None:
        content = message[0]
        with self._lock:
            task = self._tasks.pop(content.get("done", content.get("failed")), None)
        if task is None:
            return
        if error := content.get("error"):
            task.settle(error=EngineError(error["kind"], error["message"], error.get("param")))
        else:
            task.settle(answer=message)


def _send_all(connection: socket.socket, outbox: "queue.SimpleQueue[bytes | None]") -> None:
    while (frame := outbox.get()) is not None:
        try:
            connection.sendall(frame)
        except OSError:
            return  # whoever reads notices it too
