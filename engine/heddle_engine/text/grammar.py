"""Which tokens may come next in a text that must follow a JSON schema, a pattern or a grammar.

Found by llguidance (https://github.com/guidance-ai/llguidance) from the bytes of the model's tokens.
"""

import json
from dataclasses import dataclass

import numpy as np
from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

from ..errors import EngineError
from .grammar_text import LIMITS
from .tokenizer import TextTokenizer

_LONGEST_REASON = 500


@dataclass(frozen=True)
class GrammarSource:
    """A constraint on an answer: all but `param`, the client's name for it, as in `grammar_text`."""

    kind: str
    body: str
    param: str
    around: str = ""

    @staticmethod
    def from_wire(wire: dict, most_bytes: int, around: str = "") -> "GrammarSource":
        """From the wire's `structuredOutput`, or the same with kind `lark`. Raises `invalid` when it is too large."""
        kind, param = wire["kind"], wire["param"]
        parts = {"json": "schema", "choice": "options"}
        body = json.dumps(wire[parts[kind]], ensure_ascii=False) if kind in parts else wire["text"]
        size = len(body.encode("utf-8", "surrogatepass"))
        if size > most_bytes:
            raise unusable(param, f"it has {size} bytes, and at most {most_bytes} are taken. Make it smaller.")
        return GrammarSource(kind, body, param, around)


class GrammarMatcher:
    """Follows one text from its first token."""

    def __init__(self, matcher: LLMatcher, vocab_size: int, param: str):
        self._matcher, self._vocab_size, self.param = matcher, vocab_size, param

    def fork(self) -> "GrammarMatcher":
        """The same state, to be continued on its own."""
        return GrammarMatcher(self._matcher.deep_copy(), self._vocab_size, self.param)

    def allowed(self) -> np.ndarray:
        """bool [vocab]: the tokens that may come next; the ends of turn where the text may be over.

        Raises `invalid` where finding them takes more than one step may.
        """
        bits = np.frombuffer(self._matcher.compute_bitmask(), np.uint8)
        self._check()
        return np.unpackbits(bits, bitorder="little")[: self._vocab_size].astype(bool)

    def accept(self, token_id: int) -> None:
        """`token_id` comes next. Raises `invalid` as `allowed` does."""
        self._matcher.consume_token(token_id)
        self._check()

    def _check(self) -> None:
        if self._matcher.is_error():
            raise unusable(self.param, _reason(self._matcher))


class GrammarCompiler:
    """Makes matchers for one tokenizer. Takes up to a second to make."""

    def __init__(self, tokenizer: TextTokenizer, vocab_size: int):
        self._vocab_size = vocab_size
        if not tokenizer.eos_ids:
            raise EngineError("invalid", "This model has no end-of-turn token, which structured output needs.")
        vocabulary = TokenizerWrapper(_Vocabulary(tokenizer, vocab_size))
        self._tokens = LLTokenizer(vocabulary, n_vocab=vocab_size, eos_token=sorted(tokenizer.eos_ids))

    def compile(self, text: str, param: str) -> GrammarMatcher:
        """Raises `invalid` that says what of the grammar `text` (`grammar_text`) cannot be followed."""
        try:
            matcher = LLMatcher(self._tokens, text, log_level=0, limits=LIMITS)
        except ValueError as error:
            raise unusable(param, str(error)) from error
        if not matcher.is_error():
            matcher.compute_bitmask()  # the first step is by far the longest, and tells most of what cannot be followed
        if matcher.is_error():
            raise unusable(param, _reason(matcher))
        return GrammarMatcher(matcher, self._vocab_size, param)


class _Vocabulary:
    """The interface through which llguidance reads a tokenizer, so that both see the same bytes of a token."""

    bos_token_id = None

    def __init__(self, tokenizer: TextTokenizer, vocab_size: int):
        self._tokenizer = tokenizer
        self.eos_token_id = min(tokenizer.eos_ids)
        self.tokens = [tokenizer.token_bytes(token_id) for token_id in range(vocab_size)]
        self.special_token_ids = sorted(tokenizer.special_ids | tokenizer.eos_ids)

    def __call__(self, text: str | bytes) -> list[int]:
        return self._tokenizer.encode(text if isinstance(text, str) else text.decode("utf-8", "replace"))


def _reason(matcher: LLMatcher) -> str:
    """llguidance's message, without the traces that follow it."""
    message = matcher.get_error().partition("\n<")[0].strip()
    return message if len(message) <= _LONGEST_REASON else f"{message[:_LONGEST_REASON]} …"


def unusable(param: str, reason: str) -> EngineError:
    return EngineError("invalid", f"The answer cannot be held to {param}: {reason}", param)
