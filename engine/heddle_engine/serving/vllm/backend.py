"""Samples with vLLM: a process for each base model, started with its first request and again when it has died."""

import asyncio
import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...bases import Base
from ...errors import EngineError
from ...memory import serving_plan
from ...model.adapters import STORE_ADAPTERS
from ...settings import Settings
from ..batching import MAX_ROWS, not_finite
from ..generation import Generation, Request
from ..prompt_reading import PromptLogprobs
from .adapters import LoadedAdapters
from .canary import Canary
from .process import Call, VllmProcess
from .sampling import generate_frame, prompt_tokens, refuse_unsupported, sampled_token

_ADAPTERS_IN_BATCH = 8
_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""What vLLM can be started for; the last is the largest rank that an adapter may have here."""
_BLOCK = 128
"""Tokens; vLLM gives memory for keys and values in blocks of at most so many."""
_REFUSED_S = 30.0
"""How long a model that vLLM could not load is refused without another try, which takes half a minute."""

_STEADY_S = 30.0
_STEP_TOKENS = 2048

log = logging.getLogger(__name__)


class VllmBackend:
    """Used from the event loop only, which also calls the sinks; `flush` is called after each frame of vLLM's."""

    def __init__(self, flush: Callable[[], None], settings: Settings):
        self._flush, self._settings = flush, settings
        self._bases: dict[Base, _VllmBase] = {}
        self._requests: dict[Request, asyncio.Task[None]] = {}

    @property
    def running(self) -> int:
        return sum(each.num_running for each in self._bases.values())

    @property
    def waiting(self) -> int:
        return max(0, len(self._requests) - self.running)

    def submit(self, base: Base, request: Request) -> None:
        if base not in self._bases:
            self._bases[base] = _VllmBase(base, self._settings, self._flush)
        task = self._requests[request] = asyncio.ensure_future(self._run(self._bases[base], request))
        task.add_done_callback(lambda _: self._requests.pop(request))

    async def _run(self, base: "_VllmBase", request: Request) -> None:
        try:
            await base.sample(request)
        except EngineError as error:
            request.sink.failed(error)
        except Exception as error:
            log.exception("a request to vLLM failed")
            request.sink.failed(EngineError("internal", f"{type(error).__name__}: {error}"))
        finally:
            self._flush()

    def cancel(self, request: Request) -> None:
        request.cancelled = True
        if task := self._requests.get(request):
            task.cancel()

    def forget(self, base: Base, forgotten: Callable[[], None]) -> None:
        serving = self._bases.pop(base, None)
        stopping = asyncio.ensure_future(serving.stop() if serving else asyncio.sleep(0))
        stopping.add_done_callback(lambda _: forgotten())


@dataclass(frozen=True)
class _Served:
    """A process that serves, with its adapters."""

    process: VllmProcess
    adapters: LoadedAdapters
    since: float


class _VllmBase:
    """One base model's process."""

    def __init__(self, base: Base, settings: Settings, flush: Callable[[], None]):
        self._base, self._settings, self._flush = base, settings, flush
        self._serving: asyncio.Task[_Served] | None = None
        self._refused: tuple[float, EngineError] | None = None
        self._max_length = base.max_model_len

    @property
    def num_running(self) -> int:
        served = self._served
        return served.process.num_running if served else 0

    @property
    def _served(self) -> _Served | None:
        task = self._serving
        return task.result() if task and task.done() and not task.cancelled() and not task.exception() else None

    async def sample(self, request: Request) -> None:
        """Samples all choices; raises EngineError. Cancelling it ends them in vLLM too."""
        refuse_unsupported(request)
        served = await self._started()
        self._fit(request)
        async with served.adapters.used(request.adapter, request.adapter_path) as adapter:
            generations = [request.take() for _ in range(request.n)]
            choices = [_Choice(generation, served.process, adapter) for generation in generations]
            try:
                await asyncio.gather(*(choice.call.ended for choice in choices))
            finally:
                for choice in choices:
                    served.process.finish(choice.call)

    def _fit(self, request: Request) -> None:
        if len(request.prompt_ids) + 1 > self._max_length and self._max_length < request.max_length:
            raise EngineError(
                "out_of_memory",
                f"A sequence of {len(request.prompt_ids)} tokens does not fit the memory for keys and values. "
                "Shorten it, or start the server with a larger HEDDLE_ENGINE_KV_BYTES.",
            )
        request.max_length = min(request.max_length, self._max_length)

    async def stop(self) -> None:
        task, self._serving = self._serving, None
        if task is None:
            return
        task.cancel()
        with suppress(asyncio.CancelledError, EngineError):
            await (await task).process.stop()

    async def _started(self) -> _Served:
        if self._refused and time.monotonic() < self._refused[0]:
            raise self._refused[1]
        return await asyncio.shield(self._begin())

    def _begin(self) -> "asyncio.Task[_Served]":
        """A request that waits may be cancelled; the start goes on for the next one."""
        if self._serving is None:
            self._serving = asyncio.ensure_future(self._start())
            self._serving.add_done_callback(self._begun)
        return self._serving

    def _begun(self, task: "asyncio.Task[_Served]") -> None:
        if not task.cancelled() and (error := task.exception()):
            log.error("vLLM does not serve %s: %s", self._base.name, error)
            self._serving = None

    async def _start(self) -> _Served:
        process = None
        try:
            python = self._settings.vllm_python
            environment = _environment(python, self._base.decoder.device.type)
            process = await VllmProcess.start(python, self._options(), environment, self._flush, self._died)
            canary = Canary(self._base)
            await canary.check(process, None, None)
        except EngineError as error:
            # Some of what a model needs is found missing with its first tokens only.
            reason = error.message if error.kind == "invalid" else process and process.failure
            if process:
                await process.stop()
            if not reason:
                raise
            refused = EngineError("invalid", f"vLLM cannot serve {self._base.name}: {reason}", "model")
            self._refused = (time.monotonic() + _REFUSED_S, refused)
            raise refused from error
        except asyncio.CancelledError:
            if process:
                await process.stop()
            raise
        adapters = LoadedAdapters(process, canary, self._settings.vllm_lora_rank)
        return _Served(process, adapters, time.monotonic())

    def _died(self, _how: str) -> None:
        """Another process starts at once, for the next request; one that died soon waits until there is one."""
        if served := self._served:
            self._serving = None
            if time.monotonic() - served.since > _STEADY_S:
                self._begin()

    def _options(self) -> dict:
        """Options of vLLM's engine (`vllm.AsyncEngineArgs`), which has the trainer's dtype and the engine's limits."""
        decoder = self._base.decoder
        kv_bytes = serving_plan(decoder, MAX_ROWS, self._settings).kv_bytes
        fitting = (kv_bytes - decoder.state_bytes) // decoder.kv_token_bytes // _BLOCK * _BLOCK
        self._max_length = min(self._base.max_model_len, fitting)
        prompts = {}
        if decoder.device.type == "cpu":
            # A prompt in parts moves the seed of its request back, which ends vLLM on a CPU ("does not use offset").
            prompts = {"enable_chunked_prefill": False, "max_num_batched_tokens": max(_STEP_TOKENS, self._max_length)}
        # What reads pictures would take memory, and no prompt has any.
        tower = {"language_model_only": True} if self._base.config.tower else {}
        return {
            **prompts,
            **tower,
            "model": str(self._base.folder),
            "dtype": str(decoder.dtype).removeprefix("torch."),
            "max_model_len": self._max_length,
            "max_num_seqs": MAX_ROWS,
            "kv_cache_memory_bytes": kv_bytes,
            "logprobs_mode": "raw_logprobs",
            "max_logprobs": 20,
            "enable_lora": True,
            "max_loras": _ADAPTERS_IN_BATCH,
            "max_cpu_loras": STORE_ADAPTERS,
            "max_lora_rank": next((rank for rank in _RANKS if rank >= self._settings.vllm_lora_rank), _RANKS[-1]),
            # vLLM's defaults for sampling may come from the model's folder; a request says all it wants.
            "generation_config": "vllm",
            "disable_log_stats": True,
        }


class _Choice:
    """One choice of a request while vLLM samples it. How it ends is the engine's own rule (`Generation`)."""

    def __init__(self, generation: Generation, process: VllmProcess, adapter: dict | None):
        self._generation = generation
        self._samples = generation.remaining > 0
        self.call: Call = process.begin(generate_frame(generation, adapter), self._take)

    def _take(self, frame: dict) -> None:
        """Raises EngineError."""
        request = self._generation.request
        if "started" in frame:
            if isinstance(request.reader, PromptLogprobs) and frame["prompt"] is not None:
                request.reader.add(prompt_tokens(frame["prompt"], request.reader.num_top))
                request.prompt_is_read = True
            if not request.started:
                request.started = True
                request.sink.started(frame["started"])
        elif not self._samples:
            request.sink.ended(self._generation.index)
            self._end()
        else:
            self._accept(frame["tokens"])

    def _accept(self, tokens: list) -> None:
        for wire in tokens:
            token = sampled_token(wire, self._generation.params.top_logprobs)
            if token is None:
                raise not_finite(self._generation.adapter)
            if self._generation.accept(token):
                self._end()
                return

    def _end(self) -> None:
        self.call.ended.set_result(None)


def _environment(python: str, device: str) -> dict[str, str]:
    environment = {
        **os.environ,
        "PATH": f"{Path(python).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        # Base models are on disk when vLLM is started, and nothing is told to others.
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
    }
    if device == "cpu":
        # Else the first log-probability waits for a C++ compiler, which there may not be.
        environment.setdefault("TORCHDYNAMO_DISABLE", "1")
    if hasattr(os, "sched_getaffinity"):
        # By default vLLM leaves one core free.
        cores = ",".join(map(str, sorted(os.sched_getaffinity(0))))
        environment.setdefault("VLLM_CPU_OMP_THREADS_BIND", cores)
    return environment
