"""What runs in a training worker: one thread computes shares in the order of their arrival, another one listens.

Frames from the engine: `{"share": number, ...}` (`tasks.py`), `{"drop": number}`, `{"load": base}`, `{"forget": base}`.
To it: `{"ready": true}`, `{"progress": count}` every second,
`{"done": number, "records": count, "halvings": count}` with tensors, `{"failed": number, "error": {...}}`.
"""

import gc
import logging
import os
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from ... import progress
from ...allocator import give_back_freed_pages
from ...bases import read_config
from ...errors import EngineError
from ...faults import as_engine_error, device_is_lost
from ...model.config import DecoderConfig
from ...model.decoder import Decoder
from ...model.files.weights import load_decoder
from ...model.number_format import FORMATS
from ...threads import use_cores
from ..canary import is_like
from ..loss.objectives import Objective, Record
from ..micro_batches import MicroBatches
from ..trainable_lora import TrainableLora
from .frames import Message, encode, receive
from .tasks import BaseRef, Share, packed_records, unpacked_share

_TICK_S = 1.0
_SOFTWARE_FAULT = 70
"""Exit code (EX_SOFTWARE of sysexits.h)."""

log = logging.getLogger(__name__)


class _DroppedError(Exception):
    """The engine does not want the share any more."""


class Worker:
    """Computes on ``device``; ``engine_gone`` is called when nobody is left to work for, and does not return."""

    def __init__(self, connection: socket.socket, device: torch.device, cores: int, engine_gone: Callable[[], None]):
        self._connection, self._device, self._cores = connection, device, cores
        self._engine_gone = engine_gone
        self._inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._dropped: set[int] = set()
        self._sending = threading.Lock()
        self._bases: dict[BaseRef, Decoder] = {}
        # Where memory did not suffice once, later shares of the base are cut smaller.
        self._micro_batches: dict[tuple[BaseRef, int], MicroBatches] = {}

    def run(self) -> None:
        use_cores(self._cores)
        for target in (self._listen, self._tick):
            threading.Thread(target=target, daemon=True).start()
        self._send({"ready": True})
        log.info("ready, on %d cores", self._cores)
        while True:
            content, tensors = self._inbox.get()
            try:
                self._do(content, tensors)
            except Exception as error:
                if device_is_lost(error):
                    log.critical("the device is lost", exc_info=error)
                    os._exit(_SOFTWARE_FAULT)
                self._fail(content, error)

    def _do(self, content: dict, tensors: dict[str, Tensor]) -> None:
        if "load" in content:
            self._decoder(BaseRef.from_json(content["load"]))
        elif "forget" in content:
            self._forget(BaseRef.from_json(content["forget"]))
        else:
            self._compute(content, tensors)

    def _compute(self, content: dict, tensors: dict[str, Tensor]) -> None:
        number = content["share"]
        if number in self._dropped:
            self._dropped.discard(number)
            return
        share = unpacked_share(content, tensors, self._device)
        batches = self._batches_of(share)
        halvings = batches.halvings
        try:
            if share.objective is None:
                records, found = 0, self._logprobs(number, batches, share)
            else:
                records, found = self._backward(number, batches, share, share.objective)
        except _DroppedError:
            return
        self._send({"done": number, "records": records, "halvings": batches.halvings - halvings}, found)

    def _backward(
        self, number: int, batches: MicroBatches, share: Share, objective: Objective
    ) -> tuple[int, dict[str, Tensor]]:
        lora = share.lora
        assert isinstance(lora, TrainableLora)
        records: list[Record] = []
        for found in self._wanted(number, batches.backward(share.sequences, lora, objective)):
            records += found
        return len(records), {"gradient": lora.gradient, **packed_records(records)}

    def _logprobs(self, number: int, batches: MicroBatches, share: Share) -> dict[str, Tensor]:
        found: list[Tensor] = []

        def pieces() -> Iterator[None]:
            found.extend((yield from batches.logprobs(share.sequences, share.lora)))

        for _ in self._wanted(number, pieces()):
            pass
        return {"logprobs": torch.cat(found)}

    def _wanted(self, number: int, pieces: Iterator) -> Iterator:
        for piece in pieces:
            if number in self._dropped:
                raise _DroppedError
            yield piece

    def _decoder(self, base: BaseRef) -> Decoder:
        if base not in self._bases:
            config = DecoderConfig.from_hf(read_config(base.folder))
            decoder = load_decoder(base.folder, config, self._device, FORMATS[base.dtype])
            if not is_like(decoder, list(base.canary)):
                raise EngineError(
                    "invalid",
                    f"A training worker has other weights in {base.folder} than the engine: the folder was changed "
                    "after the engine had read it, or is another one on the worker's machine. Start the engine again, "
                    "or copy the folder to that machine.",
                )
            self._bases[base] = decoder
            log.info("base model %s is in memory, in %s", base.folder, base.dtype)
        return self._bases[base]

    def _batches_of(self, share: Share) -> MicroBatches:
        key = (share.base, share.chunk_size)
        if key not in self._micro_batches:
            self._micro_batches[key] = MicroBatches(self._decoder(share.base), share.chunk_size)
        return self._micro_batches[key]

    def _forget(self, base: BaseRef) -> None:
        self._bases.pop(base, None)
        for key in [key for key in self._micro_batches if key[0] == base]:
            del self._micro_batches[key]
        gc.collect()
        give_back_freed_pages()
        if self._device.type == "cuda":
            torch.cuda.empty_cache()

    def _fail(self, content: dict, error: Exception) -> None:
        log.error("a share failed", exc_info=error)
        if "share" in content:
            self._send({"failed": content["share"], "error": as_engine_error(error).as_wire()})

    def _send(self, content: dict, tensors: dict[str, Tensor] | None = None) -> None:
        frame = encode(content, tensors)
        with self._sending:
            try:
                self._connection.sendall(frame)
            except OSError:
                self._engine_gone()

    def _listen(self) -> None:
        while (message := receive(self._connection)) is not None:
            content, _ = message
            if "drop" in content:
                self._dropped.add(content["drop"])
            else:
                self._inbox.put(message)
        self._engine_gone()

    def _tick(self) -> None:
        while True:
            self._send({"progress": progress.total()})
            time.sleep(_TICK_S)
