"""Everything behind the protocol: base models, the serving thread, the trainer thread, one function per method."""

import asyncio
import gc
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from . import __version__, progress
from .allocator import give_back_freed_pages
from .base_loader import BaseLoader, loads_at_once
from .bases import Base, Bases
from .errors import EngineError
from .exports.exporter import Exporter
from .fair_pool import FairPool
from .listening import host_and_port, read_token
from .memory import device_bytes, divide_training_memory, resident_bytes
from .model.lora import MAX_LORA_RANK
from .model.number_format import FORMATS, warn_of_slow_format
from .protocol import PROTOCOL_VERSION
from .serving.backend import Backend
from .serving.batching import MAX_ROWS
from .serving.chat import ChatCall, check_ids, prompt_ids
from .serving.embedding import EmbedCall
from .serving.grammars import Grammars
from .serving.vllm.backend import VllmBackend
from .serving_thread import ServingThread
from .settings import Settings
from .text.sandbox import Sandbox
from .threads import usable_cores
from .training.jobs import JobEvent, TrainingJob
from .training.saved.adapter_import import import_adapter
from .training.training_thread import ActiveJob, TrainingThread
from .training.workers.connected import ConnectedWorkers
from .training.workers.group import WorkerGroup
from .training.workers.started import StartedWorkers

log = logging.getLogger(__name__)

Emit = Callable[[str, dict], None]

_LEAST_PREPARING = 4
"""Threads that prepare chats and assemble their answers, should the machine have fewer cores."""


class Engine:
    """Made on the event loop's thread; its coroutines run there, the work elsewhere."""

    def __init__(self, settings: Settings, sandbox: Sandbox):
        self._loop = asyncio.get_running_loop()
        self._outbox: list[Callable[[], None]] = []
        cores = usable_cores()
        preparing = max(_LEAST_PREPARING, cores)
        self._settings = settings
        self._prepare = FairPool(preparing, preparing // 2, "prepare")
        self._grammars = Grammars(Sandbox(settings.grammar_ms / 1000, beside_serving=False))
        bases = Bases(dtype=FORMATS[settings.dtype], sandbox=sandbox, adapter_bytes=settings.adapter_bytes)
        self._device = bases.device
        warn_of_slow_format(FORMATS[settings.dtype], self._device)
        loading = loads_at_once(cores, self._device)
        self._bases = BaseLoader(bases, settings.unload_idle_s, self._unloading, loading)
        self._serving = self._backend(cores)
        self._workers, training_cores = self._training_workers(cores)
        self._training = TrainingThread(training_cores)
        self._exporter = Exporter()
        self._imports = FairPool(1, 1, "import")
        # Jobs whose base is still loading, each with what ends it.
        self._beginning: dict[str, asyncio.Future[EngineError]] = {}

    def _backend(self, cores: int) -> Backend:
        if self._settings.sampler == "vllm":
            return VllmBackend(self._flush, self._settings)
        return ServingThread(self._flush, cores, self._settings, self._device)

    def _training_workers(self, cores: int) -> tuple[WorkerGroup | None, int]:
        """Processes that share out the work of training, and on how many cores this one trains."""
        trainers, listen = self._settings.trainers, self._settings.trainers_listen
        if trainers == 1:
            return None, cores
        if listen is not None:
            token = read_token("--trainers-token-file", Path(self._settings.trainers_token_file))
            try:
                return ConnectedWorkers(trainers, host_and_port("--trainers-listen", listen), token), cores
            except OSError as error:
                raise SystemExit(f"--trainers-listen {listen}: {error.strerror}") from error
        if self._device.type == "cuda":
            if torch.cuda.device_count() < trainers:
                raise SystemExit(f"--trainers {trainers} needs as many GPUs, and there are {torch.cuda.device_count()}")
            return StartedWorkers(trainers, cores, self._device), cores
        divide_training_memory(trainers)
        share = max(1, cores // trainers)
        return StartedWorkers(trainers, share, self._device), share

    def _flush(self) -> None:
        """Carry one step's events to the event loop at once."""
        if self._outbox:
            batch, self._outbox = self._outbox, []
            self._loop.call_soon_threadsafe(_run_all, batch)

    def _unloading(self, base: Base) -> None:
        log.info("base model %s has been idle: its weights are unloaded", base.name)
        if self._workers is not None:
            self._workers.forget(base)
        self._serving.forget(base, partial(self._loop.call_soon_threadsafe, self._give_memory_back))

    def _give_memory_back(self) -> None:
        self._loop.run_in_executor(None, _give_memory_back, self._device)

    def heartbeat(self) -> dict:
        return {
            "running": self._serving.running,
            "waiting": self._serving.waiting + self._prepare.num_running + self._grammars.num_compiling,
            "training": self._training.active,
            "loading": self._bases.num_loading,
            "progress": progress.total(),
            "resident_bytes": resident_bytes(),
            "bases": self._bases.loaded_names(),
        }

    def hello(self) -> dict:
        device = self._device
        return {
            "protocol": PROTOCOL_VERSION,
            "engine_version": __version__,
            "device": device.type,
            "device_name": torch.cuda.get_device_name(device) if device.type == "cuda" else _processor_name(),
            "torch_version": torch.__version__,
            "max_lora_rank": MAX_LORA_RANK,
            "max_rows": MAX_ROWS,
            "memory_bytes": device_bytes(device),
        }

    async def base_resolve(self, params: dict, _emit: Emit) -> dict:
        base = await self._bases.found(params["base"])
        # By the name it was asked for, which need not be the first that it was found by.
        return {**await self._prepare.run("", lambda: base.description), "name": params["base"]["name"]}

    async def tokenize(self, params: dict, _emit: Emit) -> dict:
        base = await self._bases.found(params["base"])

        def work():
            return {"token_ids": prompt_ids(base, params), "max_model_len": base.max_model_len}

        return await self._prepare.run(params.get("tenant", ""), work)

    async def detokenize(self, params: dict, _emit: Emit) -> dict:
        base = await self._bases.found(params["base"])

        def work():
            return {"text": base.tokenizer.decode(check_ids(base, params["token_ids"], "token_ids"))}

        return await self._prepare.run(params.get("tenant", ""), work)

    async def chat(self, params: dict, emit: Emit) -> dict:
        """Cancelling the task that runs this frees the call's places in the batch."""
        base = await self._bases.found(params["base"])
        with self._bases.kept(base):
            await self._bases.load(base)
            return await self._chat(base, params, emit)

    async def _chat(self, base: Base, params: dict, emit: Emit) -> dict:
        tenant = params.get("tenant", "")
        outcome = self._loop.create_future()
        call = await self._prepare.run(
            tenant,
            lambda: ChatCall(
                base,
                params,
                self._settings.grammar_bytes,
                lambda event: self._outbox.append(partial(emit, *event)),
                lambda value: self._outbox.append(partial(_settle, outcome, value)),
            ),
        )
        if call.grammar:
            call.request.grammar = await self._grammars.matcher(base, tenant, call.grammar)
        return await self._computed(base, call, outcome)

    async def embed(self, params: dict, _emit: Emit) -> dict:
        """As a chat, but nothing is sampled."""
        base = await self._bases.found(params["base"])
        with self._bases.kept(base):
            await self._bases.load(base)
            outcome = self._loop.create_future()
            call = await self._prepare.run(
                params.get("tenant", ""),
                lambda: EmbedCall(base, params, lambda value: self._outbox.append(partial(_settle, outcome, value))),
            )
            return await self._computed(base, call, outcome)

    async def _computed(self, base: Base, call: ChatCall | EmbedCall, outcome: asyncio.Future) -> dict:
        """The result of a call in the batch, put together in a thread where that takes long."""
        self._serving.submit(base, call.request)
        try:
            assemble = await outcome
            if call.is_short:
                return assemble()
            return await self._prepare.run(call.request.tenant, assemble)
        except asyncio.CancelledError:
            self._serving.cancel(call.request)
            raise EngineError("cancelled", "The call was cancelled.", usage=call.usage) from None
        except EngineError as error:
            raise EngineError(error.kind, error.message, error.param, call.usage) from error

    async def train(self, params: dict, emit: Emit) -> dict:
        """Cancelling the task stops the job after the running gradient step; its snapshots stay."""
        outcome = self._loop.create_future()

        def post(action: Callable, *values) -> None:
            self._loop.call_soon_threadsafe(action, *values)

        def tell(event: JobEvent) -> None:
            post(emit, event.kind, event.data)

        settle = partial(post, _settle, outcome)
        base = await self._base_of_job(params)
        with self._bases.kept(base):
            self._training.submit(
                ActiveJob(params["job_id"], TrainingJob(params, base, self._workers), tell, settle, settle)
            )
            try:
                return await outcome
            except asyncio.CancelledError:
                self._training.stop(params["job_id"], EngineError("cancelled", "The connection closed."))
                raise

    async def stopped(self, job_id: str) -> None:
        """Returns when the job does not run here: one that another connection began stops, its snapshot left."""
        reason = EngineError("unavailable", "The job goes on for another connection.", "job_id")
        while self._training.stop(job_id, reason) or self._stop_beginning(job_id, reason):
            await asyncio.sleep(0.02)

    async def _base_of_job(self, params: dict) -> Base:
        """The job's base, loaded; meanwhile the job can be stopped."""
        job_id, stopped = params["job_id"], self._loop.create_future()
        if job_id in self._beginning:
            raise EngineError("invalid", f"Job {job_id} is already running.", "job_id")
        self._beginning[job_id] = stopped
        loading = asyncio.ensure_future(self._bases.loaded(params["base"]))
        try:
            await asyncio.wait((loading, stopped), return_when=asyncio.FIRST_COMPLETED)
            if stopped.done():
                raise stopped.result()
            return loading.result()
        finally:
            loading.cancel()
            del self._beginning[job_id]

    def _stop_beginning(self, job_id: str | None, reason: EngineError) -> bool:
        found = [stopped for other, stopped in self._beginning.items() if job_id in (None, other)]
        for stopped in found:
            if not stopped.done():
                stopped.set_result(reason)
        return bool(found)

    async def train_cancel(self, params: dict, _emit: Emit) -> dict:
        reason = EngineError("cancelled", f"Job {params['job_id']} was cancelled.")
        stopped = [stop(params["job_id"], reason) for stop in (self._training.stop, self._stop_beginning)]
        if not any(stopped):
            raise EngineError("not_found", f"No job {params['job_id']} is running here.", "job_id")
        return {}

    async def checkpoint_export(self, params: dict, emit: Emit) -> dict:
        """Cancelling the task ends the export; nothing of it is left."""
        base = await self._bases.found(params["base"])
        return await self._exporter.run(base, params, lambda size: emit("planned", {"size_bytes": size}))

    async def adapter_import(self, params: dict, _emit: Emit) -> dict:
        base = await self._bases.found(params["base"])
        return await self._imports.run(params["tenant"], lambda: import_adapter(params, base))

    async def status(self, _params: dict, _emit: Emit) -> dict:
        return self.heartbeat()

    async def drain(self, seconds: float) -> None:
        """Stop jobs at their gradient step and give running chats `seconds` to finish."""
        reason = EngineError("unavailable", "The engine is shutting down; the job can go on later.")
        self._training.stop(None, reason)
        self._stop_beginning(None, reason)
        end = self._loop.time() + seconds
        while self._loop.time() < end and (self._serving.running or self._serving.waiting or self._training.active):
            await asyncio.sleep(0.02)


def _give_memory_back(device: torch.device) -> None:
    gc.collect()
    give_back_freed_pages()
    if device.type == "cuda":
        torch.cuda.empty_cache()


def _run_all(actions: list[Callable[[], None]]) -> None:
    for action in actions:
        action()


def _settle(outcome: asyncio.Future, value) -> None:
    if outcome.done():
        return
    if isinstance(value, EngineError):
        outcome.set_exception(value)
    else:
        outcome.set_result(value)


def _processor_name() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return "cpu"
