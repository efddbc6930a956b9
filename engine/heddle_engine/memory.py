"""What memory this machine has, and how much of it keys and values may take."""

import os
import resource
from pathlib import Path

import torch

_CPU_SHARE, _CUDA_SHARE = 0.25, 0.6
_CPU_MOST = 16 << 30


def machine_bytes() -> int:
    """Physical memory, or the container's limit where that is lower."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = Path("/sys/fs/cgroup/memory.max")
    text = limit.read_text().strip() if limit.is_file() else "max"
    return physical if text == "max" else min(physical, int(text))


def kv_bytes(device: torch.device) -> int:
    """Limit for keys and values of one base model, the prefix cache coming on top."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return int(free * _CUDA_SHARE)
    return min(int(machine_bytes() * _CPU_SHARE), _CPU_MOST)


def resident_bytes() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
