"""Splits generated text into reasoning, content and tool calls, as it grows.

Formats: Hermes and Qwen (`<tool_call>{…}</tool_call>`, or `function_calls` within the same marks or none), Mistral
(`[TOOL_CALLS][{…}]`), Llama 3 (the whole answer is `{"name": …, "parameters": …}`); `harmony` is another
parser. Text that may still become a marker is held back; a call that does not parse stays text.
"""

import json
import re
import secrets
import string
from dataclasses import dataclass, field
from typing import Literal

from . import function_calls
from .function_calls import ParameterTypes, parse_function_calls
from .markers import begun

ToolFormat = Literal["hermes", "mistral", "llama3", "harmony"]

_OPEN = {"hermes": "<tool_call>", "mistral": "[TOOL_CALLS]", "llama3": "{"}
_CLOSE = {"hermes": "</tool_call>", "mistral": None, "llama3": None}
THINK_OPEN, THINK_CLOSE = "<think>", "</think>"
MARKER_TOKENS = ("[TOOL_CALLS]", "<|python_tag|>", "<tool_call>", "</tool_call>", THINK_OPEN, THINK_CLOSE)
"""Markers that some tokenizers make special tokens; the parser must see them where text leaves specials out."""

_ID_SIGNS = string.ascii_letters + string.digits
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class ToolCall:
    """`arguments` is JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass
class Pieces:
    """The parts that one feed added."""

    content: str = ""
    reasoning: str = ""
    tool_calls: list[ToolCall] = field(default_factory=list)


def tool_format(template: str) -> ToolFormat:
    """The format a chat template teaches; Hermes where it names none."""
    if "<|channel|>" in template:
        return "harmony"
    if "[TOOL_CALLS]" in template:
        return "mistral"
    if "<tool_call>" not in template and ("<|python_tag|>" in template or '"parameters"' in template):
        return "llama3"
    return "hermes"


def reasons(template: str) -> bool:
    return THINK_CLOSE in template


def ends_in_thought(text: str) -> bool:
    """Whether a think block of `text` is open at its end."""
    return text.rfind(THINK_OPEN) > text.rfind(THINK_CLOSE)


class OutputParser:
    """`feed` text, then `finish`. `tools` None leaves tool markers in the content; `types` are of their parameters.

    `tagged`: the model writes `function_calls`, and may forget the marks around one, as Qwen3-Coder does.
    """

    def __init__(
        self,
        tools: ToolFormat | None,
        reasoning: bool,
        prompt_tail: str = "",
        types: ParameterTypes | None = None,
        tagged: bool = False,
    ):
        self._tools, self._types = tools, types or {}
        self._held = ""
        self._mode: Literal["start", "think", "content", "call"] = "content"
        if reasoning:
            self._mode = "think" if ends_in_thought(prompt_tail) else "start"
        self._said_content = self._said_reasoning = self._called = self._thought = False
        self._marks = (_OPEN[tools],) if tools else ()
        if tagged and tools == "hermes":
            self._marks += (function_calls.OPEN,)
        # Of the call being read: white space and mark before it, given back if it is none, and what may end it.
        self._gap = self._mark = ""
        self._ends: tuple[str, ...] = ()
        self._forgot_mark = False

    def feed(self, text: str) -> Pieces:
        self._held += text
        pieces = Pieces()
        while self._advance(pieces):
            pass
        return pieces

    def finish(self) -> Pieces:
        """Everything held back, as what it turned out to be."""
        pieces = self.feed("")
        rest, self._held = self._held, ""
        if self._mode == "call" and not self._take_calls(rest, pieces):
            self._say(pieces, self._reopened(rest))
        elif self._mode == "think":
            self._think(pieces, rest.rstrip())
        elif self._mode in ("start", "content") and not (self._called and not rest.strip()):
            self._say(pieces, rest)
        return pieces

    def _advance(self, pieces: Pieces) -> bool:
        """One transition; False when more text is needed."""
        return {"start": self._at_start, "think": self._in_think, "content": self._in_content, "call": self._in_call}[
            self._mode
        ](pieces)

    def _at_start(self, _pieces: Pieces) -> bool:
        text = self._held.lstrip()
        if text.startswith(THINK_OPEN):
            self._held, self._mode = text[len(THINK_OPEN) :], "think"
            return True
        if THINK_OPEN.startswith(text):
            return False
        self._mode = "content"
        return True

    def _in_think(self, pieces: Pieces) -> bool:
        if not self._said_reasoning:
            self._held = self._held.lstrip()
        before, marker, after = self._held.partition(THINK_CLOSE)
        if marker:
            self._think(pieces, before.rstrip())
            self._held, self._mode, self._thought = after, "content", True
            return True
        ready = len(before) - _held_back(before, (THINK_CLOSE,))
        self._think(pieces, before[:ready])
        self._held = before[ready:]
        return False

    def _in_content(self, pieces: Pieces) -> bool:
        if self._thought and not self._said_content:
            self._held = self._held.lstrip("\n")
        if self._tools is None:
            self._say(pieces, self._held)
            self._held = ""
            return False
        if self._tools == "llama3":
            return self._in_llama_content(pieces)
        if self._forgot_mark and not self._is_past_close():
            return False
        before, mark, after = _cut_at_first(self._held, self._marks)
        if mark:
            self._say(pieces, before.rstrip())
            self._gap = before[len(before.rstrip()) :]
            self._begin_call(mark, after)
            return True
        ready = len(before) - _held_back(before, self._marks)
        self._say(pieces, before[:ready])
        self._held = before[ready:]
        return False

    def _in_llama_content(self, pieces: Pieces) -> bool:
        """Llama 3 calls by answering with nothing but the object."""
        text = self._held.lstrip().removeprefix("<|python_tag|>").lstrip()
        if not text or "<|python_tag|>".startswith(text):
            return False
        if text.startswith("{") and not self._said_content:
            self._gap, self._held, self._mode = "", text, "call"
            return True
        self._say(pieces, self._held)
        self._held = ""
        return False

    def _in_call(self, pieces: Pieces) -> bool:
        body, end, after = _cut_at_first(self._held, self._ends)
        if not end:
            return False
        if end in self._marks:
            # A call begins before this one, which has no mark, ends: this was text about calls.
            self._say(pieces, self._reopened(body.rstrip()))
            after = body[len(body.rstrip()) :] + end + after
        elif self._take_calls(body if self._mark else body + end, pieces):
            self._forgot_mark = not self._mark
        else:
            self._say(pieces, self._reopened(body + end))
        self._held, self._mode = after, "content"
        return True

    def _begin_call(self, mark: str, after: str) -> None:
        self._mode = "call"
        opening, close = _OPEN[self._tools], _CLOSE[self._tools]
        if mark == opening:
            self._mark, self._ends, self._held = mark, (close,) if close else (), after
        else:
            self._mark, self._ends, self._held = "", (function_calls.CLOSE, opening), mark + after

    def _is_past_close(self) -> bool:
        """Drops the mark behind a call of which the model forgot the one before; False while it may still come."""
        text, close = self._held.lstrip(), _CLOSE[self._tools]
        if len(text) < len(close) and close.startswith(text):
            return False
        if text.startswith(close):
            self._held = text.removeprefix(close)
        self._forgot_mark = False
        return True

    def _reopened(self, body: str) -> str:
        return self._gap + self._mark + body

    def _take_calls(self, body: str, pieces: Pieces) -> bool:
        calls = parse_calls(body, self._types, is_marked=self._tools != "llama3")
        pieces.tool_calls += [ToolCall(_new_id(self._tools), *call) for call in calls]
        self._called |= bool(calls)
        return bool(calls)

    def _say(self, pieces: Pieces, text: str) -> None:
        if text and not (self._called and not text.strip()):
            pieces.content += text
            self._said_content = True

    def _think(self, pieces: Pieces, text: str) -> None:
        pieces.reasoning += text
        self._said_reasoning |= bool(text)


def _cut_at_first(text: str, marks: tuple[str, ...]) -> tuple[str, str, str]:
    """What stands before the first of `marks`, the mark, and what stands behind; all of `text` before where none is."""
    place, mark = min(((text.find(mark), mark) for mark in marks if mark in text), default=(len(text), ""))
    return text[:place], mark, text[place + len(mark) :]


def _held_back(text: str, markers: tuple[str, ...]) -> int:
    """How much of the end of `text` may be the start of one of `markers`, the space before it included."""
    longest = begun(text, markers)
    body = text[: len(text) - longest]
    return longest + len(body) - len(body.rstrip())


def parse_calls(body: str, types: ParameterTypes, *, is_marked: bool) -> list[tuple[str, str]]:
    """Name and arguments of each call in `body`, which stands behind a mark of calls or is a whole answer."""
    is_tagged = body.lstrip().startswith(function_calls.OPEN)
    try:
        return parse_function_calls(body, types) if is_tagged else _json_calls(body, is_marked)
    except (ValueError, RecursionError):
        return []


def _json_calls(body: str, is_marked: bool) -> list[tuple[str, str]]:
    """Calls of one object, several separated by `;` or lines, or an array. Raises ValueError, RecursionError."""
    calls, rest = [], body.strip()
    inside = rest.startswith("[")
    rest = rest.removeprefix("[") if inside else rest
    while rest := rest.strip().lstrip(",;" if not inside else ",").strip():
        if inside and rest == "]":
            break
        members, end = _members(rest)
        calls.append(_call(members, is_marked))
        rest = rest[end:]
    return calls


def _new_id(tools: ToolFormat) -> str:
    """Templates of Mistral refuse calls with an id of another length, and their results, where they come back."""
    if tools == "mistral":
        return "".join(secrets.choice(_ID_SIGNS) for _ in range(9))
    return f"call_{secrets.token_hex(12)}"


def _call(members: dict[str, str], is_marked: bool) -> tuple[str, str]:
    name = json.loads(members.get("name", "null"))
    if not isinstance(name, str) or not name:
        raise ValueError("a call needs a name")
    arguments = members.get("arguments", members.get("parameters", "{}" if is_marked else None))
    if arguments is None:
        raise ValueError("an answer that names no arguments may be about anything that has a name")
    value = json.loads(arguments)
    if isinstance(value, str):
        arguments, value = value, json.loads(value)
    if not isinstance(value, dict):
        raise ValueError("arguments must be an object")
    return name, arguments


def _members(text: str) -> tuple[dict[str, str], int]:
    """Top-level members of the JSON object at the start of `text` as raw JSON text, and where it ends."""
    members: dict[str, str] = {}
    _, end = _DECODER.raw_decode(text)
    if not text.startswith("{"):
        raise ValueError("a call is an object")
    place = _skip(text, 1)
    while text[place] != "}":
        key, place = _DECODER.raw_decode(text, place)
        start = _skip(text, _skip(text, place) + 1)
        _, place = _DECODER.raw_decode(text, start)
        members[key] = text[start:place]
        place = _skip(text, place)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return members, end


def _skip(text: str, place: int) -> int:
    return re.compile(r"\s*").match(text, place).end()
