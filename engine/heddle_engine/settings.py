"""Settings of the operator. The server passes each of them (server/src/engines/python-process.ts)."""

import subprocess
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import dataclass, field, fields
from pathlib import Path

from .listening import check_private, host_and_port, read_token

_INSTALL_VLLM = (
    "Install it with `npm run install-vllm` for the CPU, or as docs/guide/vllm.md says for a GPU, "
    "and name its Python in HEDDLE_VLLM_PYTHON"
)
DTYPES = ("auto", "fp32", "bf16")
SAMPLERS = ("heddle", "vllm")


def _count(text: str) -> int:
    value = int(text)
    if value < 0:
        raise ValueError(text)
    return value


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"must be a whole number from 1, not {text!r}")
    return int(text)


def _setting(meaning: str, default: int | None = None) -> int | None:
    return field(default=default, metadata={"meaning": meaning, "type": _count})


def _path(meaning: str) -> str | None:
    return field(default=None, metadata={"meaning": meaning, "type": str})


def _choice(meaning: str, choices: tuple[str, ...]) -> str:
    """The first of them where nothing is set."""
    return field(default=choices[0], metadata={"meaning": meaning, "choices": choices})


@dataclass(frozen=True)
class Settings:
    """None where the engine decides by the machine and the model. Each is an option of the command line."""

    kv_bytes: int | None = _setting("memory for keys and values of each base model")
    cache_bytes: int | None = _setting("memory for prompts that are kept for the next request, of each base model")
    adapter_bytes: int | None = _setting("memory for adapters that are kept for the next request, of each base model")

    dtype: str = _choice("number format of weights, keys and values; auto: as the checkpoint and the device", DTYPES)

    trainers: int = field(
        default=1, metadata={"meaning": "processes that share out the work of each training step", "type": _positive}
    )

    trainers_listen: str | None = _path(
        "HOST:PORT where training workers that others start connect, torchrun's for one"
    )
    trainers_token_file: str | None = _path("file with the token that those workers show")

    unload_idle_s: int | None = _setting("after how long a base model that nobody uses gives its memory back")

    chat_template_ms: int = _setting("how long a chat template may take", 5_000)

    grammar_ms: int = _setting("how long compiling a grammar may take", 3_000)
    grammar_bytes: int = _setting("how large a schema, pattern, grammar or list of choices may be", 262_144)

    sampler: str = _choice("what samples: the engine itself, or vLLM beside it", SAMPLERS)
    vllm_python: str | None = _path("the Python of the environment that has vLLM")
    vllm_lora_rank: int = _setting("the largest rank of adapters that vLLM serves", 16)

    @staticmethod
    def add_options(parser: ArgumentParser) -> None:
        for each in fields(Settings):
            named = {name: value for name, value in each.metadata.items() if name != "meaning"}
            parser.add_argument(_option(each.name), default=each.default, help=each.metadata["meaning"], **named)

    @staticmethod
    def from_options(options: Namespace) -> "Settings":
        """Raises ValueError with a sentence for the operator."""
        settings = Settings(**{each.name: getattr(options, each.name) for each in fields(Settings)})
        if settings.sampler == "vllm":
            _check_vllm(settings.vllm_python)
        if settings.trainers_listen is not None:
            _check_trainers(settings)
        return settings


def _check_trainers(settings: Settings) -> None:
    host, _ = host_and_port("--trainers-listen", settings.trainers_listen)
    check_private("--trainers-listen", host)
    if settings.trainers_token_file is None:
        raise ValueError("--trainers-listen needs --trainers-token-file, as anyone who reaches the port could train")
    read_token("--trainers-token-file", Path(settings.trainers_token_file))
    if settings.trainers < 2:
        raise ValueError("--trainers-listen needs --trainers: the number of workers, and one for the engine itself")


def _check_vllm(python: str | None) -> None:
    if python is None:
        raise ValueError(
            f"--sampler vllm needs --vllm-python: the Python of the environment that has vLLM. {_INSTALL_VLLM}."
        )
    # Found without being imported, which takes half a minute.
    probe = "import importlib.util, sys; sys.exit(importlib.util.find_spec('vllm') is None)"
    try:
        found = subprocess.run([python, "-c", probe], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
    except OSError as error:
        raise ValueError(
            f"{python}, which is to run vLLM, does not start: {error.strerror}. {_INSTALL_VLLM}."
        ) from error
    if not found:
        raise ValueError(f"{python} has no vLLM. {_INSTALL_VLLM}.")


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
