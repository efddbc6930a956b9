"""The text of one choice as it grows: decodes bytes, cuts stop strings off, splits reasoning and tool calls."""

from ..text.harmony import HarmonyParser
from ..text.markers import begun
from ..text.tokenizer import GrowingText, TextTokenizer
from ..text.toolcalls import OutputParser, Pieces, ToolCall
from .generation import End
from .sampling import SamplingParams


class ChoiceText:
    """`feed` takes every sampled token in order; the text that it returns is final and may be streamed."""

    def __init__(self, tokenizer: TextTokenizer, params: SamplingParams, parser: OutputParser | HarmonyParser):
        self._tokenizer, self._params, self._parser = tokenizer, params, parser
        self._growing = GrowingText()
        self._held = ""
        self.content, self.reasoning = "", ""
        self.tool_calls: list[ToolCall] = []

    def feed(self, token_id: int, end: End | None) -> Pieces:
        before = len(self._held)
        self._held += self._growing.feed(self._visible(token_id, end))
        if end:
            self._held += self._growing.finish()
            pieces = self._parser.feed(self._cut(end, before))
            pieces = _join(pieces, self._parser.finish())
        else:
            ready = len(self._held) - begun(self._held, self._params.stop)
            pieces = self._parser.feed(self._held[:ready])
            self._held = self._held[ready:]
        self.content += pieces.content
        self.reasoning += pieces.reasoning
        self.tool_calls += pieces.tool_calls
        return pieces

    def finish_reason(self, end: End) -> str:
        return "tool_calls" if self.tool_calls and end.reason == "stop" else end.reason

    def _visible(self, token_id: int, end: End | None) -> bytes:
        ends_turn = end is not None and end.reason == "stop" and not isinstance(end.stop_reason, str)
        if ends_turn and not self._params.include_stop_str_in_output:
            return b""
        hidden = self._params.skip_special_tokens and token_id in self._tokenizer.unseen_ids
        return b"" if hidden else self._tokenizer.token_bytes(token_id)

    def _cut(self, end: End, before: int) -> str:
        """The held text up to the stop string that ended the choice, which ends behind `before` characters."""
        if not isinstance(end.stop_reason, str):
            return self._held
        start = self._held.index(end.stop_reason, max(0, before - len(end.stop_reason) + 1))
        kept = start + len(end.stop_reason) if self._params.include_stop_str_in_output else start
        return self._held[:kept]


def _join(first: Pieces, second: Pieces) -> Pieces:
    return Pieces(
        first.content + second.content, first.reasoning + second.reasoning, first.tool_calls + second.tool_calls
    )
