"""Loads a step's exports in transformers and the reader of gguf, in one process, because importing them takes longest.

Usage: check-exports.py MERGED_FOLDER FILE.gguf…, the GGUF file in 32 bits first. Standard input: a JSON list of
{"prompt": [ids], "tokens": [ids]}. Prints, as JSON, what folder and first file find likeliest at each place of the
tokens, after what stands before it, and for each file the types of its matrices, their largest relative distance from
the folder's, and the tensors beside them. Tokens that equal what is found likeliest are the greedy ones.
"""

import json
import sys
from pathlib import Path

import gguf
import numpy as np
import torch
from safetensors.numpy import load_file
from transformers import AutoConfig, AutoModelForCausalLM

torch.set_num_threads(1)
folder, files = Path(sys.argv[1]), [Path(file) for file in sys.argv[2:]]
prompts = json.load(sys.stdin)


def likeliest(model) -> list[list[int]]:
    """A single pass reads all rows, since none sees what pads it at its end."""
    rows = [torch.tensor(asked["prompt"] + asked["tokens"]) for asked in prompts]
    with torch.inference_mode():
        best = model(torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)).logits.argmax(-1).tolist()
    starts = [len(asked["prompt"]) - 1 for asked in prompts]
    return [row[start : start + len(asked["tokens"])] for row, start, asked in zip(best, starts, prompts, strict=True)]


def read(file: Path) -> dict:
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(file).tensors}
    config = json.loads((folder / "config.json").read_text())
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN3, config["num_hidden_layers"])
    kinds, distance = set(), 0.0
    for name, want in load_file(folder / "model.safetensors").items():
        tensor = tensors.pop(names.get_name(name, try_suffixes=(".weight",)))
        have = tensor.data
        if tensor.tensor_type == gguf.GGMLQuantizationType.BF16:
            have = (have.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        if want.ndim > 1:
            kinds.add(tensor.tensor_type.name)
        off = np.abs(have.reshape(want.shape).astype(np.float32) - want)
        distance = max(distance, (off / np.maximum(np.abs(want), 2**-14)).max().item())
    return {"kinds": sorted(kinds), "distance": distance, "beside": sorted(tensors)}


plain = {"dtype": torch.float32}
merged = AutoModelForCausalLM.from_pretrained(folder, **plain).eval()
config = AutoConfig.from_pretrained(folder)
back = AutoModelForCausalLM.from_pretrained(files[0].parent, gguf_file=files[0].name, config=config, **plain).eval()
print(json.dumps({"merged": likeliest(merged), "gguf": likeliest(back), "files": [read(file) for file in files]}))
