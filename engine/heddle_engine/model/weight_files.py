"""Which files hold a model folder's weights."""

import json
from pathlib import Path

from ..errors import EngineError


def weight_names(folder: Path) -> list[str]:
    """`model.safetensors`, or the shards that `model.safetensors.index.json` names."""
    places = tensor_files(folder)
    return ["model.safetensors"] if places is None else sorted(set(places.values()))


def tensor_files(folder: Path) -> dict[str, str] | None:
    """The file of each tensor as the index says, which comes from a hub before the weights do; None without one."""
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        return None
    try:
        places = json.loads(index.read_text())["weight_map"]
        if not all(isinstance(file, str) for file in places.values()):
            raise TypeError("weight_map names files")
        return places
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


def name_in_text(name: str) -> str:
    """What a model of text alone calls a tensor: its checkpoint may still say where the whole model had it."""
    nested = "model.language_model."
    return f"model.{name.removeprefix(nested)}" if name.startswith(nested) else name
