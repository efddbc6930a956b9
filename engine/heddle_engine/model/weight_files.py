"""Which files hold a model folder's weights."""

import json
from pathlib import Path

from ..errors import EngineError


def weight_names(folder: Path) -> list[str]:
    """`model.safetensors`, or the shards that `model.safetensors.index.json` names."""
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        return ["model.safetensors"]
    try:
        return sorted(set(json.loads(index.read_text())["weight_map"].values()))
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise EngineError("invalid", f"{index} is no index of safetensors files: {error!r}.", "base_model") from error


def missing_weights(folder: Path) -> list[str]:
    return [name for name in weight_names(folder) if not (folder / name).is_file()]


def check_weights(folder: Path) -> None:
    """Raises `invalid` when a file lacks."""
    missing = missing_weights(folder)
    if missing:
        raise EngineError(
            "invalid",
            f"{folder} has no {missing[0]}. The engine reads safetensors weights only; "
            "convert other formats with transformers' save_pretrained.",
            "base_model",
        )
