"""Watches processes that a test has started."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Found = TypeVar("Found")


def wait_for(what: Callable[[], Found], seconds: float = 60) -> Found:
    """The first result of ``what`` that is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def children_of(pid: int) -> list[int]:
    """Processes that any thread of ``pid`` has started."""
    files = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in files for child in file.read_text().split()]
