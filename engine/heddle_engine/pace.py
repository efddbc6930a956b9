"""Has threads that load models leave the cores to tokens that are computed beside them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import sleep, thread_time

_SLICE_S = 0.02
"""A rest ends at most so long after the last token."""

_computing = False
"""Whether the CPU's cores compute a step of a batch."""

_own = threading.local()


@contextmanager
def tokens_computed() -> Iterator[None]:
    """Around each step of a batch that uses the CPU's cores."""
    global _computing
    _computing = True
    try:
        yield
    finally:
        _computing = False


def rest() -> None:
    """While tokens are computed, sleep as long as the calling thread has computed since its last call.

    What it computed after its last call for one model, by far the largest weight, it rests for before the next model:
    meanwhile the one that it has loaded computes its first tokens.
    """
    now = thread_time()
    due = now - getattr(_own, "rested", now)
    while due > 0 and _computing:
        sleep(min(due, _SLICE_S))
        due -= _SLICE_S
    _own.rested = thread_time()
