"""Answers in the harmony format that follow a form, as grammars in llguidance's Lark.

One message of reasoning may come first. Marks of messages are single tokens, which free text has none of.
"""

import json

from ..errors import EngineError
from .harmony import NAME_OF_TOOL, Place
from .tool_choice import arguments_schema

_UP_TO_ROLE = {"message": '<|start|> "assistant" ', "header": "", "body": '<|end|> <|start|> "assistant" '}

_REASONING = r"""
reasoning: <|channel|> "analysis" <|message|> TEXT <|end|> <|start|> "assistant"
TEXT: /(.|\n)*/
form: (" "? <|constrain|> "json" | " json")?"""


def form_grammar(place: Place) -> str:
    """An answer whose last message is `@answer` (`grammar_text`); "" where the answer begins within that."""
    if place == "body":
        return ""
    return f'start: {_UP_TO_ROLE[place]}reasoning? <|channel|> "final" form <|message|> @answer <|return|>{_REASONING}'


def harmony_call_grammar(tools: list[dict], name: str | None, place: Place) -> str:
    """One call of the tool `name`, or of any tool if it is None: `<|call|>` ends the turn.

    Who is called may stand before the channel, as templates write it, or behind it, as models do. Raises `invalid`
    for a tool whose name no header can have.
    """
    functions = [tool["function"] for tool in tools if name in (None, tool["function"].get("name"))]
    return "\n".join(
        [
            f"start: {_UP_TO_ROLE[place]}reasoning? call <|call|>{_REASONING}",
            f"call: {' | '.join(_call(i, function) for i, function in enumerate(functions))}",
            *(f"arguments_{i}: %json {arguments_schema(function)}" for i, function in enumerate(functions)),
        ]
    )


def _call(index: int, function: dict) -> str:
    name = function["name"]
    if not NAME_OF_TOOL.fullmatch(name):
        message = f"The harmony format cannot call a tool named {json.dumps(name, ensure_ascii=False)}."
        raise EngineError("invalid", f"{message} Use letters, digits, _, - and . alone.", "tools")
    to = f" to=functions.{name}"
    headers = f'{json.dumps(to)} <|channel|> "commentary" | <|channel|> {json.dumps(f"commentary{to}")}'
    return f"({headers}) form <|message|> arguments_{index}"
