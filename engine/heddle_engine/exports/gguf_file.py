"""A checkpoint as one GGUF file, unquantized: what llama.cpp and its like run, or quantize first."""

from pathlib import Path

import gguf
import numpy as np
import torch
from torch import Tensor

from ..errors import EngineError
from ..model.attention.rope import RopeConfig, llama3_divisors
from ..model.config import DecoderConfig
from .gguf_experts import StackedEntry, check_mixture, describe_mixture, is_router, stack_experts
from .gguf_tokens import add_tokenizer
from .merged_weights import MergedWeights, TensorEntry, raw_bytes

_ARCHITECTURES = {
    "LlamaForCausalLM": gguf.MODEL_ARCH.LLAMA,
    "MistralForCausalLM": gguf.MODEL_ARCH.LLAMA,
    "Qwen2ForCausalLM": gguf.MODEL_ARCH.QWEN2,
    "Qwen3ForCausalLM": gguf.MODEL_ARCH.QWEN3,
    "Qwen3MoeForCausalLM": gguf.MODEL_ARCH.QWEN3MOE,
}
_TYPES = {
    torch.float32: (gguf.GGMLQuantizationType.F32, gguf.LlamaFileType.ALL_F32),
    torch.float16: (gguf.GGMLQuantizationType.F16, gguf.LlamaFileType.MOSTLY_F16),
    torch.bfloat16: (gguf.GGMLQuantizationType.BF16, gguf.LlamaFileType.MOSTLY_BF16),
}
_COMPUTED = "rotary_emb.inv_freq"
"""A tensor that old checkpoints hold and nobody reads."""
_YARN_ALONE = ("attention_factor", "mscale", "mscale_all_dim")


class GgufFile:
    """`size_bytes` is about what the file takes."""

    def __init__(self, base: Path, config: DecoderConfig, weights: MergedWeights, title: str):
        """Raises `invalid`, naming what GGUF cannot say of the model."""
        if config.architecture not in _ARCHITECTURES:
            raise EngineError(
                "invalid",
                f"GGUF files are not written of the architecture {config.architecture!r}, whose tokenizers or tensors "
                "they hold in another form. Export merged weights instead.",
                "format",
            )
        check_mixture(config)
        self._base, self._config, self._weights, self._title = base, config, weights, title
        self._architecture = _ARCHITECTURES[config.architecture]
        self._names = gguf.get_tensor_name_map(self._architecture, config.num_layers)
        entries = stack_experts([entry for entry in weights.entries if _is_read(entry)], config)
        self._entries = [(self._name(entry), _as_stored(entry)) for entry in entries]
        vocabulary = (base / "tokenizer.json").stat().st_size if (base / "tokenizer.json").is_file() else 0
        self.size_bytes = sum(entry.nbytes for _, entry in self._entries) + 2 * vocabulary + (1 << 20)

    def write(self, file: Path) -> None:
        writer = gguf.GGUFWriter(file, gguf.MODEL_ARCH_NAMES[self._architecture])
        try:
            self._describe(writer)
            add_tokenizer(writer, self._base, self._config.vocab_size)
            factors = _rope_factors(self._config)
            if factors is not None:
                writer.add_tensor_info("rope_freqs.weight", factors.shape, factors.dtype, factors.nbytes)
            for name, entry in self._entries:
                kind, _ = _TYPES[entry.dtype]
                writer.add_tensor_info(name, entry.shape, np.dtype(np.void), entry.nbytes, kind)
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            writer.write_ti_data_to_file()
            if factors is not None:
                writer.write_tensor_data(factors)
            for _, entry in self._entries:
                writer.write_tensor_data(raw_bytes(self._read(entry)))
        finally:
            writer.close()

    def _read(self, entry: TensorEntry) -> Tensor:
        if isinstance(entry, StackedEntry):
            return entry.read(self._weights)
        tensor = self._weights.read(entry)
        heads = self._turned_heads(entry.name)
        return _pairs_side_by_side(tensor, heads) if heads else tensor

    def _turned_heads(self, name: str) -> int:
        """Heads of a projection whose rows readers of this architecture expect in another order; else 0."""
        if self._architecture is not gguf.MODEL_ARCH.LLAMA:
            return 0
        module = name.rpartition(".")[0].rpartition(".")[2]
        return {"q_proj": self._config.num_heads, "k_proj": self._config.num_kv_heads}.get(module, 0)

    def _name(self, entry: TensorEntry) -> str:
        name = self._names.get_name(entry.name, try_suffixes=(".weight", ".bias"))
        if name is None:
            raise EngineError(
                "invalid",
                f"Tensor {entry.name} of the base model has no place in a GGUF file of the architecture "
                f"{gguf.MODEL_ARCH_NAMES[self._architecture]}. Export merged weights instead.",
                "format",
            )
        return name

    def _describe(self, writer: gguf.GGUFWriter) -> None:
        config = self._config
        writer.add_type("model")
        writer.add_name(self._title)
        writer.add_file_type(_TYPES[_main_dtype(self._weights)][1])
        writer.add_vocab_size(config.vocab_size)
        # Readers of these architectures know no window: within it there is none.
        windows = [layer.window for layer in config.layers if layer.window is not None]
        writer.add_context_length(min([config.max_position, *windows]))
        writer.add_embedding_length(config.hidden_size)
        writer.add_block_count(config.num_layers)
        writer.add_feed_forward_length(config.intermediate_size)
        writer.add_head_count(config.num_heads)
        writer.add_head_count_kv(config.num_kv_heads)
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
        writer.add_layer_norm_rms_eps(config.eps)
        writer.add_rope_dimension_count(config.head_dim)
        writer.add_rope_freq_base(_rope(config).theta)
        describe_mixture(writer, config)
        _describe_rope(writer, config)


def _main_dtype(weights: MergedWeights) -> torch.dtype:
    return max(weights.entries, key=lambda entry: entry.nbytes).dtype


def _is_read(entry: TensorEntry) -> bool:
    return not entry.name.endswith(_COMPUTED)


def _as_stored(entry: TensorEntry) -> TensorEntry:
    """Norms, biases and routers are fp32 in GGUF: readers compute with no other."""
    if len(entry.shape) > 1 and not is_router(entry):
        return entry
    return TensorEntry(entry.name, entry.shape, torch.float32)


def _pairs_side_by_side(tensor: Tensor, heads: int) -> Tensor:
    """The dimensions that a position turns together lie half a head apart; here they become neighbours."""
    halves = tensor.reshape(heads, 2, tensor.shape[0] // heads // 2, *tensor.shape[1:])
    return halves.transpose(1, 2).reshape(tensor.shape).contiguous()


def _rope(config: DecoderConfig) -> RopeConfig:
    """That of every layer: the architectures here turn positions alike in all of them."""
    return config.layers[0].rope


def _describe_rope(writer: gguf.GGUFWriter, config: DecoderConfig) -> None:
    rope = _rope(config)
    if rope.kind == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(rope.settings["factor"])
    if rope.kind != "yarn":
        return
    original = rope.settings.get("original_max_position_embeddings") or config.max_position
    special = [name for name in _YARN_ALONE if rope.settings.get(name) is not None]
    if special or not rope.settings.get("truncate", True):
        raise EngineError(
            "invalid",
            f"The base model scales its positions with YaRN and {(special or ['truncate'])[0]}, "
            "which GGUF does not say as the model means it. Export merged weights instead.",
            "format",
        )
    writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    writer.add_rope_scaling_factor(rope.settings.get("factor") or config.max_position / original)
    writer.add_rope_scaling_orig_ctx_len(original)
    writer.add_rope_scaling_yarn_beta_fast(rope.settings.get("beta_fast") or 32.0)
    writer.add_rope_scaling_yarn_beta_slow(rope.settings.get("beta_slow") or 1.0)


def _rope_factors(config: DecoderConfig) -> np.ndarray | None:
    """What each frequency is divided by, where a model's own rule (Llama 3.1) says so."""
    rope = _rope(config)
    return llama3_divisors(rope, config.head_dim).numpy() if rope.kind == "llama3" else None
