"""Makes a random Qwen3 of 107 M parameters with a tokenizer and a ChatML template, for speed benchmarks.

Usage: make_small_model.py FOLDER. Every run writes the same files. Needs torch, tokenizers and
safetensors. The weights are random, with a spread that makes greedy output depend on its context.
"""

import json
import random
import string
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

VOCABULARY = 32768
HIDDEN, INNER, LAYERS = 768, 2304, 12
HEADS, KV_HEADS, HEAD_DIM = 12, 4, 64
SPECIAL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEMPLATE = """\
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = train_tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    write_json(folder / "tokenizer_config.json", tokenizer_config())
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    write_json(folder / "config.json", model_config())
    save_file(random_weights(), folder / "model.safetensors", metadata={"format": "pt"})


def train_tokenizer() -> Tokenizer:
    """Byte-level BPE over random words."""
    source = random.Random(0)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    words = ["".join(source.choices(string.ascii_lowercase, k=source.randint(2, 9))) for _ in range(2 * VOCABULARY)]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        min_frequency=1,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator((" ".join(words[i : i + 50]) for i in range(0, len(words), 50)), trainer)
    return tokenizer


def tokenizer_config() -> dict:
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": SPECIAL_TOKENS[2],
        "pad_token": SPECIAL_TOKENS[0],
        "bos_token": None,
        "clean_up_tokenization_spaces": False,
        "model_max_length": 8192,
    }


def model_config() -> dict:
    return {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "vocab_size": VOCABULARY,
        "hidden_size": HIDDEN,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": HEAD_DIM,
        "hidden_act": "silu",
        "max_position_embeddings": 8192,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "attention_bias": False,
        "tie_word_embeddings": True,
        "eos_token_id": 2,
        "pad_token_id": 0,
        "torch_dtype": "float32",
    }


def random_weights() -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)

    def matrix(rows: int, columns: int, std: float | None = None) -> torch.Tensor:
        return torch.empty(rows, columns).normal_(std=std or 1.5 / columns**0.5, generator=generator)

    weights = {"model.embed_tokens.weight": matrix(VOCABULARY, HIDDEN, 0.06), "model.norm.weight": torch.ones(HIDDEN)}
    for layer in range(LAYERS):
        prefix = f"model.layers.{layer}"
        weights |= {
            f"{prefix}.input_layernorm.weight": torch.ones(HIDDEN),
            f"{prefix}.post_attention_layernorm.weight": torch.ones(HIDDEN),
            f"{prefix}.self_attn.q_norm.weight": torch.ones(HEAD_DIM),
            f"{prefix}.self_attn.k_norm.weight": torch.ones(HEAD_DIM),
            f"{prefix}.self_attn.q_proj.weight": matrix(HEADS * HEAD_DIM, HIDDEN),
            f"{prefix}.self_attn.k_proj.weight": matrix(KV_HEADS * HEAD_DIM, HIDDEN),
            f"{prefix}.self_attn.v_proj.weight": matrix(KV_HEADS * HEAD_DIM, HIDDEN),
            f"{prefix}.self_attn.o_proj.weight": matrix(HIDDEN, HEADS * HEAD_DIM),
            f"{prefix}.mlp.gate_proj.weight": matrix(INNER, HIDDEN),
            f"{prefix}.mlp.up_proj.weight": matrix(INNER, HIDDEN),
            f"{prefix}.mlp.down_proj.weight": matrix(HIDDEN, INNER),
        }
    return weights


def write_json(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
