"""Make the shipped base model `heddle/tiny` from nothing: tokenizer, weights, model card, hashes.

Usage: engine/.venv/bin/python scripts/make_tiny_model.py [FOLDER]
Writes FOLDER (default engine/models/heddle-tiny); takes a few minutes on two cores, no network.
"""

import argparse
import hashlib
import sys
import time
from pathlib import Path

from tiny_model import ROOT
from tiny_model.model_card import write_card
from tiny_model.seed_training import new_model, seed_training
from tiny_model.tokenizer import save_tokenizer, train_tokenizer

SEED = 1
FOLDER_LIMIT = 4_000_000
"""Bytes that the model may take up in the repository."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "engine" / "models" / "heddle-tiny")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    make(folder)
    size = sum(file.stat().st_size for file in folder.iterdir())
    if size > FOLDER_LIMIT:
        sys.exit(f"{folder} takes {size:,} bytes: more than {FOLDER_LIMIT:,}, make it smaller")
    print(f"wrote {folder}: {size:,} bytes")


def make(folder: Path) -> None:
    started = time.monotonic()
    tokenizer = train_tokenizer(SEED)
    model = new_model(tokenizer, SEED)
    seed_training(model, tokenizer, SEED, _print_progress)
    model.save_pretrained(folder)
    save_tokenizer(tokenizer, folder)
    print(f"trained in {time.monotonic() - started:.0f} s")
    write_card(folder, model.num_parameters(), _sha256(folder / "model.safetensors"))
    _write_hashes(folder)


def _print_progress(step: int, loss: float) -> None:
    print(f"step {step}: {loss:.3f} nats per token", flush=True)


def _write_hashes(folder: Path) -> None:
    """Write SHA256SUMS, which `sha256sum --check` reads, over every other file of the folder."""
    files = sorted(file for file in folder.iterdir() if file.name != "SHA256SUMS")
    lines = [f"{_sha256(file)}  {file.name}\n" for file in files]
    (folder / "SHA256SUMS").write_text("".join(lines), "utf-8")


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
