"""Memory of the operating system's pages: costs nothing until it is written, and nothing once it is given back."""

import contextlib
import mmap
import sys

import torch
from torch import Tensor

_MAP_NORESERVE = 0x4000 if sys.platform == "linux" else 0


class Pages:
    """`size` bytes of zeros, however large; a page takes memory when something is first written to it.

    Raises OSError where the system promises no more than it has (`vm.overcommit_memory=2`).
    """

    def __init__(self, size: int):
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
        self._map = mmap.mmap(-1, max(size, mmap.PAGESIZE), flags=flags)
        self._keep_pages_small()

    def _keep_pages_small(self) -> None:
        """Where the system makes pages of 2 MiB by itself, the first byte that is written would take as much.

        Lines of keys and values are long stretches of which the beginnings are written: in each layer one for the keys
        and one for the values of every key head.
        """
        # A system that knows no large pages refuses.
        with contextlib.suppress(AttributeError, OSError):
            self._map.madvise(mmap.MADV_NOHUGEPAGE)

    def tensor(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """All of it as one tensor. The mapping lives as long as the tensor or a view of it."""
        elements = torch.Size(shape).numel()
        if elements == 0:
            return torch.empty(shape, dtype=dtype)
        return torch.frombuffer(self._map, dtype=dtype, count=elements).view(shape)

    def give_back(self, start: int, end: int) -> None:
        """Free the whole pages among bytes `start … end`. On Linux they read as zeros again."""
        start = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
        end = end // mmap.PAGESIZE * mmap.PAGESIZE
        if start < end:
            self._map.madvise(mmap.MADV_DONTNEED, start, end - start)


def untouched_zeros(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Zeros that take memory as they are written, where the device and the system can do that."""
    if device.type == "cpu":
        try:
            return Pages(torch.Size(shape).numel() * dtype.itemsize).tensor(shape, dtype)
        except OSError:
            pass
    return torch.zeros(shape, dtype=dtype, device=device)
