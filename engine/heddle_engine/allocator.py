"""glibc's allocator, set for a process whose every step makes and frees the same large arrays."""

import ctypes

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
