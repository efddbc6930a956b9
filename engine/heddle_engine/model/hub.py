"""Finds a base model's folder: a local path, else the Hugging Face cache, else the hub."""

import os
from pathlib import Path

from ..errors import EngineError

_PATTERNS = ["*.json", "*.safetensors", "*.jinja"]


def find_folder(name: str, path: str | None) -> Path:
    """Raises `not_found`, saying what was looked for and how to mend it."""
    local = path or (name if name.startswith(("/", "./", "../", "~")) else None)
    if local is None:
        return _from_hub(name)
    folder = Path(local).expanduser()
    if not (folder / "config.json").is_file():
        what = "has no config.json" if folder.is_dir() else "does not exist"
        raise EngineError(
            "not_found",
            f"Base model {name!r}: the folder {folder} {what}. Name a Hugging Face model folder.",
            "base_model",
        )
    return folder


def _from_hub(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(name, allow_patterns=_PATTERNS, local_files_only=True))
        if (folder / "config.json").is_file() and any(folder.glob("*.safetensors")):
            return folder
    except HFValidationError as error:
        raise EngineError(
            "not_found", f"Base model {name!r} is no folder and no hub name: {error}", "base_model"
        ) from error
    except LocalEntryNotFoundError:
        pass
    return _download(name)


def _download(name: str) -> Path:
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError

    cache = f"the Hugging Face cache ({constants.HF_HUB_CACHE})"
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        raise EngineError(
            "not_found",
            f"Base model {name!r} is not in {cache}, and HF_HUB_OFFLINE forbids downloading it. "
            "Unset it, or put the model into the cache, or name a local folder.",
            "base_model",
        )
    try:
        return Path(snapshot_download(name, allow_patterns=_PATTERNS))
    except GatedRepoError as error:
        reason = "its owner asks for an accepted licence; set HF_TOKEN to a token that has it"
        raise EngineError("not_found", f"Base model {name!r} may not be downloaded: {reason}.", "base_model") from error
    except RepositoryNotFoundError as error:
        raise EngineError(
            "not_found",
            f"Base model {name!r} is neither in {cache} nor on the hub. Check the spelling, or name a local folder.",
            "base_model",
        ) from error
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise EngineError(
            "not_found",
            f"Base model {name!r} is not in {cache}, and the hub cannot be reached: {error}. "
            "Connect it, or name a local folder.",
            "base_model",
        ) from error
