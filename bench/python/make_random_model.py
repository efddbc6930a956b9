"""Makes a random Qwen3 with a tokenizer and a ChatML template, for speed benchmarks.

Usage: make_random_model.py SHAPE FOLDER. SHAPE is `small` or `wide`. Every run writes the same files. Needs torch,
tokenizers and safetensors. The weights are random, with a spread that makes greedy output depend on its context.
"""

import json
import random
import string
import sys
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

TOKENS = 32768
"""Of the tokenizer; a model may have more rows, as those of Qwen do."""
HEAD_DIM = 64


@dataclass(frozen=True)
class Shape:
    vocabulary: int
    hidden: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    spread: float
    """Standard deviation of the embedding's weights; that of the logits is larger by the root of `hidden`."""


SHAPES = {
    # 107 M parameters.
    "small": Shape(TOKENS, hidden=768, inner=2304, layers=12, heads=12, kv_heads=4, spread=0.06),
    # The vocabulary of Qwen3 over few layers. A few tokens have most of the weight, as in a trained model.
    "wide": Shape(151_936, hidden=512, inner=1536, layers=4, heads=8, kv_heads=4, spread=0.35),
}
SPECIAL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEMPLATE = """\
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""


def main(shape: Shape, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = train_tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    write_json(folder / "tokenizer_config.json", tokenizer_config())
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    write_json(folder / "config.json", model_config(shape))
    save_file(random_weights(shape), folder / "model.safetensors", metadata={"format": "pt"})


def train_tokenizer() -> Tokenizer:
    """Byte-level BPE over random words."""
    source = random.Random(0)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    words = ["".join(source.choices(string.ascii_lowercase, k=source.randint(2, 9))) for _ in range(2 * TOKENS)]
    trainer = trainers.BpeTrainer(
        vocab_size=TOKENS,
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


def model_config(shape: Shape) -> dict:
    return {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.hidden,
        "intermediate_size": shape.inner,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
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


def random_weights(shape: Shape) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    hidden, inner = shape.hidden, shape.inner
    queries, keys = shape.heads * HEAD_DIM, shape.kv_heads * HEAD_DIM

    def matrix(rows: int, columns: int, std: float | None = None) -> torch.Tensor:
        return torch.empty(rows, columns).normal_(std=std or 1.5 / columns**0.5, generator=generator)

    embedding = matrix(shape.vocabulary, hidden, shape.spread)
    weights = {"model.embed_tokens.weight": embedding, "model.norm.weight": torch.ones(hidden)}
    for layer in range(shape.layers):
        prefix = f"model.layers.{layer}"
        weights |= {
            f"{prefix}.input_layernorm.weight": torch.ones(hidden),
            f"{prefix}.post_attention_layernorm.weight": torch.ones(hidden),
            f"{prefix}.self_attn.q_norm.weight": torch.ones(HEAD_DIM),
            f"{prefix}.self_attn.k_norm.weight": torch.ones(HEAD_DIM),
            f"{prefix}.self_attn.q_proj.weight": matrix(queries, hidden),
            f"{prefix}.self_attn.k_proj.weight": matrix(keys, hidden),
            f"{prefix}.self_attn.v_proj.weight": matrix(keys, hidden),
            f"{prefix}.self_attn.o_proj.weight": matrix(hidden, queries),
            f"{prefix}.mlp.gate_proj.weight": matrix(inner, hidden),
            f"{prefix}.mlp.up_proj.weight": matrix(inner, hidden),
            f"{prefix}.mlp.down_proj.weight": matrix(hidden, inner),
        }
    return weights


def write_json(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")


if __name__ == "__main__":
    main(SHAPES[sys.argv[1]], Path(sys.argv[2]))
