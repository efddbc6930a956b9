"""The process in which templates and grammars of strangers run: `python -m heddle_engine.text.sandbox_process SECONDS`.

Says that it is ready, then reads one task after the other from standard input and writes its answer to standard
output, each a 4-byte big-endian length and that many bytes of JSON. Its memory is limited and it cannot write
files. `sandbox` kills it when a task takes too long; should the engine have been killed meanwhile, the task ends
when it has used SECONDS of the processor.
"""

import json
import math
import resource
import struct
import sys
from collections.abc import Callable
from functools import cache, lru_cache

from .harmony import HARMONY_TOKENS
from .template import ChatTemplate, UnusableTemplateError

_LENGTH = struct.Struct(">I")
_MEMORY_BYTES = 1 << 30


@lru_cache(maxsize=8)
def _template(source: str) -> ChatTemplate:
    return ChatTemplate(source)


def _parse(task: dict) -> None:
    _template(task["template"])


def _render(task: dict) -> str | int:
    return _template(task["template"]).render(task["variables"], task["most"])


@cache
def _byte_tokens():
    """Every byte is a token: a grammar takes about as long to compile as for any other vocabulary.

    The marks of the harmony format are tokens too: a grammar that names tokens which are not there is not compiled.
    """
    from llguidance import LLTokenizer, TokenizerWrapper

    return LLTokenizer(TokenizerWrapper(_Bytes()), n_vocab=len(_Bytes.tokens), eos_token=[256], slices=[])


class _Bytes:
    bos_token_id = None
    eos_token_id = 256
    tokens = (*(bytes([value]) for value in range(256)), b"<end>", *(mark.encode() for mark in HARMONY_TOKENS))
    special_token_ids = range(256, len(tokens))

    def __call__(self, text: str | bytes) -> list[int]:
        return list(text if isinstance(text, bytes) else text.encode())


def _grammar(task: dict) -> str:
    """The text for the compiler, compiled here once: what takes too long or too much does so in this process."""
    from llguidance import LLMatcher

    from .grammar_text import LIMITS, grammar_text

    text = grammar_text(task["kind"], task["body"], task["around"])
    LLMatcher(_byte_tokens(), text, log_level=0, limits=LIMITS)
    return text


_TASKS: dict[str, Callable[[dict], object]] = {"parse": _parse, "render": _render, "grammar": _grammar}


def answer(task: dict) -> dict:
    try:
        return {"result": _TASKS[task["task"]](task)}
    except UnusableTemplateError as failure:
        return {"refused": str(failure)}
    except MemoryError:
        return {"refused": f"It needs more than {_MEMORY_BYTES >> 20} MiB of memory."}
    except ValueError as error:
        return {"refused": str(error)}
    except Exception as error:
        return {"refused": f"{type(error).__name__}: {error}"}


def _limit_process() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def _limit_task(seconds: int) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = math.ceil(used.ru_utime + used.ru_stime) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))


def main(seconds: int) -> None:
    _limit_process()
    tasks = sys.stdin.buffer
    _send({"result": "ready"})
    while head := tasks.read(_LENGTH.size):
        task = json.loads(tasks.read(*_LENGTH.unpack(head)))
        _limit_task(seconds)
        _send(answer(task))


def _send(message: dict) -> None:
    body = json.dumps(message).encode()
    sys.stdout.buffer.write(_LENGTH.pack(len(body)) + body)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
