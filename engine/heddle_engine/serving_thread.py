"""The engine's own backend: one thread, with one batcher per base model, stepped in turn."""

import logging
import threading
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext

import torch

from . import progress
from .bases import Base
from .faults import as_engine_error
from .memory import serving_plan
from .pace import tokens_computed
from .serving.batching import MAX_ROWS, Batcher
from .serving.generation import Request
from .settings import Settings
from .streams import serve_first
from .threads import use_cores

log = logging.getLogger(__name__)


class ServingThread:
    """Runs requests handed over by any thread. `flush` is called on it after every step."""

    def __init__(self, flush: Callable[[], None], cores: int, settings: Settings, device: torch.device):
        self._flush, self._cores, self._settings, self._device = flush, cores, settings, device
        # Steps on a GPU leave the cores to others.
        self._computing = nullcontext if device.type == "cuda" else tokens_computed
        self._inbox: deque[Callable[[], None]] = deque()
        self._wake = threading.Condition()
        self._batchers: dict[Base, Batcher] = {}
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="serving", daemon=True)
        self._thread.start()

    def submit(self, base: Base, request: Request) -> None:
        def enter():
            try:
                self._batcher(base).submit(request)
            except Exception as error:
                log.exception("a request could not enter the batch")
                request.sink.failed(as_engine_error(error))

        self._post(enter)

    def cancel(self, request: Request) -> None:
        """The request's places are free at the next step; its sink hears nothing more of it."""
        request.cancelled = True
        self._post(lambda: None)

    def forget(self, base: Base, forgotten: Callable[[], None]) -> None:
        """Give up what is held for `base`, which nobody uses; calls `forgotten` on the serving thread."""

        def leave():
            self._batchers.pop(base, None)
            forgotten()

        self._post(leave)

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
            plan = serving_plan(base.decoder, MAX_ROWS, self._settings)
            self._batchers[base] = Batcher(base.decoder, plan.kv_bytes, plan.cache_bytes)
        return self._batchers[base]

    def _run(self) -> None:
        use_cores(self._cores)
        serve_first(self._device)
        while not self._stopping:
            for action in self._arrived():
                action()
            self._step()
            self._flush()

    def _arrived(self) -> deque[Callable[[], None]]:
        """The posted work; waits for some if there is nothing to compute."""
        busy = any(batcher.busy for batcher in self._batchers.values())
        with self._wake:
            while not (self._inbox or busy or self._stopping):
                self._wake.wait()
            arrived, self._inbox = self._inbox, deque()
        return arrived

    def _step(self) -> None:
        # In a frame of its own, which keeps no batcher alive while the thread waits.
        for batcher in [batcher for batcher in self._batchers.values() if batcher.busy]:
            with self._computing():
                batcher.step()
            progress.advance()
