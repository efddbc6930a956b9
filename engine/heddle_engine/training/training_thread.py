"""The trainer thread: runs jobs in turn, about one gradient step each, while serving goes on."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .. import progress
from ..allocator import give_back_freed_pages
from ..errors import EngineError
from ..faults import as_engine_error, device_is_lost
from ..threads import use_cores
from .jobs import JobEvent, TrainingJob

log = logging.getLogger(__name__)


@dataclass(eq=False)
class ActiveJob:
    """`on_event`, then exactly one of `on_result` and `on_error`, are called on the trainer thread."""

    id: str
    job: TrainingJob
    on_event: Callable[[JobEvent], None]
    on_result: Callable[[dict], None]
    on_error: Callable[[EngineError], None]
    turns: Iterator[JobEvent | None] | None = None
    stopped: EngineError | None = None


class TrainingThread:
    """Lives while there are jobs: its team of cores would slow serving down (see `threads`)."""

    def __init__(self, cores: int):
        self._cores = cores
        self._jobs: deque[ActiveJob] = deque()
        self._changing = threading.Lock()
        self._running = False

    @property
    def active(self) -> int:
        return len(self._jobs)

    def submit(self, job: ActiveJob) -> None:
        """Raises `invalid` when a job of the same id is running."""
        with self._changing:
            if any(other.id == job.id for other in self._jobs):
                raise EngineError("invalid", f"Job {job.id} is already running.", "job_id")
            self._jobs.append(job)
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name="training", daemon=True).start()

    def stop(self, job_id: str | None, reason: EngineError) -> bool:
        """End a job (None: all) with `reason` at its next turn, its snapshots kept; False when it is not here."""
        with self._changing:
            found = [job for job in self._jobs if job_id in (None, job.id)]
            for job in found:
                job.stopped = reason
        return bool(found)

    def _run(self) -> None:
        use_cores(self._cores)
        while self._running:
            going_on = self._turn(self._jobs[0])
            progress.advance()
            with self._changing:
                job = self._jobs.popleft()
                if going_on:
                    self._jobs.append(job)
                self._running = bool(self._jobs)
        # What the last job computed with; chats need little of it.
        give_back_freed_pages()

    def _turn(self, job: ActiveJob) -> bool:
        """One turn of `job`; False once it has ended, its outcome told. Raises when the device is lost."""
        try:
            if job.stopped:
                raise job.stopped
            job.turns = job.turns or job.job.run()
            event = next(job.turns)
        except StopIteration:
            job.on_result(job.job.result)
            return False
        except Exception as error:
            if device_is_lost(error):
                raise
            if not isinstance(error, EngineError):
                log.exception("job %s failed", job.id)
            if job.turns is not None:
                job.turns.close()
            job.on_error(as_engine_error(error))
            return False
        if event is not None:
            job.on_event(event)
        return True
