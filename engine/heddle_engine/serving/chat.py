"""`chat`: from wire parameters to a request, and from its tokens to events and a result."""

from collections.abc import Callable
from functools import cached_property

from ..bases import Base
from ..errors import EngineError
from ..protocol import MAX_FRAME_BYTES
from ..text.function_calls import ParameterTypes, parameter_types, writes_tags
from ..text.harmony import HarmonyParser
from ..text.render import TooManyCharactersError
from ..text.toolcalls import (
    THINK_CLOSE,
    THINK_OPEN,
    OutputParser,
    Pieces,
    ToolCall,
    ends_in_thought,
    reasons,
    tool_format,
)
from .answer_form import forced_call, forced_opening, grammar_of
from .constraint import Thinking
from .generation import End, Request, Token
from .output import ChoiceText
from .prompt_reading import PromptLogprobs
from .sampling import SamplingParams

Event = tuple[str, dict]

_NORMALIZED = 4
"""How much shorter a tokenizer's normalisation may make a text; composing characters makes at most three of one."""

_MOST_TOP = 20

_SHORT_RESULT = 16
"""A result of at most so many tokens and alternatives is put together on the event loop."""

_LEAST_ENTRY_BYTES = 34
"""The shortest entry of a result, for a token or an alternative: `{"id":5,"logprob":0.0,"bytes":[]}` and a comma."""

_MOST_ENTRIES = MAX_FRAME_BYTES // _LEAST_ENTRY_BYTES
"""A result of more entries fits into no frame, and is refused before it takes gigabytes of memory."""

_LONGEST_OPENING = 16
"""Tokens looked at where a template has no end-of-turn token before the generation prompt."""


def prompt_ids(base: Base, params: dict) -> list[int]:
    """The prompt's token ids, from whichever of messages, prompt and ids the call has. Raises `invalid`."""
    given = [name for name in ("messages", "prompt", "prompt_token_ids") if params.get(name) is not None]
    if len(given) != 1:
        named = " and ".join(given) or "none of them"
        raise EngineError("invalid", f"Send one of messages, prompt and prompt_token_ids; the call has {named}.")
    if given == ["prompt"]:
        if len(params["prompt"]) > _most_characters(base):
            raise _too_many_characters(base, len(params["prompt"]), "prompt")
        ids = base.tokenizer.encode_prompt(params["prompt"])
    elif given == ["prompt_token_ids"]:
        ids = check_ids(base, params["prompt_token_ids"], "prompt_token_ids")
    else:
        ids = _render(base, params)
    if not ids:
        raise EngineError("invalid", "The prompt has no tokens.", given[0])
    return ids


def _render(base: Base, params: dict) -> list[int]:
    try:
        text = base.renderer.text(
            params["messages"],
            params.get("tools"),
            add_generation_prompt=params.get("add_generation_prompt", True),
            continue_final_message=params.get("continue_final_message", False),
            variables=params.get("chat_template_kwargs"),
            most=_most_characters(base),
        )
    except TooManyCharactersError as error:
        raise _too_many_characters(base, error.count, "messages") from None
    if opening := forced_opening(base, params):
        # Whatever else the text says of the mark is a user's.
        thinks = reasons(base.renderer.source) and text.rstrip().endswith(THINK_OPEN)
        text += f"{THINK_CLOSE}\n\n{opening}" if thinks else opening
    return base.tokenizer.encode(text)


def _most_characters(base: Base) -> int:
    """A longer text cannot fit, which is known before the seconds or minutes that encoding it takes."""
    return base.max_model_len * base.tokenizer.longest_symbol * _NORMALIZED


def _too_many_characters(base: Base, count: int, param: str) -> EngineError:
    return EngineError(
        "invalid",
        f"This model's maximum context length is {base.max_model_len} tokens. However, your {param} "
        f"has {count} characters, more than so many tokens can stand for. Reduce its length.",
        param,
    )


def check_ids(base: Base, ids: list[int], param: str) -> list[int]:
    """`ids` when all are tokens of the model; raises `invalid` naming the first that is not."""
    vocab_size = base.config.vocab_size
    for place, token_id in enumerate(ids):
        if not 0 <= token_id < vocab_size:
            known = f"this model's tokens are 0 to {vocab_size - 1}"
            raise EngineError("invalid", f"{param} names token {token_id}; {known}.", f"{param}[{place}]")
    return ids


def check_length(base: Base, ids: list[int], room: int, param: str) -> None:
    """Raises `invalid` unless `room` more tokens fit behind `ids`."""
    if len(ids) + room > base.max_model_len:
        raise EngineError(
            "invalid",
            f"This model's maximum context length is {base.max_model_len} tokens. However, your {param} "
            f"has {len(ids)} tokens. Reduce its length.",
            param,
        )


class ChatCall:
    """One `chat` in progress. It is its request's sink: the batcher's thread calls the sink methods.

    `emit` takes events for the caller in order; `done` takes the error, or what makes the result, once.
    `grammar` is to be compiled into the request's before that begins.
    """

    def __init__(
        self,
        base: Base,
        params: dict,
        most_grammar_bytes: int,
        emit: Callable[[Event], None],
        done: Callable[[Callable[[], dict] | EngineError], None],
    ):
        self.base = base
        if params.get("tool_choice", "auto") == "none":
            params = {**params, "tools": None}
        self._stream = params.get("stream", False)
        self._emit, self._done = emit, done
        ids = prompt_ids(self.base, params)
        sampling = SamplingParams.from_wire(params.get("sampling", {}), self.base.config.vocab_size)
        room = 0 if sampling.max_tokens == 0 else 1
        check_length(self.base, ids, room, "prompt" if params.get("messages") is None else "messages")
        self._prompt_logprobs = _prompt_logprobs(ids, params.get("prompt_logprobs"), sampling)
        adapter = params.get("adapter")
        self.request = Request(
            prompt_ids=ids,
            params=sampling,
            n=params.get("n", 1),
            adapter=self.base.adapters.get(adapter["key"], adapter["path"]) if adapter else None,
            cache_salt=params.get("cache_salt", ""),
            sink=self,
            tokenizer=self.base.tokenizer,
            max_length=self.base.max_model_len,
            reader=self._prompt_logprobs,
            tenant=params.get("tenant", ""),
            adapter_path=adapter["path"] if adapter else "",
        )
        self.grammar = grammar_of(self.base, params, ids, most_grammar_bytes)
        self.request.thinking = self._thinking(params)
        self._cached = 0
        types = parameter_types(params.get("tools"))
        self._texts = [self._text(params, types) for _ in range(self.request.n)]
        self._tokens: list[list[Token]] = [[] for _ in range(self.request.n)]
        self._ends: list[End | None] = [None] * self.request.n
        self._counts = [0] * self.request.n
        self._entries = 0

    def _thinking(self, params: dict) -> Thinking:
        thinks = params.get("messages") is not None and reasons(self.base.renderer.source)
        if not thinks or forced_call(self.base, params):
            return "never"
        if ends_in_thought(self._generation_prompt):
            return "does"
        return "never" if THINK_CLOSE in self._generation_prompt else "may"

    def _text(self, params: dict, types: ParameterTypes) -> ChoiceText:
        source = self.base.renderer.source
        chat = params.get("messages") is not None
        format_ = tool_format(source)
        if chat and format_ == "harmony":
            return ChoiceText(self.base.tokenizer, self.request.params, HarmonyParser(bool(params.get("tools"))))
        tools = format_ if chat and params.get("tools") else None
        parser = OutputParser(
            tools, chat and reasons(source), self._generation_prompt, types, tagged=writes_tags(source)
        )
        parser.feed(forced_opening(self.base, params))
        return ChoiceText(self.base.tokenizer, self.request.params, parser)

    @cached_property
    def _generation_prompt(self) -> str:
        """The text that the template wrote after the last turn, which may open or close a think block."""
        ids, ends = self.request.prompt_ids, self.base.tokenizer.eos_ids
        last = next((place for place in range(len(ids) - 1, -1, -1) if ids[place] in ends), len(ids) - _LONGEST_OPENING)
        return self.base.tokenizer.decode(ids[max(last, 0) :])

    @property
    def usage(self) -> dict | None:
        """`chatUsage`: what the call has used so far; None before it got a place in the batch."""
        if not self.request.started:
            return None
        counts = {"cached_tokens": self._cached, "completion_tokens": sum(self._counts)}
        return {"prompt_tokens": len(self.request.prompt_ids), **counts}

    @property
    def is_short(self) -> bool:
        """Whether handing the result to a thread would take longer than putting it together."""
        to_assemble = 0 if self._stream else sum(self._counts) * (1 + self.request.params.top_logprobs)
        return self._prompt_logprobs is None and to_assemble <= _SHORT_RESULT

    # Sink

    def started(self, cached_tokens: int) -> None:
        self._cached = cached_tokens
        if self._stream:
            self._emit(("start", {"prompt_token_ids": self.request.prompt_ids, "cached_tokens": cached_tokens}))

    def sampled(self, index: int, token: Token, end: End | None) -> None:
        self._counts[index] += 1
        self._ends[index] = end
        if self._stream:
            text = self._texts[index]
            before = len(text.tool_calls)
            self._emit(("delta", self._delta(index, text.feed(token.id, end), before, token)))
        else:
            self._keep(index, token)
        if end and all(self._ends):
            self._done(self._result)

    def _keep(self, index: int, token: Token) -> None:
        """For the result. Raises `invalid` once that cannot fit into a frame."""
        self._tokens[index].append(token)
        self._entries += 1 + len(token.top)
        if self._entries > _MOST_ENTRIES:
            raise EngineError(
                "invalid",
                f"The answer is too large: it has more than {_MOST_ENTRIES} tokens and alternatives to them. "
                "Ask for fewer choices, tokens or top_logprobs, or stream.",
            )

    def ended(self, index: int) -> None:
        self._ends[index] = End("length")
        if all(self._ends):
            self._done(self._result)

    def failed(self, error: EngineError) -> None:
        self._done(error)

    def _delta(self, index: int, pieces: Pieces, calls_before: int, token: Token) -> dict:
        calls = [{**_wire_call(call), "index": calls_before + i} for i, call in enumerate(pieces.tool_calls)]
        return {
            "index": index,
            "content": pieces.content,
            "reasoning": pieces.reasoning,
            "tool_calls": calls,
            "tokens": [self._wire_token(token)],
        }

    def _result(self) -> dict:
        """`chatResult`; called off the batcher's thread, as assembling an answer takes a while."""
        return {
            "prompt_token_ids": self.request.prompt_ids,
            "cached_tokens": self._cached,
            "completion_tokens": sum(self._counts),
            "choices": [self._choice(index) for index in range(self.request.n)],
            "prompt_logprobs": self._wire_prompt() if self._prompt_logprobs else None,
        }

    def _wire_prompt(self) -> list[dict]:
        """One entry a token of the prompt; nothing predicts the first."""
        first, *others = self.request.prompt_ids
        predicted = zip(others, self._prompt_logprobs.tokens(), strict=True)
        return [
            self._wire_prompt_token(first, None, None, []),
            *(self._wire_prompt_token(i, _finite(token.logprob), token.rank, token.top) for i, token in predicted),
        ]

    def _wire_prompt_token(
        self, token_id: int, logprob: float | None, rank: int | None, top: list[tuple[int, float]]
    ) -> dict:
        data = list(self.base.tokenizer.token_bytes(token_id))
        return {"id": token_id, "logprob": logprob, "rank": rank, "bytes": data, "top": self._wire_top(top)}

    def _choice(self, index: int) -> dict:
        text, end, tokens = self._texts[index], self._ends[index], self._tokens[index]
        for place, token in enumerate(tokens):
            text.feed(token.id, end if place == len(tokens) - 1 else None)
        return {
            "index": index,
            "content": text.content if text.content or not text.tool_calls else None,
            "reasoning": text.reasoning or None,
            "tool_calls": [_wire_call(call) for call in text.tool_calls],
            "finish_reason": text.finish_reason(end),
            "stop_reason": end.stop_reason,
            "tokens": [self._wire_token(token) for token in tokens],
        }

    def _wire_token(self, token: Token) -> dict:
        return {
            "id": token.id,
            "logprob": token.logprob,
            "bytes": list(self.base.tokenizer.token_bytes(token.id)),
            "top": self._wire_top(token.top),
        }

    def _wire_top(self, top: list[tuple[int, float]]) -> list[dict]:
        spell = self.base.tokenizer.token_bytes
        return [{"id": i, "logprob": _finite(value), "bytes": list(spell(i))} for i, value in top]


def _prompt_logprobs(ids: list[int], num_top: int | None, sampling: SamplingParams) -> PromptLogprobs | None:
    if num_top is None:
        if sampling.max_tokens == 0:
            raise EngineError("invalid", "max_tokens must be at least 1, not 0, unless prompt_logprobs asks for some.")
        return None
    if not 0 <= num_top <= _MOST_TOP:
        raise EngineError(
            "invalid", f"prompt_logprobs must be between 0 and {_MOST_TOP}, not {num_top}.", "prompt_logprobs"
        )
    return PromptLogprobs(ids, num_top)


def _finite(logprob: float) -> float:
    """JSON has no infinity; -9999 is what servers of this API send for it (training-api 4.5)."""
    return max(logprob, -9999.0)


def _wire_call(call: ToolCall) -> dict:
    return {"id": call.id, "name": call.name, "arguments": call.arguments}
