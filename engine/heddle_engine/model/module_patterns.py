"""Patterns by which an adapter's config names modules: regular expressions that anybody may have written.

Some take years to be held against a name, in which nothing else would run in their process. So what is more than a name
is matched in a process of its own, which can be killed: `python -m heddle_engine.model.module_patterns`.
"""

import json
import re
import resource
import subprocess
import sys
from pathlib import Path

from ..errors import EngineError

_PACKAGE_ROOT = Path(__file__).parents[2]
_SECONDS = 2
"""Of the processor, and ten times as many by the clock."""
_MEMORY_BYTES = 1 << 29
_NAME = re.compile(r"(?:[\w.-]|\\[.-])+")
"""A pattern without repetitions and alternatives."""

Found = list[int | None]


def find_patterns(patterns: list[str], names: list[str]) -> Found:
    """Of each of `names` the place of the first pattern that is about it; None where none is.

    By peft's rule a pattern is about what it matches whole, or from behind a dot to the end. Raises `invalid`.
    """
    if all(map(_NAME.fullmatch, patterns)):
        return _find(patterns, names)
    try:
        result = subprocess.run(
            [sys.executable, "-m", "heddle_engine.model.module_patterns"],
            cwd=_PACKAGE_ROOT,
            input=json.dumps([patterns, names]).encode(),
            stdout=subprocess.PIPE,
            timeout=10 * _SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        result = None
    if result is None or result.returncode:
        raise EngineError("invalid", f"Patterns of modules take too long or too much memory: {_shown(patterns)}.")
    found = json.loads(result.stdout)
    if isinstance(found, str):
        raise EngineError("invalid", f"Patterns of modules are no regular expressions ({found}): {_shown(patterns)}.")
    return found


def _find(patterns: list[str], names: list[str]) -> Found:
    compiled = [re.compile(rf"(.*\.)?({pattern})") for pattern in patterns]
    return [next((place for place, one in enumerate(compiled) if one.fullmatch(name)), None) for name in names]


def _shown(patterns: list[str]) -> str:
    others = [pattern for pattern in patterns if not _NAME.fullmatch(pattern)]
    return ", ".join(pattern if len(pattern) <= 60 else f"{pattern[:60]}…" for pattern in others[:3])


def main() -> None:
    # Should the engine be killed meanwhile, this ends by itself.
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    patterns, names = json.load(sys.stdin)
    try:
        found: Found | str = _find(patterns, names)
    except (re.error, OverflowError, RecursionError) as error:
        found = f"{type(error).__name__}: {error}"
    print(json.dumps(found))


if __name__ == "__main__":
    main()
