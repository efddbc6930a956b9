"""Finds a base model's folder: a local path, else the Hugging Face cache, else the hub.

Of the hub's models the small files that describe them come first, and their weights when they are first used: a model
can be registered while the hub is slow. A revision that is whole in the cache is used without asking the hub.
"""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import httpx2

from ... import progress
from ...errors import EngineError
from .weight_files import check_weights, missing_weights, weight_names

_DESCRIPTION = ["*.json", "*.jinja"]


def local_folder(name: str, path: str | None) -> Path | None:
    """The folder of a base model that is no hub name. Raises `not_found`, saying how to mend it."""
    local = path or (name if name.startswith(("/", "./", "../", "~")) else None)
    if local is None:
        return None
    folder = Path(local).expanduser()
    if not (folder / "config.json").is_file():
        what = "has no config.json" if folder.is_dir() else "does not exist"
        raise EngineError(
            "not_found",
            f"Base model {name!r}: the folder {folder} {what}. Name a Hugging Face model folder.",
            "base_model",
        )
    return folder


def hub_folder(name: str) -> Path:
    """The cached snapshot with the files that describe a hub's model; its weights may lack (`fetch_weights`).

    Raises `not_found`; `invalid` where the model has no safetensors.
    """
    from huggingface_hub import file_exists, snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(name, allow_patterns=_DESCRIPTION, local_files_only=True))
        if (folder / "config.json").is_file() and not missing_weights(folder):
            return folder
    except HFValidationError as error:
        raise EngineError(
            "not_found", f"Base model {name!r} is no folder and no hub name: {error}", "base_model"
        ) from error
    except LocalEntryNotFoundError:
        pass

    def download() -> Path:
        folder = Path(snapshot_download(name, allow_patterns=_DESCRIPTION))
        missing = missing_weights(folder)
        if missing and not file_exists(name, missing[0], revision=folder.name):
            check_weights(folder)
        return folder

    return _from_hub(name, "not_found", download)


def fetch_weights(name: str, folder: Path) -> None:
    """Download what a hub's model in `folder` lacks of its weights, of the same revision. Raises `unavailable`."""
    from huggingface_hub import snapshot_download

    if not missing_weights(folder):
        return
    names = weight_names(folder)

    def download() -> Path:
        # Without a hub it answers with the folder as it is.
        snapshot_download(name, revision=folder.name, allow_patterns=names, tqdm_class=_progress_bar())
        missing = missing_weights(folder)
        if missing:
            raise FileNotFoundError(f"{missing[0]} did not come")
        return folder

    _from_hub(name, "unavailable", download)


def _progress_bar() -> type:
    from tqdm import tqdm

    class Ticking(tqdm):
        """Shows nothing; whoever watches the engine sees that bytes come."""

        def __init__(self, *args, **options):
            # The hub's own bars have a name, which tqdm's do not know.
            options.pop("name", None)
            super().__init__(*args, **{**options, "disable": True})

        def update(self, n: float | None = 1) -> None:
            progress.advance()

    return Ticking


def _from_hub(name: str, unreachable: str, ask: Callable[[], Path]) -> Path:
    """The folder that `ask` finds on the hub; `unreachable` is the kind of error when the hub cannot be reached."""
    from huggingface_hub import constants
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError

    cache = f"the Hugging Face cache ({constants.HF_HUB_CACHE})"
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        raise EngineError(
            "not_found",
            f"Base model {name!r} is not whole in {cache}, and HF_HUB_OFFLINE forbids downloading it. "
            "Unset it, or put the model into the cache, or name a local folder.",
            "base_model",
        )
    try:
        return ask()
    except GatedRepoError as error:
        reason = "its owner asks for an accepted licence; set HF_TOKEN to a token that has it"
        raise EngineError("not_found", f"Base model {name!r} may not be downloaded: {reason}.", "base_model") from error
    except RepositoryNotFoundError as error:
        raise EngineError(
            "not_found",
            f"Base model {name!r} is neither in {cache} nor on the hub. Check the spelling, or name a local folder.",
            "base_model",
        ) from error
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError, httpx2.HTTPError) as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise EngineError(
            unreachable,
            f"Base model {name!r} is not whole in {cache}, and the hub cannot be reached: {error}. "
            "Connect it, or name a local folder.",
            "base_model",
        ) from error
