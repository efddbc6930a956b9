"""Random models of real shapes on a GPU, for the engine and for its peers; nothing is read from a disk."""

import math
import time
from dataclasses import dataclass

import torch
from heddle_engine.model.adapters import ServedAdapter
from heddle_engine.model.config import DecoderConfig
from heddle_engine.model.decoder import Decoder
from heddle_engine.model.files import weights
from heddle_engine.model.lora import LoraWeights, initial_lora
from heddle_engine.model.mixture.mixture import Mixture

GPU = torch.device("cuda")
RANK, ALPHA = 16, 32.0

_COMMON = {
    "vocab_size": 151_936,
    "hidden_act": "silu",
    "max_position_embeddings": 32_768,
    "rms_norm_eps": 1e-6,
    "rope_theta": 1e6,
    "attention_bias": False,
    "head_dim": 128,
}


@dataclass(frozen=True)
class Shape:
    """`settings` are those of `config.json` beside the common ones.

    `rows`: batches that decode, as far as memory suffices. `peer`: how the plain loop may train it, the fastest first:
    whether layers are computed again, and rows at a time.
    """

    name: str
    architecture: str
    settings: dict
    rows: tuple[int, ...] = (1, 16, 64, 128)
    peer: tuple[tuple[bool, int], ...] = ((False, 8), (False, 2), (True, 8), (True, 2))

    def config(self) -> dict:
        return {"architectures": [self.architecture], **_COMMON, **self.settings}


def _sizes(hidden: int, inner: int, layers: int, heads: int, kv_heads: int, tied: bool = False) -> dict:
    return {
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "tie_word_embeddings": tied,
    }


SMALL = Shape("Qwen3-0.6B", "Qwen3ForCausalLM", {"model_type": "qwen3", **_sizes(1024, 3072, 28, 16, 8, tied=True)})
LARGE = Shape("Qwen3-8B", "Qwen3ForCausalLM", {"model_type": "qwen3", **_sizes(4096, 12_288, 36, 32, 8)})
MIXTURE = Shape(
    "Qwen3-30B-A3B",
    "Qwen3MoeForCausalLM",
    {
        "model_type": "qwen3_moe",
        **_sizes(2048, 6144, 48, 32, 4),
        "num_experts": 128,
        "num_experts_per_tok": 8,
        "moe_intermediate_size": 768,
        "norm_topk_prob": True,
    },
    rows=(1, 16, 64),
    peer=((True, 2), (True, 1)),
)
HYBRID = Shape(
    "Qwen3.5-4B",
    "Qwen3_5ForCausalLM",
    {
        "model_type": "qwen3_5_text",
        **_sizes(2560, 9216, 32, 16, 4, tied=True),
        "vocab_size": 248_320,
        "head_dim": 256,
        "layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 8,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 32,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4,
    },
)
SHAPES = {shape.name: shape for shape in (SMALL, LARGE, MIXTURE, HYBRID)}


class _RandomCheckpoint:
    """Stands in for the files of a model folder."""

    def __init__(self, tied: bool, dtype: torch.dtype) -> None:
        self._tied, self._dtype = tied, dtype
        self._generator = torch.Generator(GPU).manual_seed(0)

    def __contains__(self, name: str) -> bool:
        return not name.endswith("bias") and (name != "lm_head.weight" or not self._tied)

    def tensor(self, name: str, *shape: int) -> torch.Tensor:
        if len(shape) == 1:
            return torch.ones(shape, device=GPU, dtype=self._dtype)
        spread = 0.06 if "embed" in name else math.prod(shape[1:]) ** -0.5
        return torch.empty(shape, device=GPU, dtype=self._dtype).normal_(std=spread, generator=self._generator)

    def in_fp32(self, name: str, *shape: int) -> torch.Tensor:
        return self.tensor(name, *shape).float()


def make_decoder(shape: Shape, dtype: torch.dtype = torch.bfloat16) -> Decoder:
    settings = shape.config()
    config = DecoderConfig.from_hf(settings)
    of_files = weights.Checkpoint
    weights.Checkpoint = lambda *_: _RandomCheckpoint(settings["tie_word_embeddings"], dtype)
    try:
        return weights.load_decoder(None, config, GPU, dtype)
    finally:
        weights.Checkpoint = of_files


def make_lora(decoder: Decoder, seed: int) -> LoraWeights:
    """A random adapter whose B is not zero."""
    made = initial_lora(decoder.config, RANK, ALPHA, seed)
    generator = torch.Generator().manual_seed(seed)
    for module in made.modules.values():
        module.b.normal_(std=0.01, generator=generator)
    return made


def make_adapter(decoder: Decoder, seed: int) -> ServedAdapter:
    return ServedAdapter(f"adapter-{seed}", make_lora(decoder, seed), decoder.config, GPU, decoder.dtype)


def weights_of_layers(decoder: Decoder, tokens: int) -> float:
    """How many weights of the layers `tokens` tokens read, each a number of experts picked by even chance."""
    read = 0.0
    for layer in decoder.layers:
        read += sum(each.in_features * each.out_features for each in (layer.qkv, layer.o))
        expert = sum(each.in_features * each.out_features for each in (layer.mlp.gate_up, layer.mlp.down))
        mixture = decoder.config.mixture if isinstance(layer.mlp, Mixture) else None
        if mixture is None:
            read += expert
        else:
            read += expert * mixture.num_experts * (1 - (1 - mixture.per_token / mixture.num_experts) ** tokens)
    return read


def bytes_of_step(decoder: Decoder, rows: int, length: int) -> float:
    """What a decode step has to read: weights but the embedding, of which it takes rows, all keys and values, and what
    delta nets remember, which it has to write too."""
    of_weights = weights_of_layers(decoder, rows) * decoder.dtype.itemsize + decoder.head.weight.nbytes
    return of_weights + rows * (length * decoder.kv_token_bytes + 2 * decoder.state_bytes)


def seconds(work, repeats: int = 5, warm: int = 2) -> list[float]:
    """What each of `repeats` runs of `work` takes, the GPU's part included."""
    for _ in range(warm):
        work()
    taken = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        began = time.perf_counter()
        work()
        torch.cuda.synchronize()
        taken.append(time.perf_counter() - began)
    return taken
