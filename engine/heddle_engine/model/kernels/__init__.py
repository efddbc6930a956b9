"""Triton kernels for a GPU. Each computes in one pass over memory what its caller has in plain operators for a CPU.

The modules here need Triton, so callers import them only where `have_kernels` says that they can run.
"""

from functools import cache
from importlib.util import find_spec

from torch import Tensor

_DEVICES = {"cuda"}


def have_kernels(x: Tensor) -> bool:
    """Whether kernels take tensors like `x`."""
    return x.device.type in _DEVICES and _has_triton()


@cache
def _has_triton() -> bool:
    return find_spec("triton") is not None
