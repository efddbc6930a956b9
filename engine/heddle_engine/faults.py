"""Turns every exception inside a step into one of the errors that the protocol has."""

import errno

import torch

from .errors import EngineError

_SIGNS_OF_NO_MEMORY = ("DefaultCPUAllocator", "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED")
"""torch's CPU allocator and the libraries on a GPU raise a plain RuntimeError; its text is the only sign."""


def as_engine_error(error: BaseException) -> EngineError:
    if isinstance(error, EngineError):
        return error
    if _out_of_memory(error):
        return EngineError("out_of_memory", f"The engine ran out of memory: {error}")
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return EngineError("disk_full", f"The disk is full: {error}")
    return EngineError("internal", f"{type(error).__name__}: {error}")


def device_is_lost(error: BaseException) -> bool:
    """True if `error` left a GPU unusable: after a failed kernel CUDA fails every later call of the process."""
    if not (isinstance(error, RuntimeError) and torch.cuda.is_initialized()):
        return False
    try:
        torch.cuda.synchronize()
    except RuntimeError:
        return True
    return False


def _out_of_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or (
        isinstance(error, RuntimeError) and any(sign in str(error) for sign in _SIGNS_OF_NO_MEMORY)
    )
