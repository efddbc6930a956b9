"""Runs sequences through forward and backward in pieces that fit in memory.

A step's gradient is one sum over its tokens with one divisor, so any split into pieces gives the same
gradient (engine 4.5, mean of means). A piece that runs out of memory is done again in halves, and later
pieces are smaller.
"""

import gc
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ..errors import EngineError
from ..faults import as_engine_error
from ..memory import training_tokens
from ..model.decoder import Decoder, LoraView
from .data.sequences import Sequence
from .loss.objectives import Objective, Record
from .packed.packed_forward import Batch, batch_logprobs, lay_out
from .packed.packing import shared_tokens
from .packed.prefix_tree import build_forest
from .trainable_lora import TrainableLora

#: Packed tokens of one forward pass.
TOKENS = {"cpu": 2048, "cuda": 8192}
#: The same where sequences share a long prompt: a pass computes it once, so large passes are worth it.
MOST_TOKENS = {"cpu": 16384, "cuda": 32768}
#: Passes on a GPU are planned no smaller than this, which keeps it busy; one that does not fit computes layers twice.
LEAST_TOKENS = 2048


@dataclass(frozen=True)
class PieceLimits:
    """How many tokens a piece may have: ``usual``, or ``most`` where a cut would compute a long shared prompt twice.

    Two sequences with such a prompt stay together at any size, unless ``pairs`` is off: a pair ran out of memory.
    """

    usual: int
    most: int
    pairs: bool = True

    def allow(self, sequence: Sequence, shared: int, size: int, count: int) -> bool:
        """Whether ``sequence`` joins a piece of ``count`` others; ``shared`` of their ``size`` tokens are its own."""
        size += len(sequence) - shared
        if 2 * shared < len(sequence):
            return size <= self.usual
        return size <= self.most or (self.pairs and count == 1)

    def below(self, piece: list[Sequence]) -> "PieceLimits":
        """Limits under which ``piece``, for which memory did not suffice, would be cut in two."""
        half = max(1, len(build_forest(piece).ids) // 2)
        return PieceLimits(min(self.usual, half), min(self.most, half), self.pairs and len(piece) > 2)


def cut(sequences: list[Sequence], places: Iterable[int], limits: PieceLimits) -> list[list[int]]:
    """``places`` of ``sequences``, in their order, by piece."""
    pieces: list[list[int]] = []
    size = 0
    for place in places:
        there = [sequences[other] for other in pieces[-1]] if pieces else []
        shared = shared_tokens(sequences[place], there)
        if there and limits.allow(sequences[place], shared, size, len(there)):
            pieces[-1].append(place)
            size += len(sequences[place]) - shared
        else:
            pieces.append([place])
            size = len(sequences[place])
    return pieces


class MicroBatches:
    """``halvings`` counts pieces split for lack of memory; ``seconds`` adds up the time spent computing."""

    def __init__(self, decoder: Decoder, chunk_size: int) -> None:
        self._decoder = decoder
        self._chunk_size = chunk_size
        kind = decoder.device.type if decoder.device.type in TOKENS else "cuda"
        fit = training_tokens(decoder)
        usual = min(TOKENS[kind], max(LEAST_TOKENS, fit))
        self._limits = PieceLimits(usual, max(usual, min(MOST_TOKENS[kind], fit)))
        self.halvings = 0
        #: As in ``SharedBatches``; here there are no workers to lose.
        self.lost: list[str] = []
        self.seconds = 0.0

    @property
    def device(self) -> torch.device:
        return self._decoder.device

    def backward(self, sequences: list[Sequence], lora: TrainableLora, objective: Objective) -> Iterator[list[Record]]:
        """Adds the gradient of the summed objective to ``lora.gradient``; yields each piece's records.

        Yields an empty list after a pass for which memory did not suffice.
        """
        pieces = deque(cut(sequences, range(len(sequences)), self._limits))
        while pieces:
            start = time.perf_counter()
            before = lora.gradient.clone()
            records = self._attempt(sequences, pieces[0], lora, objective)
            if records:
                pieces.popleft()
            else:
                lora.gradient.copy_(before)
                pieces = self._smaller(sequences, pieces)
            self.seconds += time.perf_counter() - start
            yield records

    def logprobs(self, sequences: list[Sequence], lora: LoraView) -> Generator[None, None, list[Tensor]]:
        """Returns the log-probabilities of each sequence's trained tokens; yields after each piece."""
        found: list[Tensor] = [torch.empty(0)] * len(sequences)
        pieces = deque(cut(sequences, range(len(sequences)), self._limits))
        while pieces:
            start = time.perf_counter()
            parts = self._attempt_logprobs(sequences, pieces[0], lora)
            if parts:
                for index, part in zip(pieces.popleft(), parts, strict=True):
                    found[index] = part
            else:
                pieces = self._smaller(sequences, pieces)
            self.seconds += time.perf_counter() - start
            yield
        return found

    def _lay_out(self, sequences: list[Sequence], piece: list[int]) -> Batch:
        return lay_out([sequences[index] for index in piece], self._decoder.device)

    def _smaller(self, sequences: list[Sequence], pieces: Iterable[list[int]]) -> "deque[list[int]]":
        """``pieces`` in smaller ones: memory did not suffice for the first."""
        self._free()
        first = [sequences[index] for index in next(iter(pieces))]
        if len(first) == 1:
            raise _too_large(first[0])
        self.halvings += 1
        self._limits = self._limits.below(first)
        return deque(smaller for piece in pieces for smaller in cut(sequences, piece, self._limits))

    def _attempt(
        self, sequences: list[Sequence], piece: list[int], lora: TrainableLora, objective: Objective
    ) -> list[Record]:
        """One record, or none when memory ran out; returning first frees what the failed pass held."""
        try:
            batch = self._lay_out(sequences, piece)
            logprobs, entropy = batch_logprobs(self._decoder, batch, lora, self._chunk_size)
            loss, record = objective(piece, batch, logprobs, entropy)
            loss.backward()
            return [record]
        except (RuntimeError, MemoryError) as error:
            if as_engine_error(error).kind == "out_of_memory":
                return []
            raise

    def _attempt_logprobs(self, sequences: list[Sequence], piece: list[int], lora: LoraView) -> list[Tensor]:
        """The log-probabilities of each of ``piece``, or none when memory ran out."""
        try:
            batch = self._lay_out(sequences, piece)
            with torch.no_grad():
                logprobs, _ = batch_logprobs(self._decoder, batch, lora, self._chunk_size)
            return [logprobs[batch.sequence == place] for place in range(len(piece))]
        except (RuntimeError, MemoryError) as error:
            if as_engine_error(error).kind == "out_of_memory":
                return []
            raise

    def _free(self) -> None:
        gc.collect()
        if self._decoder.device.type == "cuda":
            torch.cuda.empty_cache()


def _too_large(sequence: Sequence) -> EngineError:
    return EngineError(
        "out_of_memory",
        f"Out of memory in a training pass over one sequence of {len(sequence)} tokens. "
        "Train shorter sequences or a smaller base model, or use a machine with more memory.",
    )
