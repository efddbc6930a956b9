"""A small random mixture of experts in FOLDER/model, and an adapter of peft that changes its experts in FOLDER/adapter.

Usage: make-mixture.py FOLDER
"""

import sys
from pathlib import Path

from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

sys.path.append(str(Path(__file__).parents[3] / "engine"))
from tests.models import make_model

folder = Path(sys.argv[1])
made = make_model("qwen3_moe", folder / "model")
settings = LoraConfig(r=2, lora_alpha=4, target_modules=["q_proj", "gate_proj", "up_proj", "down_proj"])
get_peft_model(AutoModelForCausalLM.from_pretrained(made), settings).save_pretrained(folder / "adapter")
