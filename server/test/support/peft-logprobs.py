"""Prints, as JSON, the log-probabilities of given tokens that peft computes with a downloaded checkpoint."""

import json
import sys

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

base, adapter, prompt, tokens = sys.argv[1:]
prompt_ids, token_ids = json.loads(prompt), json.loads(tokens)
model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32), adapter).eval()
with torch.inference_mode():
    logits = model(torch.tensor([prompt_ids + token_ids])).logits[0, len(prompt_ids) - 1 : -1]
logprobs = torch.log_softmax(logits.float(), -1)
print(json.dumps(logprobs[range(len(token_ids)), token_ids].tolist()))
