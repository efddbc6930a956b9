"""Which threads compute on several cores.

libgomp keeps a team of workers for every thread that ever ran an operator in parallel, until that
thread ends. As long as all teams together fit the cores, a worker spins for a moment before it
sleeps, and the next operator of a decode step finds it awake; one team more and each of the
hundreds of operators of a step waits for the system to wake it. So only the serving thread owns a
team for good; a trainer's ends with its thread, and everything else computes on one core.
"""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

_SPINS = 20_000
"""How often a worker looks for work before it sleeps: about a millisecond, longer than any gap inside a step."""

_setting = threading.Lock()


def set_spinning() -> None:
    """Bounded spinning for the thread pool that torch makes when it loads; what the user has set stands."""
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ["OMP_WAIT_POLICY"] = "ACTIVE"
        os.environ.setdefault("GOMP_SPINCOUNT", str(_SPINS))


def usable_cores() -> int:
    """How many cores a team has."""
    import torch

    return torch.get_num_threads()


def use_cores(count: int) -> None:
    """Let the calling thread's operators use `count` cores."""
    import torch

    # A thread takes its number from a process-wide setting when it first asks, which the second call settles.
    with _setting:
        torch.set_num_threads(count)
        torch.get_num_threads()


def single_core_pool(threads: int, name: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix=name, initializer=use_cores, initargs=(1,))
