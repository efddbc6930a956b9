"""Adapters ready to serve: compute copies by key, dropped least recently used first."""

import threading
from collections import OrderedDict
from concurrent.futures import Future
from pathlib import Path

import torch
from torch import Tensor

from ..streams import wait_for
from .config import DecoderConfig
from .decoder import SITE_MODULES
from .lora import LoraWeights, read_peft

_STORE_BYTES = 2 << 30
STORE_ADAPTERS = 40
"""Adapters that are kept where no bytes are set: those of a small model would be thousands before they fill these."""


class ServedAdapter:
    """One adapter's compute copy: per layer and fused site A^T [in, R] and (scale B)^T [R, out].

    The ranks of a site's modules stand side by side in R, B being block diagonal, so a fused
    projection stays one product. The scale is multiplied in here only; files and trainer keep it apart.
    """

    def __init__(self, key: str, weights: LoraWeights, config: DecoderConfig, device, dtype):
        self.key = key
        self.rank = max((lora.rank for lora in weights.modules.values()), default=0)
        self.sites: dict[tuple[int, str], tuple[Tensor, Tensor] | None] = {
            (layer, site): _fuse_site(weights, config, layer, site, device, dtype)
            for layer in range(config.num_layers)
            for site in SITE_MODULES
        }
        self.bytes = sum(a.nbytes + b.nbytes for a, b in filter(None, self.sites.values()))


def _fuse_site(weights: LoraWeights, config: DecoderConfig, layer: int, site: str, device, dtype):
    shapes = [config.module_shape(module) for module in SITE_MODULES[site]]
    found = [weights.modules.get((layer, module)) for module in SITE_MODULES[site]]
    rank = sum(lora.rank for lora in found if lora)
    if not rank:
        return None
    # Put together where the weights are: a trainer's never leave its device.
    place = next(lora.a.device for lora in found if lora)
    down = torch.zeros(shapes[0][1], rank, device=place)
    up = torch.zeros(rank, sum(rows for rows, _ in shapes), device=place)
    at_rank = at_row = 0
    for lora, (rows, _) in zip(found, shapes, strict=True):
        if lora:
            down[:, at_rank : at_rank + lora.rank] = lora.a.t()
            up[at_rank : at_rank + lora.rank, at_row : at_row + rows] = lora.b.t() * lora.scale
            at_rank += lora.rank
        at_row += rows
    return down.to(device, dtype), up.to(device, dtype)


class AdapterStore:
    """Adapters of one base by key: published by a trainer or read from disk when first asked for.

    A running request holds its `ServedAdapter` itself, so dropping one here never touches it.
    """

    def __init__(self, config: DecoderConfig, device: torch.device, dtype: torch.dtype, limit: int | None = None):
        """`limit`: bytes; None: 40 adapters of at most 2 GiB together."""
        self._config, self._device, self._dtype, self._limit = config, device, dtype, limit
        self._lock = threading.Lock()
        self._held: OrderedDict[str, ServedAdapter] = OrderedDict()
        self._reading: dict[str, Future[ServedAdapter]] = {}

    def get(self, key: str, path: str) -> ServedAdapter:
        """Raises `not_found` or `invalid` when the PEFT folder `path` cannot be read.

        It is read once however many wait for it: they share its memory, and decode as rows of one adapter.
        """
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key]
            is_first = key not in self._reading
            outcome = self._reading.setdefault(key, Future())
        if is_first:
            self._read(key, path, outcome)
        return outcome.result()

    def _read(self, key: str, path: str, outcome: "Future[ServedAdapter]") -> None:
        try:
            outcome.set_result(self.publish(key, read_peft(Path(path), self._config)))
        except BaseException as error:
            outcome.set_exception(error)
        finally:
            with self._lock:
                del self._reading[key]

    def publish(self, key: str, weights: LoraWeights) -> ServedAdapter:
        """Put `weights` in a slot under `key`, which names them for ever; no disk is touched."""
        with torch.inference_mode():
            adapter = ServedAdapter(key, weights, self._config, self._device, self._dtype)
        wait_for(self._device)
        with self._lock:
            self._held[key] = adapter
            self._held.move_to_end(key)
            while len(self._held) > 1 and self._is_too_full():
                self._held.popitem(last=False)
        return adapter

    def _is_too_full(self) -> bool:
        size = sum(adapter.bytes for adapter in self._held.values())
        if self._limit is not None:
            return size > self._limit
        return size > _STORE_BYTES or len(self._held) > STORE_ADAPTERS

    def clear(self) -> None:
        with self._lock:
            self._held.clear()

    def __contains__(self, key: str) -> bool:
        return key in self._held
