"""Memory beside the model's.

glibc's allocator is set for a process whose every step makes and frees the same large arrays; oneDNN keeps few kernels.
"""

import contextlib
import ctypes
import os

_M_TRIM_THRESHOLD, _M_MMAP_MAX, _M_ARENA_MAX = -1, -4, -8


def keep_freed_pages() -> None:
    """Have glibc reuse the memory of a step's temporaries instead of returning it and faulting it in again.

    Without this every activation above 128 KiB is mapped and unmapped by each operator. No array is mapped
    by itself: a raised threshold stops at 32 MiB, and a projection whose output is larger takes a quarter longer.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    mallopt(_M_MMAP_MAX, 0)
    mallopt(_M_TRIM_THRESHOLD, 512 << 20)
    mallopt(_M_ARENA_MAX, 1)


def give_back_freed_pages() -> None:
    """After more was freed than the next steps will use, such as a job: the exception to `keep_freed_pages`."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


_KERNELS = 128
"""Five for each number of rows: those of the batches that a few chats make, and of prompts of a few lengths."""


def keep_few_kernels() -> None:
    """Have oneDNN and torch keep 128 compiled kernels instead of 1,024: one of each shape that was ever multiplied.

    Lengths of prompts and jobs differ, so nearly all are never used again: prompts of 160 lengths left 423 MB behind on
    `heddle/tiny`, and leave 41 MB now. It must stand before torch is loaded; what the user has set stands.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(_KERNELS))
    # torch's own cache in front of it, which keeps them alive.
    os.environ.setdefault("LRU_CACHE_CAPACITY", str(_KERNELS))
