"""Runs sequences through forward and backward in pieces that fit in memory.

A step's gradient is one sum over its tokens with one divisor, so any split into pieces gives the same
gradient (engine 4.5, mean of means). A piece that runs out of memory is done again in two halves.
"""

import gc
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import torch
from torch import Tensor

from ..errors import EngineError
from ..faults import as_engine_error
from ..model.decoder import Decoder, LoraView
from .packed_forward import Batch, batch_logprobs, lay_out
from .packing import next_fit
from .sequences import Sequence
from .trainable_lora import TrainableLora

#: Packed tokens of one forward pass.
TOKENS = {"cpu": 2048, "cuda": 8192}

Record = TypeVar("Record")
#: Given the sequences' places in the step, log-probabilities and entropy [M]: the piece's part of the
#: step's loss, and what to remember of it.
Objective = Callable[[list[int], Batch, Tensor, Tensor], tuple[Tensor, Record]]


class MicroBatches:
    """``halvings`` counts pieces split for lack of memory; ``seconds`` adds up the time spent computing."""

    def __init__(self, decoder: Decoder, chunk_size: int) -> None:
        self._decoder = decoder
        self._chunk_size = chunk_size
        self._tokens = TOKENS.get(decoder.device.type, TOKENS["cuda"])
        self.halvings = 0
        self.seconds = 0.0

    def backward(
        self, sequences: list[Sequence], lora: TrainableLora, objective: Objective[Record]
    ) -> Iterator[list[Record]]:
        """Adds the gradient of the summed objective to ``lora.gradient``; yields each piece's records."""
        for piece in self._pieces(sequences):
            start = time.perf_counter()
            records = self._backward(sequences, piece, lora, objective)
            self.seconds += time.perf_counter() - start
            yield records

    def logprobs(self, sequences: list[Sequence], lora: LoraView) -> Iterator[list[Tensor] | None]:
        """Yields None between pieces; last, the log-probabilities of each sequence's trained tokens."""
        found: list[Tensor] = [torch.empty(0)] * len(sequences)
        for piece in self._pieces(sequences):
            start = time.perf_counter()
            batch = self._lay_out(sequences, piece)
            with torch.no_grad():
                logprobs, _ = batch_logprobs(self._decoder, batch, lora, self._chunk_size)
            for place, index in enumerate(piece):
                found[index] = logprobs[batch.sequence == place]
            self.seconds += time.perf_counter() - start
            yield None
        yield found

    def _pieces(self, sequences: list[Sequence]) -> list[list[int]]:
        """Places of the sequences of each piece; members of a group stay together while they fit."""
        place = {id(sequence): index for index, sequence in enumerate(sequences)}
        return [[place[id(sequence)] for sequence in piece] for piece in next_fit(sequences, self._tokens)]

    def _lay_out(self, sequences: list[Sequence], piece: list[int]) -> Batch:
        return lay_out([sequences[index] for index in piece], self._decoder.device)

    def _backward(
        self, sequences: list[Sequence], piece: list[int], lora: TrainableLora, objective: Objective[Record]
    ) -> list[Record]:
        before = lora.gradient.clone()
        record = self._attempt(sequences, piece, lora, objective)
        if record is not None:
            return [record]
        self._free()
        self.halvings += 1
        lora.gradient.copy_(before)
        halves = [piece[: len(piece) // 2], piece[len(piece) // 2 :]] if len(piece) > 1 else []
        records = [self._attempt(sequences, half, lora, objective) for half in halves]
        if not records or any(record is None for record in records):
            raise self._too_large(sequences, piece)
        return [record for record in records if record is not None]

    def _attempt(
        self, sequences: list[Sequence], piece: list[int], lora: TrainableLora, objective: Objective[Record]
    ) -> Record | None:
        """None when memory ran out; returning first frees what the failed pass held."""
        try:
            batch = self._lay_out(sequences, piece)
            logprobs, entropy = batch_logprobs(self._decoder, batch, lora, self._chunk_size)
            loss, record = objective(piece, batch, logprobs, entropy)
            loss.backward()
            return record
        except (RuntimeError, MemoryError) as error:
            if as_engine_error(error).kind == "out_of_memory":
                return None
            raise

    def _too_large(self, sequences: list[Sequence], piece: list[int]) -> EngineError:
        tokens = sum(len(sequences[index]) for index in piece)
        return EngineError(
            "out_of_memory",
            f"Out of memory in a training pass over {len(piece)} sequences of {tokens} tokens, also in two halves. "
            "Train shorter sequences or a smaller base model, or use a machine with more memory.",
        )

    def _free(self) -> None:
        gc.collect()
        if self._decoder.device.type == "cuda":
            torch.cuda.empty_cache()
