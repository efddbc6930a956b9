"""Streams of a GPU: serving has one of its own that goes before training, whose kernels are long.

What one thread has made for another is handed over when it is there: streams do not wait for each other.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


def serve_first(device: torch.device) -> None:
    """Give the calling thread a stream whose kernels go before those of others."""
    if device.type == "cuda":
        torch.cuda.set_stream(torch.cuda.Stream(device, priority=-1))


class SideStream:
    """A second stream of the calling thread, for what need not wait for the kernels that follow; nothing on a CPU.

    `fork` makes it wait for the work that the thread has begun, `join` makes the thread's stream wait for it; in
    a capture both become edges of the graph.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._side: torch.cuda.Stream | None = None

    @contextmanager
    def fork(self) -> Iterator[None]:
        if self._device.type != "cuda":
            yield
            return
        if self._side is None:
            self._side = torch.cuda.Stream(self._device, priority=-1)
        self._side.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(self._side):
            yield

    def join(self) -> None:
        if self._side is not None:
            torch.cuda.current_stream(self._device).wait_stream(self._side)


class Fetched:
    """Copies of `tensors` on their way to the processor's memory."""

    def __init__(self, tensors: list[Tensor]) -> None:
        self._copies = [tensor.to("cpu", non_blocking=True) for tensor in tensors]
        self._copied: torch.cuda.Event | None = None
        if any(tensor.device.type == "cuda" for tensor in tensors):
            self._copied = torch.cuda.Event()
            self._copied.record()

    def wait(self) -> list[Tensor]:
        """The copies once they are there, whatever the stream has to do behind them."""
        if self._copied is not None:
            self._copied.synchronize()
        return self._copies


def wait_for(device: torch.device) -> None:
    """Wait until all that the calling thread has begun on `device` is done."""
    if device.type == "cuda":
        torch.cuda.current_stream(device).synchronize()
