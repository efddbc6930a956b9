"""Which files hold a model folder's weights."""

import json
from pathlib import Path, PurePath

from ...errors import EngineError

_IN_TEXT = {
    "model.language_model.": "model.",
    # transformers before 4.52, and what later versions save of Gemma 3.
    "language_model.model.": "model.",
    "language_model.lm_head.": "lm_head.",
}
"""By the beginnings that names have in a model that reads pictures too."""


_WHOLE = "model.safetensors"


def weight_names(folder: Path) -> list[str]:
    """`model.safetensors`, or the shards that `model.safetensors.index.json` names."""
    places = tensor_files(folder)
    return [_WHOLE] if places is None else sorted(set(places.values()))


def tensor_files(folder: Path) -> dict[str, str] | None:
    """The file of each tensor as the index says, which comes from a hub before the weights do; None without one.

    An index that does not name a `model.safetensors` which is there is left from an earlier save, and counts for none.
    """
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        return None
    try:
        places = json.loads(index.read_text())["weight_map"]
        # A path would lead to other models of the machine, and an export would be written to it.
        if not all(isinstance(file, str) and PurePath(file).name == file != "" for file in places.values()):
            raise TypeError("weight_map names files of its folder")
        return None if (folder / _WHOLE).is_file() and _WHOLE not in places.values() else places
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
    """What a model of text alone calls a tensor or module: its checkpoint may say where a whole model has it."""
    for nested, plain in _IN_TEXT.items():
        if name.startswith(nested):
            return plain + name.removeprefix(nested)
    return name
