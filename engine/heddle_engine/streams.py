"""Streams of a GPU: serving has one of its own that goes before training, whose kernels are long.

What one thread has made for another is handed over when it is there: streams do not wait for each other.
"""

import torch


def serve_first(device: torch.device) -> None:
    """Give the calling thread a stream whose kernels go before those of others."""
    if device.type == "cuda":
        torch.cuda.set_stream(torch.cuda.Stream(device, priority=-1))


def wait_for(device: torch.device) -> None:
    """Wait until all that the calling thread has begun on `device` is done."""
    if device.type == "cuda":
        torch.cuda.current_stream(device).synchronize()
