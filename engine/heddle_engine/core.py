"""The serving thread: one batcher per base model, stepped in turn."""

import logging
import threading
from collections import deque
from collections.abc import Callable

from .bases import Base
from .errors import EngineError
from .memory import kv_bytes
from .serving.batching import Batcher
from .serving.generation import Request
from .serving.scoring import Score
from .threads import use_cores

log = logging.getLogger(__name__)


class ServingThread:
    """Runs requests handed over by any thread. `flush` is called on it after every step."""

    def __init__(self, flush: Callable[[], None], cores: int, limit_bytes: int | None = None):
        self._flush, self._cores, self._limit = flush, cores, limit_bytes
        self._inbox: deque[Callable[[], None]] = deque()
        self._wake = threading.Condition()
        self._batchers: dict[Base, Batcher] = {}
        self._stopping = False
        self.progress = 0
        self._thread = threading.Thread(target=self._run, name="serving", daemon=True)
        self._thread.start()

    def submit(self, base: Base, request: Request) -> None:
        def enter():
            try:
                self._batcher(base).submit(request)
            except Exception as error:
                log.exception("a request could not enter the batch")
                request.sink.failed(EngineError("internal", f"{type(error).__name__}: {error}"))

        self._post(enter)

    def submit_score(self, base: Base, score: Score) -> None:
        self._post(lambda: self._batcher(base).submit_score(score))

    def cancel(self, request: Request | Score) -> None:
        """The request's places are free at the next step; its sink hears nothing more of it."""
        request.cancelled = True
        self._post(lambda: None)

    @property
    def running(self) -> int:
        return sum(batcher.num_running for batcher in list(self._batchers.values()))

    @property
    def waiting(self) -> int:
        return sum(batcher.num_waiting for batcher in list(self._batchers.values()))

    def stop(self) -> None:
        self._stopping = True
        self._post(lambda: None)
        self._thread.join(timeout=5)

    def _post(self, action: Callable[[], None]) -> None:
        with self._wake:
            self._inbox.append(action)
            self._wake.notify()

    def _batcher(self, base: Base) -> Batcher:
        if base not in self._batchers:
            limit = self._limit or kv_bytes(base.decoder.device)
            self._batchers[base] = Batcher(base.decoder, limit, limit // 4)
        return self._batchers[base]

    def _run(self) -> None:
        use_cores(self._cores)
        while not self._stopping:
            busy = [batcher for batcher in self._batchers.values() if batcher.busy]
            with self._wake:
                while not (self._inbox or busy or self._stopping):
                    self._wake.wait()
                arrived, self._inbox = self._inbox, deque()
            for action in arrived:
                action()
            for batcher in [batcher for batcher in self._batchers.values() if batcher.busy]:
                batcher.step()
                self.progress += 1
            self._flush()
