"""Settings of the operator. The server passes each of them (server/src/engines/python-process.ts)."""

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, field, fields


def _setting(meaning: str, default: int | None = None) -> int | None:
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True)
class Settings:
    """None where the engine decides by the machine and the model. Each is an option of the command line."""

    kv_bytes: int | None = _setting("memory for keys and values of each base model")
    cache_bytes: int | None = _setting("memory for prompts that are kept for the next request, of each base model")
    adapter_bytes: int | None = _setting("memory for adapters that are kept for the next request, of each base model")

    unload_idle_s: int | None = _setting("after how long a base model that nobody uses gives its memory back")

    chat_template_ms: int = _setting("how long a chat template may take", 5_000)

    grammar_ms: int = _setting("how long compiling a grammar may take", 3_000)
    grammar_bytes: int = _setting("how large a schema, pattern, grammar or list of choices may be", 262_144)

    @staticmethod
    def add_options(parser: ArgumentParser) -> None:
        for each in fields(Settings):
            parser.add_argument(_option(each.name), type=_count, default=each.default, help=each.metadata["meaning"])

    @staticmethod
    def from_options(options: Namespace) -> "Settings":
        return Settings(**{each.name: getattr(options, each.name) for each in fields(Settings)})


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _count(text: str) -> int:
    value = int(text)
    if value < 0:
        raise ValueError(text)
    return value
