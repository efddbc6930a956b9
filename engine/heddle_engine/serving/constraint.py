"""One choice whose answer must follow a grammar; what comes before the answer, the reasoning, is free."""

from typing import Literal

import numpy as np

from ..errors import EngineError
from ..text.grammar import GrammarMatcher
from ..text.tokenizer import TextTokenizer
from ..text.toolcalls import THINK_CLOSE, THINK_OPEN

Thinking = Literal["never", "may", "does"]
"""Whether the answer begins at once, may begin with a think block, or the prompt has opened one."""


class Constraint:
    """Asked for every token of a choice, in order."""

    def __init__(self, matcher: GrammarMatcher, tokenizer: TextTokenizer, thinking: Thinking):
        self._matcher, self._tokenizer = matcher, tokenizer
        # A think block that is not opened by one token could not be told from the answer.
        self._opener = tokenizer.token_to_id(THINK_OPEN) if thinking == "may" else None
        self._thinks = thinking == "does"
        self._tail = b""
        self._failure: EngineError | None = None

    def allowed(self) -> np.ndarray | None:
        """bool [vocab]: the tokens that may come next; None: any.

        A failure is kept for `accept`, as the batch has nothing to do with it.
        """
        if self._thinks:
            return None
        try:
            allowed = self._matcher.allowed()
        except EngineError as error:
            self._failure = error
            return None
        if self._opener is not None:
            allowed[self._opener] = True
        return allowed

    def accept(self, token_id: int) -> None:
        """`token_id` was sampled. Raises EngineError where the grammar could not be followed to here."""
        if self._failure:
            raise self._failure
        if self._thinks:
            self._think(token_id)
        elif token_id == self._opener:
            self._thinks = True
        else:
            self._matcher.accept(token_id)
        self._opener = None

    def _think(self, token_id: int) -> None:
        close = THINK_CLOSE.encode()
        window = self._tail + self._tokenizer.token_bytes(token_id)
        self._thinks = close not in window
        self._tail = window[-len(close) + 1 :]
