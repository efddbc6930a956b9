"""The number format of weights, activations, keys and values: fp32 or bf16.

Adapters and their optimizer, the inside of norms, logits and log-probabilities are fp32 in either.
"""

import logging

import torch

FORMATS = {"auto": None, "fp32": torch.float32, "bf16": torch.bfloat16}
"""By the values of `Settings.dtype`. None: as `automatic_format` says."""

_LEAST_HIDDEN = 256
"""Hidden size below which a CPU decodes faster in fp32 (0.93 times the time at 128, 1.1 to 1.2 times at 256)."""

log = logging.getLogger(__name__)


def name_of(dtype: torch.dtype) -> str:
    """The setting's value that gives this format."""
    return next(name for name, each in FORMATS.items() if each == dtype)


def multiplies_bf16(device: torch.device) -> bool:
    """Whether it has instructions for products in bf16; a processor without converts each operand."""
    if device.type != "cpu":
        return True
    return torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()


def automatic_format(config: dict, device: torch.device) -> torch.dtype:
    """bf16 on a GPU, and on a CPU that multiplies it for a checkpoint in bf16 or MXFP4 that is not tiny; else fp32."""
    if device.type != "cpu":
        return torch.bfloat16
    # The key was `torch_dtype` before transformers 5.
    stored = config.get("dtype") or config.get("torch_dtype")
    is_short = stored == "bfloat16" or bool(config.get("quantization_config"))
    gains = is_short and config.get("hidden_size", 0) >= _LEAST_HIDDEN and multiplies_bf16(device)
    return torch.bfloat16 if gains else torch.float32


def warn_of_slow_format(dtype: torch.dtype | None, device: torch.device) -> None:
    """Told at the start: nothing else says why everything is slow."""
    if dtype == torch.bfloat16 and not multiplies_bf16(device):
        log.warning(
            "dtype bf16: this processor has neither AVX512-BF16 nor AMX, so it converts every operand and is several "
            "times slower than in fp32, with half the memory. dtype auto or fp32 (HEDDLE_ENGINE_DTYPE) is faster"
        )
