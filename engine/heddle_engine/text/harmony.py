"""Splits what gpt-oss writes, OpenAI's harmony format, into reasoning, content and tool calls as it grows.

An answer is messages: a header that names a channel and perhaps who is spoken to, `<|message|>`, a body, and a token
that ends it. Bodies of `analysis` are reasoning, those to `functions.<name>` are calls of that tool, all others are
content.
"""

import json
import re
import secrets
from typing import Literal

from .markers import begun
from .toolcalls import Pieces, ToolCall

START, CHANNEL, MESSAGE = "<|start|>", "<|channel|>", "<|message|>"
_ENDS = ("<|end|>", "<|call|>", "<|return|>", START)
HARMONY_TOKENS = (START, CHANNEL, MESSAGE, "<|constrain|>", *_ENDS[:3])

_END = re.compile("|".join(map(re.escape, _ENDS)))
_OF_CHANNEL = re.compile(re.escape(CHANNEL) + r"\s*(\w+)")
NAME_OF_TOOL = re.compile(r"[\w.-]+")
"""What a header can name a tool by."""
_RECIPIENT = re.compile(rf"to=functions\.({NAME_OF_TOOL.pattern})")
_HEADS = (START, CHANNEL, " to=")
"""How a header begins: the prompt ends with the name of the role."""
_LONGEST_HEADER = 10_000
"""Characters. One that goes on is none, and its text is content: nothing is held back and read anew without end."""


Place = Literal["message", "header", "body"]
"""What an answer begins with: a message, the rest of a header behind the role, or the rest of a body."""


def place_at_end(prompt: str) -> Place:
    """Where the answer to `prompt` begins."""
    _, start, last = prompt.rpartition(START)
    if not start or _END.search(last):
        return "message"
    return "body" if MESSAGE in last else "header"


class HarmonyParser:
    """`feed` text, then `finish`. Without `tools` the body of a call is content, as is text without any header."""

    def __init__(self, tools: bool):
        self._tools = tools
        self._held = ""
        self._reads_header = True
        self._channel, self._called, self._arguments = "final", "", ""

    def feed(self, text: str) -> Pieces:
        self._held += text
        pieces = Pieces()
        while self._take_header() if self._reads_header else self._take_body(pieces):
            pass
        return pieces

    def finish(self) -> Pieces:
        """What is held back as what it turned out to be. A header that has no body yet says nothing."""
        pieces = self.feed("")
        # A marker is one token, so a part of it was written as text.
        if self._reads_header and any(self._held != head and head.startswith(self._held) for head in (START, CHANNEL)):
            self._begin("final", "")
        if not self._reads_header:
            self._add(pieces, self._held)
            self._end(pieces)
        return pieces

    def _take_header(self) -> bool:
        may_be = any(self._held.startswith(head) or head.startswith(self._held) for head in _HEADS)
        header, marker, body = self._held.partition(MESSAGE)
        if not may_be or len(header) > _LONGEST_HEADER:
            self._begin("final", "")
            return True
        if not marker:
            return False
        channel, recipient = _OF_CHANNEL.search(header), _RECIPIENT.search(header)
        self._begin(channel[1] if channel else "final", recipient[1] if recipient and self._tools else "")
        self._held = body
        return True

    def _begin(self, channel: str, called: str) -> None:
        self._channel, self._called, self._reads_header, self._arguments = channel, called, False, ""

    def _take_body(self, pieces: Pieces) -> bool:
        end = _END.search(self._held)
        if end is None:
            ready = len(self._held) - begun(self._held, _ENDS)
            self._add(pieces, self._held[:ready])
            self._held = self._held[ready:]
            return False
        self._add(pieces, self._held[: end.start()])
        self._end(pieces)
        self._held = self._held[end.start() if end[0] == START else end.end() :]
        self._reads_header = True
        return bool(self._held)

    def _add(self, pieces: Pieces, text: str) -> None:
        if self._called:
            self._arguments += text
        elif self._channel == "analysis":
            pieces.reasoning += text
        else:
            pieces.content += text

    def _end(self, pieces: Pieces) -> None:
        """The body is whole: a call's arguments must be an object, else they stay text."""
        if not self._called:
            return
        try:
            is_object = isinstance(json.loads(self._arguments or "{}"), dict)
        except (ValueError, RecursionError):
            is_object = False
        if is_object:
            pieces.tool_calls.append(ToolCall(f"call_{secrets.token_hex(12)}", self._called, self._arguments or "{}"))
        else:
            pieces.content += self._arguments
        self._called = ""
