"""One chat call inside the batcher: its choices, what each has sampled, and why one ends."""

import hashlib
from array import array
from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol

from ..errors import EngineError
from ..model.adapters import ServedAdapter
from ..text.grammar import GrammarMatcher
from ..text.tokenizer import TextTokenizer
from .constraint import Constraint, Thinking
from .kv_lines import KvLine
from .prompt_reading import PromptReader
from .sampler import choice_seed
from .sampling import SamplingParams

FinishReason = Literal["stop", "length"]


@dataclass(frozen=True)
class Token:
    """A sampled token, its raw logprob, and (id, logprob) of the likeliest alternatives."""

    id: int
    logprob: float
    top: list[tuple[int, float]]


@dataclass(frozen=True)
class End:
    """Why a choice ended. `stop_reason` is the stop string or stop token id; None for end of turn and length."""

    reason: FinishReason
    stop_reason: str | int | None = None


class Sink(Protocol):
    """The receiver of a request's progress. Called on the batcher's thread."""

    def started(self, cached_tokens: int) -> None: ...
    def sampled(self, index: int, token: Token, end: End | None) -> None: ...
    def ended(self, index: int) -> None:
        """Choice `index` was to have no token; its prompt is read."""

    def failed(self, error: EngineError) -> None: ...


@dataclass(eq=False)
class Request:
    """A request to sample. `end_ids` end a turn; they are in `params.stop_token_ids` only if the caller named them."""

    prompt_ids: list[int]
    params: SamplingParams
    n: int
    adapter: ServedAdapter | None
    cache_salt: str
    sink: Sink
    tokenizer: TextTokenizer
    max_length: int
    grammar: GrammarMatcher | None = None
    """The constraint on every choice."""
    thinking: Thinking = "never"
    reader: PromptReader | None = None
    """Reads the prompt while the first choice computes it."""
    tenant: str = ""
    """Whose it is; tenants take turns."""
    adapter_path: str = ""
    """The PEFT folder of `adapter`, for a backend that reads it by itself."""
    cancelled: bool = False
    started: bool = False
    prompt_is_read: bool = False
    _num_begun: int = 0
    _put_back: deque["Generation"] = field(default_factory=deque)

    @property
    def namespace(self) -> tuple[str, str]:
        return (self.adapter.key if self.adapter else "", self.cache_salt)

    @cached_property
    def prompt_key(self) -> bytes:
        """Equal for requests whose prompts have the same keys and values."""
        digest = hashlib.sha256(repr(self.namespace).encode())
        digest.update(array("q", self.prompt_ids).tobytes())
        return digest.digest()

    @property
    def num_waiting(self) -> int:
        """Choices that have no row."""
        return self.n - self._num_begun + len(self._put_back)

    def take(self) -> "Generation":
        """The next choice that has no row."""
        if self._put_back:
            return self._put_back.popleft()
        self._num_begun += 1
        return Generation(self, self._num_begun - 1)

    def put_back(self, generation: "Generation") -> None:
        self._put_back.appendleft(generation)


@dataclass(eq=False)
class Generation:
    """One choice. `ids` are prompt and output; keys and values of `line.length` of them are written."""

    request: Request
    index: int
    line: KvLine | None = None
    ids: list[int] = field(init=False)

    def __post_init__(self):
        request = self.request
        self.ids = list(request.prompt_ids)
        self.prompt_length = len(request.prompt_ids)
        self.params = request.params
        self.seed = choice_seed(request.params.seed, self.index)
        self.end_ids = request.params.stop_token_ids
        # Nothing but an end of turn can follow what a grammar calls whole.
        if not request.params.ignore_eos or request.grammar:
            self.end_ids = self.end_ids | request.tokenizer.eos_ids
        limit = request.max_length - self.prompt_length
        most = request.params.max_tokens
        self._limit = limit if most is None else min(limit, most)
        self._stop = StopStrings(request.params, request.tokenizer) if request.params.stop else None
        grammar = request.grammar
        self.constraint = grammar and Constraint(grammar.fork(), request.tokenizer, request.thinking)

    @property
    def adapter(self) -> ServedAdapter | None:
        return self.request.adapter

    @property
    def tenant(self) -> str:
        return self.request.tenant

    @property
    def reads_prompt(self) -> bool:
        """Whether the prompt must be computed whole, because the request reads its hidden states."""
        return self.request.reader is not None and self.index == 0 and not self.request.prompt_is_read

    @property
    def num_sampled(self) -> int:
        return len(self.ids) - self.prompt_length

    @property
    def remaining(self) -> int:
        return self._limit - self.num_sampled

    def accept(self, token: Token) -> bool:
        """Append `token`, report it, and say whether the choice has ended. Raises EngineError."""
        self.ids.append(token.id)
        if self.constraint:
            self.constraint.accept(token.id)
        end = self._end(token.id)
        self.request.sink.sampled(self.index, token, end)
        return end is not None

    def _end(self, token_id: int) -> End | None:
        if token_id in self.end_ids:
            return End("stop", token_id if token_id in self.params.stop_token_ids else None)
        if self._stop:
            found = self._stop.feed(token_id)
            if found is not None and self.num_sampled >= self.params.min_tokens:
                return End("stop", found)
        return End("length") if self.remaining <= 0 else None


class StopStrings:
    """Finds a stop string in the bytes of a token stream, across token borders."""

    def __init__(self, params: SamplingParams, tokenizer: TextTokenizer):
        self._stops = [(text, text.encode()) for text in params.stop]
        self._skipped = tokenizer.unseen_ids if params.skip_special_tokens else frozenset()
        self._keep = max(len(data) for _, data in self._stops) - 1
        self._tokenizer, self._tail = tokenizer, b""

    def feed(self, token_id: int) -> str | None:
        """The stop string that this token completes; the one that begins first, if several."""
        if token_id in self._skipped:
            return None
        before = len(self._tail)
        window = self._tail + self._tokenizer.token_bytes(token_id)
        self._tail = window[max(0, len(window) - self._keep) :]
        # One that ended before this token did not count then (`min_tokens`), and its text is already said.
        places = ((window.find(data, max(0, before - len(data) + 1)), text) for text, data in self._stops)
        return min((found for found in places if found[0] >= 0), default=(0, None))[1]
