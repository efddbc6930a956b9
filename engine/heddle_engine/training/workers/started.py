"""Workers that the engine starts on its own machine, and starts again when they have ended."""

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import torch

from ...child_process import KILLED
from .group import WorkerGroup
from .member import Member

_PACKAGE_ROOT = Path(__file__).parents[3]
_HEALTHY_S = 30.0
"""A worker that ran this long was healthy: another one is started at once."""
_MOST_PAUSE_S = 30.0

log = logging.getLogger(__name__)


class StartedWorkers(WorkerGroup):
    """Each computes on ``cores`` cores, or on a GPU of its own; the engine has the first."""

    def __init__(self, trainers: int, cores: int, device: torch.device):
        super().__init__(trainers)
        self._cores, self._device = cores, device
        self._closing = threading.Event()
        self._children: dict[int, subprocess.Popen] = {}
        self._threads = [
            threading.Thread(target=self._keep, args=(rank, member), name=f"worker-{rank}", daemon=True)
            for rank, member in enumerate(self.members, start=1)
        ]
        for thread in self._threads:
            thread.start()

    def pids(self) -> list[int]:
        """Process ids of the workers, in the order of ``members``."""
        return [child.pid for _, child in sorted(self._children.items())]

    def close(self) -> None:
        """Returns when no worker is left."""
        self._closing.set()
        for child in list(self._children.values()):
            child.kill()
        for thread in self._threads:
            thread.join()

    def _keep(self, rank: int, member: Member) -> None:
        """The worker ends with the thread that started it, so this one lives as long as the engine."""
        failures = 0
        while not self._closing.is_set():
            began = time.monotonic()
            try:
                how = self._run(rank, member)
            except OSError as error:
                how = f"it could not be started: {error}"
            if self._closing.is_set():
                return
            failures = 1 if time.monotonic() - began > _HEALTHY_S else failures + 1
            pause = 0.0 if failures == 1 else min(0.25 * 2**failures, _MOST_PAUSE_S)
            log.warning("training worker %d ended: %s; another one is started in %g s", rank, how, pause)
            self._closing.wait(pause)

    def _run(self, rank: int, member: Member) -> str:
        """One worker from start to end; returns how it ended."""
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                child = self._start(rank, theirs)
            self._children[rank] = child
            if self._closing.is_set():
                child.kill()
            member.serve(ours, child.kill)
        child.kill()
        return member.lose(_describe(child.wait()))

    def _start(self, rank: int, connection: socket.socket) -> subprocess.Popen:
        options = ("--cores", str(self._cores), "--trainers", str(self.size))
        return subprocess.Popen(
            [sys.executable, "-m", "heddle_engine.training.workers", *options],
            cwd=_PACKAGE_ROOT,
            env=self._environment(rank),
            stdin=connection,
            stdout=sys.stderr,
            # Ctrl-C reaches the whole foreground group: the engine decides when its workers end.
            start_new_session=True,
        )

    def _environment(self, rank: int) -> dict[str, str]:
        if self._device.type != "cuda":
            return dict(os.environ)
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        names = visible.split(",") if visible else [str(index) for index in range(torch.cuda.device_count())]
        return {**os.environ, "CUDA_VISIBLE_DEVICES": names[rank]}


def _describe(code: int) -> str:
    if code == -signal.SIGKILL:
        return f"it was {KILLED}"
    if code < 0:
        return f"it was ended by {signal.Signals(-code).name}"
    return f"its process ended with exit code {code}"
