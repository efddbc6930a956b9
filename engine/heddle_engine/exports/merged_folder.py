"""Merged weights as the folder that transformers, vLLM and others load: no adapter is left to name.

Of a model that reads pictures too the whole is written: what the adapter does not change is copied, tensor by tensor.
"""

import json
import struct
from collections.abc import Callable, Iterable
from pathlib import Path

import torch
from torch import Tensor

from ..text.render import TOOL_TEMPLATE
from .merged_weights import MergedWeights, TensorEntry, raw_bytes

_COPIED = (
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "tokenizer.model",
    "chat_template.jinja",
    "chat_template.json",
    "processor_config.json",
    "preprocessor_config.json",
    "video_preprocessor_config.json",
    "LICENSE",
    "LICENSE.txt",
    "LICENSE.md",
    "NOTICE",
)
_INDEX = "model.safetensors.index.json"
_TEMPLATE, _TOKENIZER = "chat_template.jinja", "tokenizer_config.json"
_NAMES = {torch.float32: "F32", torch.bfloat16: "BF16", torch.float16: "F16", torch.uint8: "U8"}


class MergedFolder:
    """`size_bytes` is about what the folder takes."""

    def __init__(self, base: Path, weights: MergedWeights, dtype: str | None):
        self._base, self._weights, self._dtype = base, weights, dtype
        self._templates = _several_templates(base)
        replaced = (_TEMPLATE, _TOKENIZER) if self._templates else ()
        self._copied = [name for name in _COPIED if (base / name).is_file() and name not in replaced]
        small = sum((base / name).stat().st_size for name in self._copied)
        self.size_bytes = small + sum(entry.nbytes for entry in weights.entries) + (1 << 20)

    def write(self, folder: Path) -> None:
        for name in self._copied:
            (folder / name).write_bytes((self._base / name).read_bytes())
        (folder / "config.json").write_text(json.dumps(self._config(), indent=2) + "\n")
        if self._templates:
            (folder / _TOKENIZER).write_text(json.dumps(self._tokenizer_config(), indent=2, ensure_ascii=False) + "\n")
        for name, entries in self._weights.files.items():
            write_safetensors(folder / name, entries, self._weights.read)
        if (self._base / _INDEX).is_file():
            (folder / _INDEX).write_text(json.dumps(self._index(), indent=2) + "\n")

    def _config(self) -> dict:
        config = json.loads((self._base / "config.json").read_text())
        config.pop("_name_or_path", None)
        if self._dtype:
            parts = [config, *(config[name] for name in ("text_config", "vision_config") if name in config)]
            # Its name was `torch_dtype` before transformers 5.
            key = "dtype" if any("dtype" in part for part in parts) else "torch_dtype"
            for part in parts:
                part[key] = self._dtype
        return config

    def _tokenizer_config(self) -> dict:
        file = self._base / _TOKENIZER
        return {**(json.loads(file.read_text()) if file.is_file() else {}), "chat_template": self._templates}

    def _index(self) -> dict:
        files = self._weights.files.items()
        total = sum(entry.nbytes for entry in self._weights.entries)
        places = {entry.name: name for name, entries in files for entry in entries}
        return {"metadata": {"total_size": total}, "weight_map": places}


def _several_templates(base: Path) -> list[dict[str, str]]:
    """The chat templates of a model that has one for tools too, in the form in which the tokenizer's config holds them.

    Where each is a file, all but the first lie in a folder of their own, and an export has files alone.
    """
    first, others = base / _TEMPLATE, sorted((base / TOOL_TEMPLATE).parent.glob("*.jinja"))
    if not first.is_file() or not others:
        return []
    named = {"default": first} | {file.stem: file for file in others}
    return [{"name": name, "template": file.read_text()} for name, file in named.items()]


def write_safetensors(file: Path, entries: Iterable[TensorEntry], read: Callable[[TensorEntry], Tensor]) -> None:
    """One tensor in memory at a time, which the library's own writer, whose file would be the same, does not offer."""
    listed = list(entries)
    header: dict = {"__metadata__": {"format": "pt"}}
    end = 0
    for entry in listed:
        begin, end = end, end + entry.nbytes
        header[entry.name] = {
            "dtype": _NAMES[entry.dtype],
            "shape": list(entry.shape),
            "data_offsets": [begin, end],
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with file.open("xb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for entry in listed:
            out.write(raw_bytes(read(entry)))
