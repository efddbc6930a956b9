"""An adapter that was trained elsewhere becomes a checkpoint: read out of a tar file, checked in full, written anew."""

import json
import os
import shutil
import tarfile
from pathlib import Path, PurePosixPath

import torch
from safetensors import SafetensorError, safe_open

from ...bases import Base
from ...disk import naming_full_disk
from ...errors import EngineError
from ...model.lora import MAX_LORA_RANK, LoraWeights, is_number, read_peft, write_peft
from .checkpoints import ADAPTER_FILES, write_folder

_CONFIG, _WEIGHTS = ADAPTER_FILES
_MOST_MEMBERS = 1000
_CONFIG_BYTES = 1 << 20
_PICKLE = "adapter_model.bin"
_FLOATS = ("F64", "F32", "F16", "BF16")


def import_adapter(params: dict, base: Base) -> dict:
    """`importResult` of the wire. Raises `invalid`, naming what is wrong and the way out; nothing is left then."""
    archive, output = Path(params["archive"]), Path(params["output"]["path"])
    unpacked = archive.with_name(f"{archive.name}.unpacked")
    shutil.rmtree(unpacked, ignore_errors=True)
    try:
        with naming_full_disk(archive.parent, archive.stat().st_size):
            unpacked.mkdir()
            _unpack(archive, unpacked)
        settings = _check_settings(unpacked)
        if not params["any_base"]:
            _check_base(settings, params["base"]["name"], base)
        _check_tensors(unpacked / _WEIGHTS)
        weights = read_peft(unpacked, base.config)
        _check_values(weights)
        needed = (unpacked / _WEIGHTS).stat().st_size * 2 + _CONFIG_BYTES
        written = write_folder(
            output, "import", needed, lambda folder: write_peft(folder, weights, params["base"]["name"], base.config)
        )
    finally:
        shutil.rmtree(unpacked, ignore_errors=True)
    return {
        "size_bytes": written.size_bytes,
        "manifest_sha256": written.manifest_sha256,
        "rank": weights.max_rank,
    }


def _unpack(archive: Path, folder: Path) -> None:
    """Extracts the two files of an adapter, and nothing else of the archive."""
    names = []
    try:
        with tarfile.open(archive, "r:") as tar:
            for member in tar:
                names.append(_checked_name(member, len(names)))
                name = PurePosixPath(member.name).name
                if name in ADAPTER_FILES and not member.isdir():
                    _extract(tar, member, folder / name)
    except tarfile.ReadError as error:
        raise EngineError(
            "invalid", f"The upload is not a whole tar file ({error}). Make one with tar -cf adapter.tar FOLDER."
        ) from error
    for name in ADAPTER_FILES:
        if not (folder / name).exists():
            raise _lacks(name, names)


def _checked_name(member: tarfile.TarInfo, before: int) -> str:
    path = PurePosixPath(member.name)
    if before >= _MOST_MEMBERS:
        raise EngineError("invalid", f"The archive has more than {_MOST_MEMBERS} files; an adapter has two.")
    if path.is_absolute() or ".." in path.parts:
        raise EngineError(
            "invalid", f"The archive names {member.name!r}, which leads out of it. Pack the folder itself."
        )
    if not (member.isfile() or member.isdir()):
        raise EngineError("invalid", f"{member.name!r} in the archive is a link or a device. Pack plain files.")
    if member.issparse():
        # Its holes take no room in the archive: one of a kilobyte could fill any disk.
        raise EngineError(
            "invalid",
            f"{member.name!r} in the archive is packed without its holes, as by tar -S. Pack it without that option.",
        )
    return path.name


def _extract(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    if target.exists():
        raise EngineError("invalid", f"The archive has {target.name} twice. Pack the folder of one adapter.")
    if target.name == _CONFIG and member.size > _CONFIG_BYTES:
        raise EngineError("invalid", f"{member.name} has {member.size} bytes; a config has at most {_CONFIG_BYTES}.")
    source = tar.extractfile(member)
    with target.open("xb") as out:
        shutil.copyfileobj(source, out, 1 << 20)
    if os.path.getsize(target) != member.size:
        raise tarfile.ReadError(f"{member.name} is cut off")


def _lacks(name: str, names: list[str]) -> EngineError:
    if name == _WEIGHTS and _PICKLE in names:
        return EngineError(
            "invalid",
            f"The archive holds its weights as {_PICKLE}, a pickle, which can run code when it is read and never is. "
            "Save the adapter again with model.save_pretrained(folder), which writes safetensors.",
        )
    return EngineError("invalid", f"The archive has no {name}. Pack the folder that peft's save_pretrained wrote.")


def _check_settings(folder: Path) -> dict:
    try:
        settings = json.loads((folder / _CONFIG).read_text())
    except (ValueError, RecursionError) as error:
        raise EngineError("invalid", f"{_CONFIG} is not JSON: {error}.") from error
    if not isinstance(settings, dict):
        raise EngineError("invalid", f"{_CONFIG} is no JSON object.")
    rank, alpha = settings.get("r"), settings.get("lora_alpha")
    if not isinstance(rank, int) or isinstance(rank, bool) or not 1 <= rank <= MAX_LORA_RANK:
        raise EngineError("invalid", f"{_CONFIG}: r is {rank!r}; a rank is a whole number from 1 to {MAX_LORA_RANK}.")
    if not is_number(alpha) or alpha <= 0:
        raise EngineError("invalid", f"{_CONFIG}: lora_alpha is {alpha!r}; a number above 0 is needed.")
    return settings


def _check_base(settings: dict, name: str, base: Base) -> None:
    """Compares the last part of the two names only: copies of a model have other owners and folders, but that part."""
    named = settings.get("base_model_name_or_path")
    if not named:
        return
    last = PurePosixPath(str(named).rstrip("/")).name.lower()
    if last not in (PurePosixPath(name).name.lower(), base.folder.name.lower()):
        raise EngineError(
            "invalid",
            f"{_CONFIG}: the adapter was trained on {named!r}, and this model's base is {name!r}. "
            "Where these are the same weights, send any_base=true; else make a model of that base.",
        )


def _check_tensors(file: Path) -> None:
    """Checks format and shape of every tensor by the file's header, before any is read."""
    try:
        with safe_open(file, "pt") as tensors:
            names = sorted(tensors.keys())
            kinds = {name: (tensors.get_slice(name).get_dtype(), tensors.get_slice(name).get_shape()) for name in names}
    except SafetensorError as error:
        raise EngineError("invalid", f"{file.name} is not a whole safetensors file: {error}.") from error
    if not names:
        raise EngineError("invalid", f"{file.name} holds no tensors, so it changes nothing. Save the trained adapter.")
    for name, (kind, shape) in kinds.items():
        if kind not in _FLOATS or len(shape) != 2:
            raise EngineError("invalid", f"Tensor {name} is {kind} {shape}; LoRA has matrices of {', '.join(_FLOATS)}.")


def _check_values(weights: LoraWeights) -> None:
    for (layer, module), lora in weights.modules.items():
        for letter, tensor in (("A", lora.a), ("B", lora.b)):
            if not torch.isfinite(tensor).all():
                raise EngineError(
                    "invalid",
                    f"The adapter's layer {layer} {module} has NaN or infinity in lora_{letter}. "
                    "Its training diverged: take an earlier one.",
                )
