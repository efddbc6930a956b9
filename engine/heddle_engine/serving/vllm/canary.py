"""Whether vLLM computes what the trainer computes: both score a short prompt, with the same adapter."""

import logging
import math

import torch

from ...bases import Base
from ...errors import EngineError
from ...fair_pool import FairPool
from ...model.adapters import ServedAdapter
from ..batching import Batcher
from ..generation import End, Request, Token
from ..prompt_reading import PromptLogprobs
from ..sampling import SamplingParams
from .process import VllmProcess
from .sampling import prompt_tokens

_TEXT = "The quick brown fox jumps over 13 lazy dogs. How many dogs? "
_MOST_TOKENS = 16
_TOLERANCE = {torch.float32: 1e-3, torch.bfloat16: 0.1, torch.float16: 0.02}
"""Nats, root mean square. In fp32 both agree to 1e-5; in bf16 the rounding of logits alone is 0.04."""
_KV_TOKENS = 1024

log = logging.getLogger(__name__)


class Canary:
    """Checks one base model and its adapters."""

    def __init__(self, base: Base):
        self._base = base
        self._ids = base.tokenizer.encode(_TEXT)[:_MOST_TOKENS]
        self._threads = FairPool(1, 1, "canary")

    async def check(self, process: VllmProcess, adapter: ServedAdapter | None, wire: dict | None) -> None:
        """Raises `internal` where vLLM's log-probabilities are others than those of the trainer's weights."""
        theirs = await self._by_vllm(process, wire)
        own = await self._threads.run("", lambda: _by_trainer(self._base, adapter, self._ids))
        distance = math.sqrt(sum((a - b) ** 2 for a, b in zip(own, theirs, strict=True)) / len(own))
        most = _TOLERANCE[self._base.decoder.dtype]
        what = f"adapter {adapter.key}" if adapter else f"the base model {self._base.name}"
        if not distance <= most:
            message = (
                f"vLLM computes {what} otherwise than the trainer: the log-probabilities of {len(own)} tokens differ "
                f"by {distance:.2g} nats (root mean square), and at most {most:g} are allowed. It is not served."
            )
            log.error(message)
            raise EngineError("internal", message)
        log.debug("vLLM and the trainer differ by %.2g nats on %s", distance, what)

    async def _by_vllm(self, process: VllmProcess, adapter: dict | None) -> list[float]:
        scored: list[float] = []

        def take(frame: dict) -> None:
            if "started" in frame:
                scored.extend(token.logprob for token in prompt_tokens(frame["prompt"], 0))
            elif not call.ended.done():
                call.ended.set_result(None)

        sampling = {"max_tokens": 1, "temperature": 0.0, "logprobs": 0, "prompt_logprobs": 0, "logit_bias": {}}
        call = process.begin(
            {"prompt_ids": self._ids, "sampling": sampling, "adapter": adapter, "salt": "canary"}, take
        )
        try:
            await call.ended
        finally:
            process.finish(call)
        return scored


def _by_trainer(base: Base, adapter: ServedAdapter | None, ids: list[int]) -> list[float]:
    reader = PromptLogprobs(ids, 0)
    sink = _Outcome()
    batcher = Batcher(base.decoder, base.decoder.sequence_bytes(_KV_TOKENS), 0, max_rows=1)
    batcher.submit(
        Request(
            prompt_ids=ids,
            params=SamplingParams(max_tokens=0),
            n=1,
            adapter=adapter,
            cache_salt="",
            sink=sink,
            tokenizer=base.tokenizer,
            max_length=base.max_model_len,
            reader=reader,
        )
    )
    while batcher.busy:
        batcher.step()
    if sink.error:
        raise sink.error
    return [token.logprob for token in reader.tokens()]


class _Outcome:
    """The sink of a request that only reads its prompt."""

    error: EngineError | None = None

    def started(self, cached_tokens: int) -> None:
        pass

    def sampled(self, index: int, token: Token, end: End | None) -> None:
        raise AssertionError("a prompt that is read samples nothing")

    def ended(self, index: int) -> None:
        pass

    def failed(self, error: EngineError) -> None:
        self.error = error
