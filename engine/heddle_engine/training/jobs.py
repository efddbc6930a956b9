"""One training job from its parameters to a checkpoint on disk and an adapter in a slot.

A job is a generator: each ``next`` does at most about one forward and backward pass, so that one
thread can take turns between jobs. After a crash the same parameters go on from the newest snapshot
and tell the same events again.
"""

import logging
import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..bases import Base
from ..errors import EngineError
from ..model.decoder import LoraView, NoLora
from ..model.lora import LoraWeights, initial_lora, read_peft, write_peft
from .canary import canary
from .dpo import DpoWork
from .micro_batches import MicroBatches
from .rl import RlWork
from .saved.checkpoints import (
    ADAPTER_FILES,
    OPTIMIZER_FILE,
    Written,
    describe_folder,
    link_files,
    read_optimizer,
    read_state,
    write_folder,
    write_optimizer,
    write_state,
)
from .saved.record import TrainingRecord
from .saved.snapshots import Snapshots
from .sft import SftWork
from .trainable_lora import TrainableLora
from .trainer import Batches, Trainer
from .workers.group import WorkerGroup
from .workers.shared_batches import SharedBatches
from .workers.tasks import BaseRef

log = logging.getLogger(__name__)

Work = RlWork | SftWork | DpoWork

#: Room for the small files beside the tensors.
_SMALL_FILES_BYTES = 1 << 20


@dataclass(frozen=True)
class JobEvent:
    """``kind`` is an event of the wire's `train` method: training_started, gradient_step or warning."""

    kind: str
    data: dict[str, Any]


@dataclass(frozen=True)
class _Place:
    """Where a job is before a gradient step: steps done, events told, steps of the optimizer."""

    gradient_steps: int
    events: int
    optimizer_steps: int


class TrainingJob:
    """``params`` are the wire's `trainParams`. ``result`` is its `trainResult` once :meth:`run` is exhausted."""

    def __init__(self, params: dict[str, Any], base: Base, workers: WorkerGroup | None = None) -> None:
        """``workers`` share the work; None: this process does it alone."""
        self._params = params
        self._base = base
        self._workers = workers
        self._base_ref: BaseRef | None = None
        # As the job names it: one base may have been found by another name first.
        self._base_name = params["base"]["name"]
        self._output = Path(params["output"]["path"])
        self._events: list[JobEvent] = []
        self.result: dict[str, Any] = {}

    def run(self) -> Iterator[JobEvent | None]:
        """Yields events, and None where other work may take its turn. Raises ``EngineError``."""
        yield from self._repeat() if self._is_done() else self._train()

    def _is_done(self) -> bool:
        """Whether an earlier call finished this very job, and died before it could say so."""
        state = read_state(self._output)
        return state is not None and state.get("job_id") == self._params["job_id"]

    def _repeat(self) -> Iterator[JobEvent]:
        state = read_state(self._output)
        assert state is not None
        yield from (JobEvent(kind, data) for kind, data in state["events"])
        written = describe_folder(self._output)
        self._base.adapters.get(self._key_of(written), str(self._output))
        self._set_result(written, state["data_metrics"], state["gradient_steps"])

    def _train(self) -> Iterator[JobEvent | None]:
        base = self._base
        if self._workers is not None:
            self._base_ref = BaseRef.of(base)
            self._workers.load(self._base_ref)
        work = self._work(base)
        yield from work.load(**self._params["data"])
        snapshots = Snapshots(Path(self._params["work_dir"]))
        saved = snapshots.newest()
        if saved is None:
            self._events = [JobEvent("warning", {"message": message}) for message in work.warnings]
            self._events.append(JobEvent("training_started", {"num_sequences": work.num_steps}))
        else:
            self._events = [JobEvent(kind, data) for kind, data in saved[1]["events"]]
        yield from list(self._events)
        if work.num_steps == 0:
            self._finish_unchanged(base, work)
            return
        trainer = yield from self._trainer(base, work, fresh=saved is None)
        if saved is not None:
            work.restore(saved[0], saved[1]["gradient_steps"])
        yield from work.prepare(trainer)
        done = 0
        if saved is not None:
            trainer.restore(*saved)
            done = saved[1]["gradient_steps"]
        for index in range(done, work.num_steps):
            place = _Place(index, len(self._events), trainer.optimizer.steps)
            try:
                yield from self._step(index, work, trainer)
            except GeneratorExit:
                self._leave_snapshot(place, snapshots, trainer, work)
                raise
            if index + 1 < work.num_steps and snapshots.due():
                self._snapshot(index + 1, snapshots, trainer, work)
        self._finish(base, work, trainer)

    def _snapshot(self, gradient_steps: int, snapshots: Snapshots, trainer: Trainer, work: Work) -> None:
        progress = {**trainer.progress(), **self._progress(gradient_steps)}
        snapshots.write(gradient_steps, {**trainer.tensors(), **work.tensors()}, progress)

    def _leave_snapshot(self, place: _Place, snapshots: Snapshots, trainer: Trainer, work: Work) -> None:
        """The job was stopped, perhaps to go on later: no step that is done is to be done again.

        A step that was cut off before the optimizer's has moved nothing; after it, its events are all there.
        """
        is_done = trainer.optimizer.steps > place.optimizer_steps
        steps = place.gradient_steps + int(is_done)
        if not is_done:
            del self._events[place.events :]
        if steps == 0:
            return
        try:
            self._snapshot(steps, snapshots, trainer, work)
        except Exception as error:  # whatever it is, such as a lack of memory, the job stops and others go on
            log.warning("job %s was stopped without a snapshot of its last step: %s", self._params["job_id"], error)

    def _work(self, base: Base) -> Work:
        job = self._params["job"]
        if job["kind"] == "sft":
            return SftWork(job["config"], base)
        if job["kind"] == "dpo":
            return DpoWork(job["config"], base)
        folder = self._params.get("record_dir")
        record = TrainingRecord(Path(folder), base.tokenizer) if folder else None
        return RlWork(job["config"], base, self._reference(base), record)

    def _reference(self, base: Base) -> LoraView:
        """The KL reference; the base model when none is named."""
        reference = self._params["reference"]
        if reference is None:
            return NoLora()
        return TrainableLora(read_peft(Path(reference["path"]), base.config), base.decoder.device)

    def _trainer(self, base: Base, work: Work, fresh: bool) -> Generator[JobEvent, None, Trainer]:
        """A trainer at the start of the job."""
        batches = self._batches(base, work.chunk_size)
        trainer = Trainer(base.decoder, self._start_weights(base), work.optimizer, batches)
        start = self._params["start"]
        warning = trainer.adopt(read_optimizer(Path(start["path"])), work.kind) if start else None
        if warning and fresh:
            yield self._event("warning", {"message": warning})
        return trainer

    def _batches(self, base: Base, chunk_size: int) -> Batches:
        own = MicroBatches(base.decoder, chunk_size)
        if self._workers is None or self._base_ref is None:
            return own
        return SharedBatches(own, self._workers, self._base_ref, chunk_size)

    def _start_weights(self, base: Base) -> LoraWeights:
        start = self._params["start"]
        if start is not None:
            return read_peft(Path(start["path"]), base.config)
        return initial_lora(base.config, **self._params["lora"])

    def _step(self, index: int, work: Work, trainer: Trainer) -> Iterator[JobEvent | None]:
        batches = trainer.micro_batches
        halvings = batches.halvings
        metrics = yield from work.step(index, trainer)
        _check_metrics(index + 1, metrics)
        warnings = [f"a training worker ended: {how}; what it was computing is computed again" for how in batches.lost]
        batches.lost.clear()
        if batches.halvings > halvings:
            warnings.append(f"gradient step {index + 1} ran out of memory and was done in smaller pieces")
        if warning := work.step_warning(index, metrics):
            warnings.append(warning)
        events = [self._event("warning", {"message": message}) for message in warnings]
        events.append(self._event("gradient_step", {"number": index + 1, "metrics": metrics}))
        # All are noted before the first is told: a job that is stopped here has done the step.
        yield from events

    def _event(self, kind: str, data: dict[str, Any]) -> JobEvent:
        event = JobEvent(kind, data)
        self._events.append(event)
        return event

    def _progress(self, gradient_steps: int) -> dict[str, Any]:
        return {"gradient_steps": gradient_steps, "events": [[event.kind, event.data] for event in self._events]}

    def _finish(self, base: Base, work: Work, trainer: Trainer) -> None:
        _check_weights(base, trainer, work.num_steps)
        weights = trainer.lora.snapshot()

        def fill(folder: Path) -> None:
            write_peft(folder, weights, self._base_name, base.config)
            write_optimizer(folder, trainer.optimizer_state(work.kind))
            write_state(folder, self._state(base, work))

        written = self._write(fill, 3 * trainer.lora.masters.nbytes + _SMALL_FILES_BYTES)
        base.adapters.publish(self._key_of(written), weights)
        self._set_result(written, self._data_metrics(work), work.num_steps)

    def _finish_unchanged(self, base: Base, work: Work) -> None:
        """Nothing to train still makes a checkpoint, the same as its parent (training-api 4.2)."""
        start = self._params["start"]

        def fill(folder: Path) -> None:
            if start is None:
                write_peft(folder, self._start_weights(base), self._base_name, base.config)
            else:
                link_files(Path(start["path"]), (*ADAPTER_FILES, OPTIMIZER_FILE), folder)
            write_state(folder, self._state(base, work))

        written = self._write(fill, _SMALL_FILES_BYTES)
        base.adapters.get(self._key_of(written), str(self._output))
        self._set_result(written, self._data_metrics(work), 0)

    def _write(self, fill: Callable[[Path], None], needed_bytes: int) -> Written:
        return write_folder(self._output, self._params["job_id"], needed_bytes, fill)

    def _key_of(self, written: Written) -> str:
        """With its content: a job that was cancelled as it ended may have published another adapter as this step."""
        return f"{self._params['output']['key']}#{written.manifest_sha256}"

    def _state(self, base: Base, work: Work) -> dict[str, Any]:
        """`state.json`: where the checkpoint comes from, and what a repeated call has to tell again."""
        start = self._params["start"]
        return {
            "job_id": self._params["job_id"],
            "kind": work.kind,
            "parent": start and start["key"],
            "base_model": self._base_name,
            "base_fingerprint": base.fingerprint,
            "data_sha256": self._params["data"]["sha256"],
            "data_metrics": self._data_metrics(work),
            **self._progress(work.num_steps),
        }

    def _data_metrics(self, work: Work) -> dict[str, float]:
        steps = [event.data["metrics"] for event in self._events if event.kind == "gradient_step"]
        return work.data_metrics(steps)

    def _set_result(self, written: Written, data_metrics: dict[str, float], gradient_steps: int) -> None:
        self.result = {
            "output": {"key": self._key_of(written), "path": str(self._output)},
            "size_bytes": written.size_bytes,
            "manifest_sha256": written.manifest_sha256,
            "gradient_steps": gradient_steps,
            "data_metrics": data_metrics,
        }


def _check_metrics(number: int, metrics: dict[str, float]) -> None:
    """A metric that is no finite number fails the job (training-api 3.1); the protocol could not tell it."""
    for name, value in metrics.items():
        if not math.isfinite(value):
            raise EngineError(
                "invalid",
                f"Gradient step {number}: the metric {name} is {value}, not a finite number. "
                "Look for rewards and log-probabilities in the data that are far too large.",
            )


def _check_weights(base: Base, trainer: Trainer, gradient_steps: int) -> None:
    """What the last update made of the weights no later step has seen; nothing could be sampled from them."""
    if not all(map(math.isfinite, canary(base.decoder, trainer.lora))):
        raise EngineError(
            "invalid",
            f"After the last gradient step, {gradient_steps}, the log-probabilities of the model are not finite. "
            "Lower the learning rate, or start from an earlier checkpoint.",
        )
