"""An answer that must call a tool: how it begins, and what may follow, in the model's own format.

The beginning is written into the prompt, as the model has no say in it; the rest follows a grammar,
so that the call can be read and its arguments are of the tool's schema. `harmony_grammar` is about the harmony format.
"""

import json
from dataclasses import dataclass

from .grammar_text import JSON_OPTIONS
from .toolcalls import ToolFormat


@dataclass(frozen=True)
class _Spelling:
    """`{begin}{"name": …, "{arguments}": …}`, more of them after `between`, then `end`."""

    begin: str
    arguments: str
    between: str | None
    end: str


_SPELLINGS = {
    "hermes": _Spelling("<tool_call>\n", "arguments", "\n</tool_call>\n<tool_call>\n", "\n</tool_call>"),
    "mistral": _Spelling("[TOOL_CALLS] [", "arguments", ", ", "]"),
    "llama3": _Spelling("", "parameters", None, ""),
}


def call_opening(tools: ToolFormat, name: str | None) -> str:
    """The start of an answer that calls a tool, up to the name, or past it when there is only one choice.

    It ends before a space, where no tokenizer joins what stands on both sides.
    """
    spelling = _SPELLINGS[tools]
    return spelling.begin + ('{"name":' if name is None else _up_to_arguments(spelling, name))


def call_grammar(format_: ToolFormat, tools: list[dict], name: str | None) -> str:
    """Continuations of `call_opening` in llguidance's Lark: calls of the tool `name`, or of any tool if it is None."""
    spelling = _SPELLINGS[format_]
    functions = [tool["function"] for tool in tools if name in (None, tool["function"].get("name"))]
    heads = [_up_to_arguments(spelling, function["name"]) for function in functions]
    opened = len('{"name":') if name is None else len(heads[0])
    more = "" if spelling.between is None else f" ({_quoted(spelling.between)} call)*"
    return "\n".join(
        [
            f"start: opened{more}" + (f" {_quoted(spelling.end)}" if spelling.end else ""),
            _rule("opened", [head[opened:] for head in heads]),
            _rule("call", heads) if more else "",
            *(f"arguments_{i}: %json {arguments_schema(function)}" for i, function in enumerate(functions)),
        ]
    )


def _up_to_arguments(spelling: _Spelling, name: str) -> str:
    return f'{{"name": {json.dumps(name, ensure_ascii=False)}, "{spelling.arguments}":'


def _rule(name: str, heads: list[str]) -> str:
    """The rest of a call behind each of its possible heads."""
    ways = (f'{_quoted(head) if head else ""} " "? arguments_{i} "}}"' for i, head in enumerate(heads))
    return f"{name}: {' | '.join(ways)}"


def _quoted(text: str) -> str:
    return json.dumps(text)


def arguments_schema(function: dict) -> str:
    """A tool's schema without the parts that no grammar can follow: a tool checks its arguments itself."""
    given = function.get("parameters")
    schema = given if isinstance(given, dict) else {}
    return json.dumps({**schema, "type": "object", "x-guidance": {**JSON_OPTIONS, "lenient": True}})
