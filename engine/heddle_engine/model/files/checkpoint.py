"""The tensors of a model folder, one file of safetensors or shards."""

from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from ... import pace, progress
from ...errors import EngineError
from .weight_files import check_weights, name_in_text, weight_names


class Checkpoint:
    """Tensors by name, converted to one device and dtype as they are read."""

    def __init__(self, folder: Path, device: torch.device, dtype: torch.dtype):
        self._device, self._dtype = device, dtype
        self._file_of, self._stored_name = {}, {}
        check_weights(folder)
        for name in weight_names(folder):
            handle = _open(folder / name)
            stored = {name_in_text(tensor): tensor for tensor in handle.keys()}  # noqa: SIM118
            self._file_of.update(dict.fromkeys(stored, handle))
            self._stored_name.update(stored)

    def __contains__(self, name: str) -> bool:
        return name in self._file_of

    def shape(self, name: str) -> list[int]:
        return self._slice(name).get_shape()

    def tensor(self, name: str, *shape: int) -> Tensor:
        """The tensor `name`, which must have `shape`."""
        return self.in_format(self._read(name, shape))

    def in_fp32(self, name: str, *shape: int) -> Tensor:
        """The tensor `name` of `shape` in fp32, whatever the dtype is: what was stored in fp32 is not rounded."""
        return self._read(name, shape).to(self._device, torch.float32)

    def _read(self, name: str, shape: tuple[int, ...]) -> Tensor:
        found = self.shape(name)
        if found != list(shape):
            raise EngineError("invalid", f"Tensor {name} has shape {found}; config.json says {list(shape)}.")
        _advance()
        return self._file_of[name].get_tensor(self._stored_name[name])

    def expert(self, name: str, expert: int) -> Tensor:
        """One of the experts that the tensor `name` holds, as it is stored."""
        _advance()
        return self._slice(name)[expert]

    def in_format(self, tensor: Tensor) -> Tensor:
        return tensor.to(self._device, self._dtype)

    def _slice(self, name: str):
        if name not in self._file_of:
            raise EngineError("invalid", f"The base model's safetensors hold no tensor {name}.")
        return self._file_of[name].get_slice(self._stored_name[name])


def _advance() -> None:
    progress.advance()
    pace.rest()


def _open(file: Path):
    try:
        return safe_open(file, framework="pt")
    except SafetensorError as error:
        raise EngineError("invalid", f"{file} is not a whole safetensors file: {error}.", "base_model") from error
