"""Chat templates: Jinja in a sandbox, with the conventions that Hugging Face tokenizers follow."""

import datetime
import json
from pathlib import Path

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ..errors import EngineError


class _GenerationTag(Extension):
    """`{% generation %}…{% endgeneration %}` marks assistant text for other trainers; here it is transparent."""

    tags = {"generation"}  # noqa: RUF012 - the attribute Jinja reads

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body).set_lineno(line)


def _raise_exception(message: str):
    raise TemplateError(message)


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
    """A compiled template and its source (which names the tool-call and reasoning format)."""

    def __init__(self, source: str):
        self.source = source
        try:
            self._template = _environment().from_string(source)
        except TemplateError as error:
            raise EngineError("invalid", f"The base model's chat template does not parse: {error}.") from error

    def render(self, **variables) -> str:
        """Raises `invalid` with the template's own words."""
        try:
            return self._template.render(**variables)
        except TemplateError as error:
            raise EngineError("invalid", f"The chat template refused the messages: {error}", "messages") from error
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            raise EngineError(
                "invalid", f"The chat template failed on the messages: {type(error).__name__}: {error}", "messages"
            ) from error


def template_source(folder: Path, tokenizer_config: dict, tools: bool) -> str | None:
    """The template of a model folder; a folder with several has one named `tool_use`."""
    if (file := folder / "chat_template.jinja").is_file():
        return file.read_text()
    if (file := folder / "chat_template.json").is_file():
        return json.loads(file.read_text()).get("chat_template")
    found = tokenizer_config.get("chat_template")
    if not isinstance(found, list):
        return found
    named = {entry["name"]: entry["template"] for entry in found}
    return (named.get("tool_use") if tools else None) or named.get("default")
