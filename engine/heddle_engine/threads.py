"""Which threads compute on several cores, and when.

Splitting an operator costs a rendezvous of all workers, which takes long when another program holds
one of the cores. Small operators are therefore computed on one core, and a worker that has nothing
to do looks for work for a short while only. libgomp keeps a team of workers for every thread that
ever computed in parallel until that thread ends, and shortens the look-out when there are more
workers than cores: only the serving thread has a team for good, a trainer's ends with its thread,
and everything else computes on one core.
"""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

_SPINS = 2000
"""How often a worker looks for work before it sleeps: 20 to 100 us by processor, like the gaps inside a step."""

_WORTH_SPLITTING = 10_000_000
"""Multiplications of an operator, about 0.2 ms on one core."""

_setting = threading.Lock()
_own = threading.local()


def set_spinning() -> None:
    """Bounded spinning for the thread pool that torch makes when it loads; what the user has set stands."""
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ["OMP_WAIT_POLICY"] = "ACTIVE"
        os.environ.setdefault("GOMP_SPINCOUNT", str(_SPINS))


def fix_order_of_sums() -> None:
    """Have MKL add in one order however busy its threads are, so that a job repeated ends with the same bits.

    Without this the products of a machine under load may differ in their last bit from one run to the next
    (oneMKL, conditional numerical reproducibility). It must stand before torch is loaded.
    """
    os.environ.setdefault("MKL_CBWR", "AUTO")


def usable_cores() -> int:
    """How many cores a team has."""
    import torch

    return torch.get_num_threads()


def use_cores(count: int) -> None:
    """Let the calling thread's operators use `count` cores."""
    _own.most = count
    _use(count)


def use_cores_for(work: int) -> None:
    """Use the thread's cores only where an operator has at least so many multiplications.

    Does nothing in a thread that has not called `use_cores`.
    """
    most = getattr(_own, "most", None)
    if most is None:
        return
    count = most if work >= _WORTH_SPLITTING else 1
    if count != _own.now:
        _use(count)


def _use(count: int) -> None:
    import torch

    _own.now = count
    # A thread takes its number from a process-wide setting when it first asks, which any other thread may have
    # written just then; once it has asked, what it sets is its own. Another number would change the bits of sums.
    with _setting:
        torch.set_num_threads(count)
        if torch.get_num_threads() != count:
            torch.set_num_threads(count)


def single_core_pool(threads: int, name: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix=name, initializer=use_cores, initargs=(1,))
