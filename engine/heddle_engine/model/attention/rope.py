"""Rotary position embedding tables (RoFormer, arXiv:2104.09864) with the scalings of Hugging Face configs."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from ..config_fields import number, refused, settings_in

_NEEDED = {
    "default": (),
    "linear": ("factor",),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
    "yarn": (),
}
"""The settings that each rope type must have."""
_OPTIONAL = {
    "yarn": (
        "factor",
        "original_max_position_embeddings",
        "beta_fast",
        "beta_slow",
        "attention_factor",
        "mscale",
        "mscale_all_dim",
    ),
}
"""Those that it may have; 0 is as none."""


@dataclass(frozen=True)
class RopeConfig:
    """`rope_parameters` of a `config.json`, older `rope_theta` + `rope_scaling` included."""

    theta: float
    kind: str
    settings: dict

    @staticmethod
    def from_hf(config: dict) -> "RopeConfig":
        """Raises `invalid`."""
        settings = settings_in(config, "rope_parameters") or settings_in(config, "rope_scaling")
        kind = settings.get("rope_type") or settings.get("type") or "default"
        if not isinstance(kind, str) or kind not in _NEEDED:
            raise refused(
                f"This base model scales its positions with rope type {kind!r}; the engine knows {', '.join(_NEEDED)}."
            )
        for name in (*_NEEDED[kind], *filter(settings.get, _OPTIONAL.get(kind, ()))):
            number(settings, name)
        theta = number(settings, "rope_theta", number(config, "rope_theta", 10000.0))
        return RopeConfig(theta, kind, settings)


def rope_tables(rope: RopeConfig, head_dim: int, max_position: int) -> tuple[Tensor, Tensor]:
    """cos and signed sin, each [max_position, head_dim] fp32.

    The sign of the first half is folded into sin, so that rotating is
    `x * cos + roll(x, head_dim / 2) * sin`.
    """
    inverse, attention_scale = _inverse_frequencies(rope, head_dim, max_position)
    angles = torch.outer(torch.arange(max_position, dtype=torch.float32), inverse)
    cos, sin = angles.cos() * attention_scale, angles.sin() * attention_scale
    return torch.cat([cos, cos], -1), torch.cat([-sin, sin], -1)


def _inverse_frequencies(rope: RopeConfig, head_dim: int, max_position: int) -> tuple[Tensor, float]:
    inverse = _plain_frequencies(rope, head_dim)
    if rope.kind == "linear":
        return inverse / rope.settings["factor"], 1.0
    if rope.kind == "llama3":
        return _llama3(inverse, rope.settings), 1.0
    if rope.kind == "yarn":
        return _yarn(inverse, rope, head_dim, max_position)
    return inverse, 1.0


def llama3_divisors(rope: RopeConfig, head_dim: int) -> Tensor:
    """What each frequency of Llama 3.1 is divided by, [head_dim / 2] fp32."""
    plain = _plain_frequencies(rope, head_dim)
    return plain / _llama3(plain, rope.settings)


def _plain_frequencies(rope: RopeConfig, head_dim: int) -> Tensor:
    return 1.0 / rope.theta ** (torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim)


def _llama3(inverse: Tensor, settings: dict) -> Tensor:
    """Llama 3.1: long wavelengths are divided by `factor`, short ones kept, a linear blend between."""
    original = settings["original_max_position_embeddings"]
    low, high = settings["low_freq_factor"], settings["high_freq_factor"]
    wavelength = 2 * math.pi / inverse
    blend = ((original / wavelength - low) / (high - low)).clamp(0, 1)
    return (1 - blend) * inverse / settings["factor"] + blend * inverse


def _yarn(inverse: Tensor, rope: RopeConfig, head_dim: int, max_position: int) -> tuple[Tensor, float]:
    """YaRN (arXiv:2309.00071): interpolate slow dimensions, keep fast ones, sharpen attention."""
    settings = rope.settings
    original = settings.get("original_max_position_embeddings") or max_position
    factor = settings.get("factor") or max_position / original

    def correction_dim(rotations: float) -> float:
        return head_dim * math.log(original / (rotations * 2 * math.pi)) / (2 * math.log(rope.theta))

    low, high = correction_dim(settings.get("beta_fast") or 32), correction_dim(settings.get("beta_slow") or 1)
    if settings.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, head_dim - 1)
    span = max(high - low, 1e-3)
    interpolated = ((torch.arange(head_dim // 2, dtype=torch.float32) - low) / span).clamp(0, 1)
    scaled = inverse / factor * interpolated + inverse * (1 - interpolated)
    return scaled, _yarn_attention_scale(settings, factor)


def _yarn_attention_scale(settings: dict, factor: float) -> float:
    def magnitude(scale: float, weight: float = 1.0) -> float:
        return 1.0 if scale <= 1 else 0.1 * weight * math.log(scale) + 1.0

    if settings.get("attention_factor"):
        return float(settings["attention_factor"])
    if settings.get("mscale") and settings.get("mscale_all_dim"):
        return magnitude(factor, settings["mscale"]) / magnitude(factor, settings["mscale_all_dim"])
    return magnitude(factor)
