"""Random models of real shapes on a GPU, for the engine and for its peers; nothing is read from a disk."""

import time
from dataclasses import dataclass

import torch
from heddle_engine.model import weights
from heddle_engine.model.adapters import ServedAdapter
from heddle_engine.model.config import DecoderConfig
from heddle_engine.model.decoder import Decoder
from heddle_engine.model.lora import LoraWeights, initial_lora

GPU = torch.device("cuda")
VOCABULARY = 151_936
RANK, ALPHA = 16, 32.0


@dataclass(frozen=True)
class Shape:
    """Of a Qwen3."""

    name: str
    hidden: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    tied: bool

    def config(self) -> dict:
        return {
            "architectures": ["Qwen3ForCausalLM"],
            "model_type": "qwen3",
            "vocab_size": VOCABULARY,
            "hidden_size": self.hidden,
            "intermediate_size": self.inner,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": 128,
            "hidden_act": "silu",
            "max_position_embeddings": 32_768,
            "rms_norm_eps": 1e-6,
            "rope_theta": 1e6,
            "attention_bias": False,
            "tie_word_embeddings": self.tied,
        }


SMALL = Shape("Qwen3-0.6B", 1024, 3072, 28, 16, 8, tied=True)
LARGE = Shape("Qwen3-8B", 4096, 12_288, 36, 32, 8, tied=False)


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
        spread = 0.06 if "embed" in name else shape[1] ** -0.5
        return torch.empty(shape, device=GPU, dtype=self._dtype).normal_(std=spread, generator=self._generator)


def make_decoder(shape: Shape, dtype: torch.dtype = torch.bfloat16) -> Decoder:
    config = DecoderConfig.from_hf(shape.config())
    of_files = weights.Checkpoint
    weights.Checkpoint = lambda *_: _RandomCheckpoint(shape.tied, dtype)
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


def weight_bytes(decoder: Decoder) -> int:
    """What a decode step reads of the weights: all but the embedding, of which it takes rows."""
    read = sum(
        frozen.weight.nbytes
        for layer in decoder.layers
        for frozen in (layer.qkv, layer.o, layer.mlp.gate_up, layer.mlp.down)
    )
    return read + decoder.head.weight.nbytes


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
