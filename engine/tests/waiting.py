"""Waits for what other tasks of the event loop do."""

import asyncio
from collections.abc import Callable


async def until(condition: Callable[[], object]) -> None:
    """Returns once ``condition()`` is true; fails after about 20 seconds."""
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come to that")
