"""`embed`: one vector for a text, the mean of the last hidden states of its tokens, of length 1."""

from collections.abc import Callable

from ..bases import Base
from ..errors import EngineError
from .chat import check_length, prompt_ids
from .generation import End, Request, Token
from .prompt_reading import MeanState
from .sampling import SamplingParams


class EmbedCall:
    """One `embed` in progress; `done` takes the error, or what makes the result, once."""

    def __init__(self, base: Base, params: dict, done: Callable[[Callable[[], dict] | EngineError], None]):
        ids = prompt_ids(base, params)
        check_length(base, ids, 0, "input")
        adapter = params.get("adapter")
        self._mean, self._done = MeanState(), done
        self.request = Request(
            prompt_ids=ids,
            params=SamplingParams(max_tokens=0),
            n=1,
            adapter=base.adapters.get(adapter["key"], adapter["path"]) if adapter else None,
            cache_salt=params.get("cache_salt", ""),
            sink=self,
            tokenizer=base.tokenizer,
            max_length=base.max_model_len,
            reader=self._mean,
            tenant=params.get("tenant", ""),
            adapter_path=adapter["path"] if adapter else "",
        )

    is_short = False  # a vector is made

    @property
    def usage(self) -> dict | None:
        """`chatUsage`; None before it got a place in the batch."""
        if not self.request.started:
            return None
        return {"prompt_tokens": len(self.request.prompt_ids), "cached_tokens": 0, "completion_tokens": 0}

    # Sink

    def started(self, cached_tokens: int) -> None:
        pass

    def sampled(self, index: int, token: Token, end: End | None) -> None:
        raise AssertionError("an embedding samples nothing")

    def ended(self, index: int) -> None:
        self._done(self._result)

    def failed(self, error: EngineError) -> None:
        self._done(error)

    def _result(self) -> dict:
        counts = {"prompt_token_ids": self.request.prompt_ids, "cached_tokens": 0, "completion_tokens": 0}
        return {**counts, "embedding": self._mean.vector()}
