"""What processes that the engine starts have in common.

Imports the standard library alone, because vLLM's process has a Python of its own.
"""

import ctypes
import signal
import sys

KILLED = "killed (SIGKILL; the system does this when memory runs out)"
"""How a process ended that SIGKILL ended."""

_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """The calling process is killed when the thread that started it ends; on Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
