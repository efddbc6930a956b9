"""The machine's memory, and how much of it keys and values may take."""

import os
import resource
from dataclasses import dataclass
from pathlib import Path

import torch

from .model.decoder import Decoder
from .settings import Settings

_CPU_SHARE, _CUDA_SHARE = 0.25, 0.4
_CPU_MOST = 16 << 30
_CACHE_SHARE = 0.25
_TRAINING_SHARE = {"cpu": 0.125, "cuda": 0.25}
"""On a GPU, whose memory holds nothing else, a larger part: weights, keys and values have the rest."""
_CACHED_CONTEXTS = 24
"""Prompts of full length that the prefix cache may hold: a small model does not fill a large machine with them."""


def machine_bytes() -> int:
    """Physical memory, or the container's limit where that is lower."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = Path("/sys/fs/cgroup/memory.max")
    text = limit.read_text().strip() if limit.is_file() else "max"
    return physical if text == "max" else min(physical, int(text))


def device_bytes(device: torch.device) -> int:
    """Memory of a GPU, or of the machine where there is none."""
    return torch.cuda.get_device_properties(device).total_memory if device.type == "cuda" else machine_bytes()


_trainers = 1


def divide_training_memory(trainers: int) -> None:
    """So many processes train on this machine, which share its memory; each GPU has one of them."""
    global _trainers
    _trainers = trainers


@dataclass(frozen=True)
class ServingPlan:
    """Limits of one base model; the prefix cache comes on top of keys and values."""

    kv_bytes: int
    cache_bytes: int


def serving_plan(decoder: Decoder, rows: int, settings: Settings) -> ServingPlan:
    """As set, else a share of the machine, but no more than `rows` sequences of full length can use."""
    context = decoder.sequence_bytes(decoder.config.max_position)
    kv = settings.kv_bytes
    if kv is None:
        kv = min(_machine_share(decoder.device), rows * context)
    cache = settings.cache_bytes
    if cache is None:
        cache = min(int(kv * _CACHE_SHARE), _CACHED_CONTEXTS * context)
    return ServingPlan(kv, cache)


def training_tokens(decoder: Decoder) -> int:
    """Tokens whose activations a training pass may keep: a share of all memory, so that a job repeated is cut alike."""
    kind = decoder.device.type
    room = int(device_bytes(decoder.device) * _TRAINING_SHARE[kind]) // (_trainers if kind == "cpu" else 1)
    return room // decoder.activation_token_bytes


def _machine_share(device: torch.device) -> int:
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
