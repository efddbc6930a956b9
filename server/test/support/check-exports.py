"""Loads a step's exports in transformers and the reader of gguf, in one process, because importing them takes longest.

Usage: check-exports.py MERGED_FOLDER FILE.gguf…, the GGUF file in 32 bits first. Standard input: a JSON list of
{"prompt": [ids], "length": n}. Prints, as JSON, the greedy tokens of folder and first file, and for each file
the types of its matrices, their largest relative distance from the folder's, and the tensors beside them.
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


def greedy(model) -> list[list[int]]:
    answers = []
    for asked in prompts:
        ids = torch.tensor([asked["prompt"]])
        settings = {"max_new_tokens": asked["length"], "min_new_tokens": asked["length"], "do_sample": False}
        answers.append(model.generate(ids, attention_mask=torch.ones_like(ids), **settings)[0, ids.shape[1] :].tolist())
    return answers


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


# The end-of-turn token does not end an answer here: answers have the lengths that were sampled.
plain = {"dtype": torch.float32}
merged = AutoModelForCausalLM.from_pretrained(folder, **plain).eval()
config = AutoConfig.from_pretrained(folder)
back = AutoModelForCausalLM.from_pretrained(files[0].parent, gguf_file=files[0].name, config=config, **plain).eval()
for model in (merged, back):
    model.generation_config.eos_token_id = None
print(json.dumps({"merged": greedy(merged), "gguf": greedy(back), "files": [read(file) for file in files]}))
