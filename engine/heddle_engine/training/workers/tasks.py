"""A share as it goes to a worker and comes back: everything that its computation depends on, and nothing kept there."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...bases import Base
from ...model.decoder import LoraView, NoLora
from ...model.number_format import name_of
from ..canary import canary
from ..data.sequences import Sequence
from ..loss.objectives import Objective, Record, unpacked
from ..trainable_lora import TrainableLora
from .frames import Message


@dataclass(frozen=True)
class BaseRef:
    """The base model that a worker is to load, which must say the same of the `canary`."""

    folder: Path
    dtype: str
    canary: tuple[float, ...] = field(default=(), compare=False)

    @staticmethod
    def named(base: Base) -> "BaseRef":
        return BaseRef(base.folder, name_of(base.dtype))

    @staticmethod
    def of(base: Base) -> "BaseRef":
        """Computes the canary; the weights must be in memory."""
        return BaseRef(base.folder, name_of(base.dtype), tuple(canary(base.decoder)))

    def as_json(self) -> dict[str, Any]:
        return {"folder": str(self.folder), "dtype": self.dtype, "canary": self.canary}

    @staticmethod
    def from_json(json: dict[str, Any]) -> "BaseRef":
        return BaseRef(Path(json["folder"]), json["dtype"], tuple(json["canary"]))


@dataclass(frozen=True)
class Share:
    """Sequences to go through the model: backward with an objective, or for their log-probabilities without one."""

    base: BaseRef
    chunk_size: int
    lora: LoraView
    sequences: list[Sequence]
    objective: Objective | None

    def packed(self) -> Message:
        content: dict[str, Any] = {
            "base": self.base.as_json(),
            "chunk_size": self.chunk_size,
            "lengths": [len(sequence) for sequence in self.sequences],
            "groups": [sequence.group for sequence in self.sequences],
        }
        tensors = {
            "sequences.ids": torch.from_numpy(np.concatenate([sequence.ids for sequence in self.sequences])),
            "sequences.trained": torch.from_numpy(np.concatenate([sequence.trained for sequence in self.sequences])),
        }
        if isinstance(self.lora, TrainableLora):
            content["lora"] = self.lora.shape()
            tensors["masters"] = self.lora.masters
        if self.objective is not None:
            json, own = self.objective.packed()
            content["objective"] = {"kind": self.objective.kind, **json}
            tensors |= {f"objective.{name}": tensor for name, tensor in own.items()}
        return content, tensors


def unpacked_share(content: dict[str, Any], tensors: dict[str, Tensor], device: torch.device) -> Share:
    lora: LoraView = NoLora()
    if "lora" in content:
        lora = TrainableLora.from_shape(content["lora"], tensors["masters"], device)
    objective = None
    if "objective" in content:
        json = dict(content["objective"])
        own = {name.removeprefix("objective."): t for name, t in tensors.items() if name.startswith("objective.")}
        objective = unpacked(json.pop("kind"), json, own, device)
    return Share(
        BaseRef.from_json(content["base"]), content["chunk_size"], lora, _sequences(content, tensors), objective
    )


def _sequences(content: dict[str, Any], tensors: dict[str, Tensor]) -> list[Sequence]:
    ends = np.cumsum(content["lengths"])[:-1]
    ids = np.split(tensors["sequences.ids"].numpy(), ends)
    trained = np.split(tensors["sequences.trained"].numpy(), ends)
    unknown = np.zeros(0)  # what was sampled is in the objective
    return [
        Sequence(*of_one, unknown, group=group) for *of_one, group in zip(ids, trained, content["groups"], strict=True)
    ]


def packed_records(records: list[Record]) -> dict[str, Tensor]:
    return {f"{i}.{name}": tensor for i, record in enumerate(records) for name, tensor in record.items()}


def unpacked_records(tensors: dict[str, Tensor], count: int, device: torch.device) -> list[Record]:
    records: list[Record] = [{} for _ in range(count)]
    for name, tensor in tensors.items():
        index, _, field = name.partition(".")
        if index.isdigit():
            records[int(index)][field] = tensor.to(device)
    return records
