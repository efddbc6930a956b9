"""Runs the sequences of a step in all processes that train; as `MicroBatches` does in one.

A step is cut into as many shares as there are processes, whoever computes them, and their gradients are added in the
order of the shares. What a worker lost is computed again here, so a job goes on whatever becomes of its workers and
ends with the same bits.
"""

import time
from collections.abc import Generator, Iterator
from typing import TypeVar

import torch
from torch import Tensor

from ...model.decoder import LoraView
from ..data.sequences import Sequence
from ..loss.objectives import Objective, Record
from ..micro_batches import MicroBatches
from ..trainable_lora import TrainableLora
from .frames import Message
from .group import WorkerGroup
from .member import Task
from .shares import share_out
from .tasks import BaseRef, Share, unpacked_records

_LOOK_S = 0.02
"""How long a turn of the job waits for a worker, while other jobs wait for theirs."""


#: What a turn of the job yields that found nothing.
Waiting = TypeVar("Waiting")


class SharedBatches:
    """``lost`` says how workers ended that had a share of this job; whoever tells it clears it."""

    def __init__(self, own: MicroBatches, group: WorkerGroup, base: BaseRef, chunk_size: int) -> None:
        self._own, self._group = own, group
        self._base, self._chunk_size = base, chunk_size
        self._device = own.device
        self._halvings = 0
        self._waited = 0.0
        self.lost: list[str] = []

    @property
    def halvings(self) -> int:
        return self._own.halvings + self._halvings

    @property
    def seconds(self) -> float:
        return self._own.seconds + self._waited

    def backward(self, sequences: list[Sequence], lora: TrainableLora, objective: Objective) -> Iterator[list[Record]]:
        """As `MicroBatches.backward`; ``lora.gradient`` is zero before."""
        shares = share_out(sequences, self._group.size)
        tasks = self._begin(sequences, shares, lora, objective)
        try:
            yield from self._own.backward(_of(sequences, shares[0]), lora, objective.part_of(shares[0]))
            for share, task in zip(shares[1:], tasks, strict=True):
                answer = yield from self._answer(task, [])
                if answer is not None:
                    content, tensors = answer
                    lora.gradient.add_(tensors["gradient"].to(self._device))
                    yield unpacked_records(tensors, content["records"], self._device)
                elif share:
                    before = lora.gradient.clone()
                    lora.gradient.zero_()
                    yield from self._own.backward(_of(sequences, share), lora, objective.part_of(share))
                    lora.gradient.add_(before)
        finally:
            _drop(tasks)

    def logprobs(self, sequences: list[Sequence], lora: LoraView) -> Generator[None, None, list[Tensor]]:
        """As `MicroBatches.logprobs`."""
        shares = share_out(sequences, self._group.size)
        tasks = self._begin(sequences, shares, lora, None)
        found: list[Tensor] = [torch.empty(0)] * len(sequences)
        try:
            for share, task in zip(shares, [None, *tasks], strict=True):
                answer = yield from self._answer(task, None)
                if answer is None:
                    parts = yield from self._own.logprobs(_of(sequences, share), lora)
                else:
                    lengths = [sequences[place].num_trained for place in share]
                    parts = list(answer[1]["logprobs"].to(self._device).split(lengths))
                for place, part in zip(share, parts, strict=True):
                    found[place] = part
        finally:
            _drop(tasks)
        return found

    def _begin(
        self, sequences: list[Sequence], shares: list[list[int]], lora: LoraView, objective: Objective | None
    ) -> list[Task | None]:
        """Of all shares but the first; None where no worker has it."""
        tasks: list[Task | None] = []
        for places, member in zip(shares[1:], self._group.members, strict=True):
            if not places or not member.is_ready:
                tasks.append(None)
                continue
            part = objective and objective.part_of(places)
            share = Share(self._base, self._chunk_size, lora, _of(sequences, places), part)
            tasks.append(member.begin(*share.packed()))
        return tasks

    def _answer(self, task: Task | None, meanwhile: Waiting) -> Generator[Waiting, None, Message | None]:
        """What the worker found, or None where this process must find it. Yields ``meanwhile`` while it waits."""
        if task is None:
            return None
        start = time.perf_counter()
        while not task.wait(_LOOK_S):
            yield meanwhile
        self._waited += time.perf_counter() - start
        if task.error is not None:
            raise task.error
        if task.answer is None:
            assert task.lost is not None
            self.lost.append(task.lost)
            return None
        self._halvings += task.answer[0]["halvings"]
        return task.answer


def _of(sequences: list[Sequence], places: list[int]) -> list[Sequence]:
    return [sequences[place] for place in places]


def _drop(tasks: list[Task | None]) -> None:
    for task in tasks:
        if task is not None:
            task.drop()
