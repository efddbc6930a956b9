"""A base model's tensors with an adapter merged in, read one at a time.

Serving never merges (engine 4.5): this is for programs that know no adapters.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor

from ..errors import EngineError
from ..model.config import DecoderConfig
from ..model.files.weight_files import check_weights, name_in_text, weight_names
from ..model.lora import LoraModule, module_path, read_peft

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_STORED = {"F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16, "U8": torch.uint8}
"""Bytes are parts of weights in MXFP4, which stay as they are."""


@dataclass(frozen=True)
class TensorEntry:
    """One tensor as it is written."""

    name: str
    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def nbytes(self) -> int:
        return torch.Size(self.shape).numel() * self.dtype.itemsize


class MergedWeights:
    """`files` maps each weight file of the base to its tensors. At most two copies of one tensor are in memory."""

    def __init__(self, folder: Path, config: DecoderConfig, adapter: Path | None, dtype: str | None):
        """`dtype` None: each tensor keeps its own. Raises `invalid` or `not_found`."""
        check_weights(folder)
        self._changes = _changes(adapter, config)
        handles = {name: safe_open(folder / name, "pt") for name in weight_names(folder)}
        self._handles = {tensor: handle for handle in handles.values() for tensor in handle.keys()}  # noqa: SIM118
        wanted = DTYPES[dtype] if dtype else None
        self.files = {
            name: [_entry(handle, tensor, wanted) for tensor in sorted(handle.keys())]
            for name, handle in handles.items()
        }
        missing = sorted(set(self._changes) - set(map(name_in_text, self._handles)))
        if missing:
            raise EngineError("invalid", f"The base model in {folder} has no tensor {missing[0]} for the adapter.")

    @property
    def entries(self) -> list[TensorEntry]:
        return [entry for entries in self.files.values() for entry in entries]

    def read(self, entry: TensorEntry) -> Tensor:
        """The tensor as `entry` says. The sum is made in fp32, whatever it is stored in."""
        tensor = self._handles[entry.name].get_tensor(entry.name)
        change = self._changes.get(name_in_text(entry.name))
        if change is not None:
            tensor = tensor.float().addmm_(change.b, change.a, alpha=change.scale)
        converted = tensor.to(entry.dtype)
        if entry.dtype == torch.float16 and not converted.isfinite().all() and tensor.isfinite().all():
            raise EngineError(
                "invalid",
                f"Tensor {entry.name} holds {tensor.abs().max().item():g}, which float16 (at most 65504) cannot. "
                "Choose dtype bfloat16 or float32.",
                "dtype",
            )
        return converted.contiguous()


def _changes(adapter: Path | None, config: DecoderConfig) -> dict[str, LoraModule]:
    """By the name of the weight that each changes."""
    if adapter is None:
        return {}
    modules = read_peft(adapter, config).modules
    return {f"{module_path(layer, module)}.weight": lora for (layer, module), lora in modules.items()}


def _entry(handle, name: str, wanted: torch.dtype | None) -> TensorEntry:
    found = handle.get_slice(name)
    stored = _STORED.get(found.get_dtype())
    if stored is None:
        raise EngineError(
            "invalid",
            f"Tensor {name} of the base model is stored as {found.get_dtype()}; {', '.join(_STORED)} are read.",
        )
    kept = stored if wanted is None or stored == torch.uint8 else wanted
    return TensorEntry(name, tuple(found.get_shape()), kept)


def raw_bytes(tensor: Tensor):
    """The bytes of a contiguous tensor as a numpy array, which has no bfloat16."""
    return tensor.reshape(-1).view(torch.uint8).numpy()
