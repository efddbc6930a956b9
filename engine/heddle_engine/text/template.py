"""Chat templates: Jinja in a sandbox, with the conventions that Hugging Face tokenizers follow.

What a template may reach is bounded here, what it may use is not: it is only run in a process that
can be killed (`sandbox_process`). Jinja computes constants when it parses, so parsing is running too.
"""

import datetime
import json

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment


class UnusableTemplateError(Exception):
    """The template does not parse, refuses what it is given, or fails on it."""


class _GenerationTag(Extension):
    """`{% generation %}…{% endgeneration %}` marks assistant text for other trainers; here it is transparent."""

    tags = {"generation"}  # noqa: RUF012 - the attribute Jinja reads

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body).set_lineno(line)


def _raise_exception(message: str):
    raise jinja2.TemplateError(message)


def _strftime_now(form: str) -> str:
    return datetime.datetime.now().strftime(form)


def _tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_GenerationTag, "jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    return environment


class ChatTemplate:
    """A compiled template. Raises UnusableTemplateError."""

    def __init__(self, source: str):
        try:
            self._template = _environment().from_string(source)
        except jinja2.TemplateError as error:
            raise UnusableTemplateError(f"The base model's chat template does not parse: {error}.") from error

    def render(self, variables: dict, most: int) -> str | int:
        """The text, or how long it is at least when it has more than `most` characters."""
        parts, length = [], 0
        try:
            for part in self._template.generate(variables):
                length += len(part)
                if length > most:
                    return length
                parts.append(part)
        except jinja2.TemplateError as error:
            raise UnusableTemplateError(f"The chat template refused the messages: {error}") from error
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
            reason = f"{type(error).__name__}: {error}"
            raise UnusableTemplateError(f"The chat template failed on the messages: {reason}") from error
        return "".join(parts)
