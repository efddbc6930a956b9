"""Raw logprobs of given tokens, teacher-forced, in chunks beside running chats."""

from collections.abc import Callable

import torch

from ..errors import EngineError
from ..model.adapters import ServedAdapter
from ..model.decoder import Decoder
from .forward import prefill
from .kv import KvMemory, Line


class Score:
    """One `score` call. `done` gets one logprob per token (the first None), or the error."""

    def __init__(
        self,
        ids: list[int],
        adapter: ServedAdapter | None,
        done: Callable[[list[float | None] | EngineError], None],
    ):
        self.ids, self.adapter = ids, adapter
        self.line: Line | None = None
        self.cancelled = False
        self.arrival = 0
        self._done = done
        self._logprobs: list[float | None] = [None]

    def advance(self, decoder: Decoder, memory: KvMemory, budget: int) -> bool:
        """Score up to `budget` more tokens; whether the call has ended."""
        if self.line is None:
            if not memory.fits_alone(len(self.ids)):
                raise EngineError("out_of_memory", f"{len(self.ids)} tokens do not fit the memory for keys and values.")
            self.line = memory.allocate(len(self.ids))
            if self.line is None:
                return False
        start = self.line.length
        count = min(budget, len(self.ids) - start)
        [hidden] = prefill(decoder, [(self, count)])
        if not hidden.isfinite().all():
            raise not_finite(self.adapter)
        targets = torch.tensor(self.ids[start + 1 : start + count + 1], device=decoder.device)
        logits = decoder.head(hidden[: len(targets)]).float()
        picked = logits.gather(1, targets[:, None])[:, 0] - torch.logsumexp(logits, -1)
        self._logprobs += picked.tolist()
        if start + count < len(self.ids):
            return False
        self._done(self._logprobs)
        return True

    def fail(self, error: EngineError) -> None:
        self._done(error)

    def release(self, memory: KvMemory) -> None:
        if self.line:
            memory.release(self.line)
            self.line = None


def not_finite(adapter: ServedAdapter | None) -> EngineError:
    what = f"adapter {adapter.key}" if adapter else "the base model"
    return EngineError("internal", f"The logits of {what} are not finite: its weights are damaged or have diverged.")
