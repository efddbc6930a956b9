"""Makes an adapter with peft and prints, as JSON, the greedy tokens that peft samples with it for prompts.

Usage: make-adapters.py BASE FOLDER. Standard input: a JSON list of lists of token ids. Makes FOLDER, as peft saves
it, and beside it FOLDER-pickle, with its weights as a pickle, and FOLDER-rank, whose config says another rank.
"""

import json
import shutil
import sys
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

torch.set_num_threads(1)
# A matrix A is drawn when the adapter is made.
torch.manual_seed(5)
base, folder = sys.argv[1:]
settings = LoraConfig(r=4, lora_alpha=16, target_modules=["q_proj", "v_proj", "down_proj"])
model = get_peft_model(AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32), settings).eval()
with torch.no_grad():
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            parameter.normal_(0, 0.1)
model.save_pretrained(folder)

for kind in ("pickle", "rank"):
    shutil.copytree(folder, f"{folder}-{kind}")
weights = Path(f"{folder}-pickle/adapter_model.safetensors")
torch.save({}, weights.with_name("adapter_model.bin"))
weights.unlink()
config = Path(f"{folder}-rank/adapter_config.json")
config.write_text(json.dumps({**json.loads(config.read_text()), "r": 8}))

model.generation_config.eos_token_id = None
sampled = []
with torch.no_grad():
    for prompt in json.load(sys.stdin):
        ids = torch.tensor([prompt])
        answer = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=5, do_sample=False)
        sampled.append(answer[0, ids.shape[1] :].tolist())
print(json.dumps(sampled))
