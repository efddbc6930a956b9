"""Measures the engine on this machine's GPU and prints what it found as JSON: targets T1 to T12 of the engine.

It needs torch for CUDA, transformers, peft and the folder `engine` on PYTHONPATH, and takes less than eight minutes on
an H100.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Collection
from functools import partial
from importlib.metadata import version
from pathlib import Path

import torch

from gpu_decode import beside_training_figures, decode_figures, publish_figures, top_p_figures
from gpu_models import GPU, LARGE, SHAPES, SMALL, Shape, make_decoder, seconds
from gpu_train import WORKLOADS, Engine, peer_figures, train_figures

PARTS = ("decode", "train", "beside", "peer")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=SHAPES, help=f"instead of {SMALL.name} and {LARGE.name}")
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}; all of them without any")
    given = parser.parse_args()
    parts = given.parts or PARTS
    if unknown := set(parts) - set(PARTS):
        parser.error(f"unknown part {min(unknown)}: choose of {', '.join(PARTS)}")
    shapes = [SHAPES[given.model]] if given.model else [SMALL, LARGE]
    figures = Figures()
    try:
        measure(shapes, parts, figures)
    finally:
        tell(given.model, figures)


def tell(model: str | None, figures: "Figures") -> None:
    """Prints what was found, though the rest failed."""
    found = {
        "gpu": torch.cuda.get_device_name(GPU),
        "model": model,
        "machine": machine(),
        "versions": {"CUDA": torch.version.cuda, **{name: version(name) for name in ("torch", "transformers", "peft")}},
        "figures": figures,
    }
    print(json.dumps(found))


def measure(shapes: list[Shape], parts: Collection[str], figures: "Figures") -> None:
    began = time.perf_counter()
    ceiling, bandwidth = matrix_product(), copy()
    figures["matrix product, bf16 (TFLOP/s)"] = [ceiling / 1e12]
    figures["copy on the device (TB/s)"] = [bandwidth / 1e12]
    for shape in shapes:
        decoder = make_decoder(shape)
        if "decode" in parts:
            decode_figures(decoder, shape.name, shape.rows, bandwidth, figures)
            top_p_figures(decoder, shape.name, figures)
            publish_figures(decoder, shape.name, figures)
        if "train" in parts:
            train_figures(decoder, shape, ceiling, figures)
        if "beside" in parts:
            engine, sequences = Engine(decoder), WORKLOADS["full length"]()
            beside_training_figures(decoder, shape.name, partial(engine.step, sequences), figures)
            del engine
        del decoder
        torch.cuda.empty_cache()
        if "peer" in parts:
            peer_figures(shape, figures)
        print(f"{time.perf_counter() - began:.0f} s so far", file=sys.stderr)


def machine() -> dict:
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": names[0].split(":")[1].strip() if names else "unknown",
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30),
        "system": f"{platform.system()} {platform.release()}",
    }


class Figures(dict[str, list[float]]):
    """Tells each figure as it is found."""

    def __setitem__(self, name: str, values: list[float]) -> None:
        super().__setitem__(name, values)
        print(f"{name}: {statistics.median(values):.4g}", file=sys.stderr, flush=True)


def matrix_product() -> float:
    """Operations a second."""
    a, b = (torch.randn(8192, 8192, device=GPU, dtype=torch.bfloat16) for _ in "ab")
    return 2 * 8192**3 / sorted(seconds(lambda: a @ b))[2]


def copy() -> float:
    """Bytes read and written a second."""
    source = torch.empty(2**32, device=GPU, dtype=torch.uint8).random_()
    target = torch.empty_like(source)
    return 2 * 2**32 / sorted(seconds(lambda: target.copy_(source)))[2]


if __name__ == "__main__":
    main()
