"""What the engine reads of a Hugging Face `config.json`."""

from dataclasses import dataclass

from ..errors import EngineError
from .rope import RopeConfig

ARCHITECTURES = ("LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM")


@dataclass(frozen=True)
class DecoderConfig:
    """Shape of a decoder. `max_position` is the longest sequence that is served or trained."""

    architecture: str
    hidden_size: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    intermediate_size: int
    vocab_size: int
    eps: float
    rope: RopeConfig
    rope_original_length: int
    max_position: int
    qk_norm: bool

    @staticmethod
    def from_hf(config: dict) -> "DecoderConfig":
        """Raises `invalid` when the architecture is not one the forward pass computes."""
        architecture = _architecture(config)
        heads = _field(config, "num_attention_heads")
        hidden = _field(config, "hidden_size")
        positions = config.get("max_position_embeddings", 2048)
        return DecoderConfig(
            architecture=architecture,
            hidden_size=hidden,
            num_layers=_field(config, "num_hidden_layers"),
            num_heads=heads,
            num_kv_heads=config.get("num_key_value_heads") or heads,
            head_dim=config.get("head_dim") or hidden // heads,
            intermediate_size=_field(config, "intermediate_size"),
            vocab_size=_field(config, "vocab_size"),
            eps=config.get("rms_norm_eps", 1e-6),
            rope=RopeConfig.from_hf(config),
            rope_original_length=positions,
            max_position=min(positions, _sliding_window(architecture, config) or positions),
            qk_norm=architecture == "Qwen3ForCausalLM",
        )

    def module_shape(self, module: str) -> tuple[int, int]:
        """(out, in) features of one of the seven linear modules of a layer."""
        hidden, inner = self.hidden_size, self.intermediate_size
        queries, keys = self.num_heads * self.head_dim, self.num_kv_heads * self.head_dim
        return {
            "q_proj": (queries, hidden),
            "k_proj": (keys, hidden),
            "v_proj": (keys, hidden),
            "o_proj": (hidden, queries),
            "gate_proj": (inner, hidden),
            "up_proj": (inner, hidden),
            "down_proj": (hidden, inner),
        }[module]


def _architecture(config: dict) -> str:
    named = (config.get("architectures") or ["(none named)"])[0]
    if named not in ARCHITECTURES:
        raise EngineError(
            "invalid",
            f"The base model's architecture {named!r} is not supported. Supported: {', '.join(ARCHITECTURES)}.",
            "base_model",
        )
    if config.get("hidden_act", "silu") != "silu":
        raise EngineError(
            "invalid", f"The base model's activation {config['hidden_act']!r} is not supported. Supported: 'silu'."
        )
    if config.get("quantization_config"):
        raise EngineError(
            "invalid",
            "The base model's weights are quantized; the engine reads float32, bfloat16 and float16. "
            "Name the unquantized model instead.",
            "base_model",
        )
    return named


def _sliding_window(architecture: str, config: dict) -> int | None:
    """Within its window a windowed model is an ordinary one, so the window bounds the sequence length.

    Qwen configs name a window and switch it off; Mistral configs that name none mean 4096.
    """
    if architecture == "MistralForCausalLM":
        return config.get("sliding_window", 4096)
    return config.get("sliding_window") if config.get("use_sliding_window") else None


def _field(config: dict, name: str) -> int:
    if not isinstance(config.get(name), int):
        raise EngineError("invalid", f"The base model's config.json lacks the whole number {name!r}.", "base_model")
    return config[name]
