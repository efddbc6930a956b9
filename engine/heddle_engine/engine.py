"""Everything behind the protocol: base models, the serving thread, the trainer thread, one function per method."""

import asyncio
from collections.abc import Callable
from functools import partial

import torch

from . import __version__
from .bases import Bases
from .core import ServingThread
from .errors import EngineError
from .memory import resident_bytes
from .model.adapters import MAX_LORA_RANK
from .protocol import PROTOCOL_VERSION
from .serving.chat import ChatCall, check_ids, check_length, prompt_ids
from .serving.scoring import Score
from .threads import single_core_pool, usable_cores
from .training.jobs import JobEvent, TrainingJob, initialize_adapter
from .training.training_thread import ActiveJob, TrainingThread

Emit = Callable[[str, dict], None]


class Engine:
    """Made on the event loop's thread; its coroutines run there, the work elsewhere."""

    def __init__(self, kv_bytes: int | None = None):
        self._loop = asyncio.get_running_loop()
        self._outbox: list[Callable[[], None]] = []
        cores = usable_cores()
        self._pool = single_core_pool(4, "prepare")
        self._bases = Bases()
        self._serving = ServingThread(self._flush, cores, kv_bytes)
        self._training = TrainingThread(cores)

    def _flush(self) -> None:
        """Carry one step's events to the event loop at once."""
        if self._outbox:
            batch, self._outbox = self._outbox, []
            self._loop.call_soon_threadsafe(_run_all, batch)

    def heartbeat(self) -> dict:
        return {
            "running": self._serving.running,
            "waiting": self._serving.waiting,
            "training": self._training.active,
            "progress": self._serving.progress + self._training.progress,
            "resident_bytes": resident_bytes(),
        }

    def hello(self) -> dict:
        device = self._bases.device
        return {
            "protocol": PROTOCOL_VERSION,
            "engine_version": __version__,
            "device": device.type,
            "device_name": torch.cuda.get_device_name(device) if device.type == "cuda" else _processor_name(),
            "torch_version": torch.__version__,
            "max_lora_rank": MAX_LORA_RANK,
        }

    async def base_resolve(self, params: dict, _emit: Emit) -> dict:
        return await self._prepare(lambda: self._bases.resolve(params["base"]).description)

    async def base_load(self, params: dict, _emit: Emit) -> dict:
        return await self._prepare(lambda: self._bases.load(params["base"]).description)

    async def adapter_init(self, params: dict, _emit: Emit) -> dict:
        return await self._prepare(partial(initialize_adapter, params, self._bases))

    async def tokenize(self, params: dict, _emit: Emit) -> dict:
        def work():
            base = self._bases.resolve(params["base"])
            return {"token_ids": prompt_ids(base, params), "max_model_len": base.max_model_len}

        return await self._prepare(work)

    async def detokenize(self, params: dict, _emit: Emit) -> dict:
        def work():
            base = self._bases.resolve(params["base"])
            return {"text": base.tokenizer.decode(check_ids(base, params["token_ids"], "token_ids"))}

        return await self._prepare(work)

    async def score(self, params: dict, _emit: Emit) -> dict:
        outcome = self._loop.create_future()

        def prepare():
            base = self._bases.load(params["base"])
            ids = check_ids(base, params["token_ids"], "token_ids")
            check_length(base, ids, 0, "token_ids")
            ref = params.get("adapter")
            adapter = base.adapters.get(ref["key"], ref["path"]) if ref else None
            return base, Score(ids, adapter, lambda value: self._outbox.append(partial(_settle, outcome, value)))

        base, score = await self._prepare(prepare)
        self._serving.submit_score(base, score)
        try:
            return {"logprobs": await outcome}
        except asyncio.CancelledError:
            self._serving.cancel(score)
            raise

    async def chat(self, params: dict, emit: Emit) -> dict:
        """Cancelling the task that runs this frees the call's places in the batch."""
        outcome = self._loop.create_future()
        call: ChatCall = await self._prepare(
            lambda: ChatCall(
                self._bases,
                params,
                lambda event: self._outbox.append(partial(emit, *event)),
                lambda value: self._outbox.append(partial(_settle, outcome, value)),
            )
        )
        self._serving.submit(call.base, call.request)
        try:
            return await self._prepare(await outcome)
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
        job = await self._prepare(lambda: TrainingJob(params, self._bases))
        self._training.submit(ActiveJob(params["job_id"], job, tell, settle, settle))
        try:
            return await outcome
        except asyncio.CancelledError:
            self._training.stop(params["job_id"], EngineError("cancelled", "The connection closed."))
            raise

    async def train_cancel(self, params: dict, _emit: Emit) -> dict:
        reason = EngineError("cancelled", f"Job {params['job_id']} was cancelled.")
        if not self._training.stop(params["job_id"], reason):
            raise EngineError("not_found", f"No job {params['job_id']} is running here.", "job_id")
        return {}

    async def status(self, _params: dict, _emit: Emit) -> dict:
        return self.heartbeat()

    async def drain(self, seconds: float) -> None:
        """Stop jobs at their gradient step and give running chats `seconds` to finish."""
        self._training.stop(None, EngineError("unavailable", "The engine is shutting down; the job can go on later."))
        end = self._loop.time() + seconds
        while self._loop.time() < end and (self._serving.running or self._serving.waiting or self._training.active):
            await asyncio.sleep(0.02)

    async def _prepare(self, work: Callable):
        return await self._loop.run_in_executor(self._pool, work)


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
