"""The fields of a Hugging Face `config.json` that the engine reads."""

from dataclasses import dataclass

from ..errors import EngineError
from .rope import RopeConfig

_MIXTURE = "Qwen3MoeForCausalLM"
ARCHITECTURES = ("LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM", _MIXTURE)


@dataclass(frozen=True)
class MixtureConfig:
    """The `layers` whose tokens go to `per_token` of `num_experts` experts each.

    The weights of a token's experts add up to 1 where `normalised`, else to their share of all experts.
    """

    num_experts: int
    per_token: int
    intermediate_size: int
    normalised: bool
    layers: frozenset[int]

    @staticmethod
    def from_hf(config: dict) -> "MixtureConfig":
        # transformers' own name of the setting is the second.
        name = "num_experts" if "num_experts" in config else "num_local_experts"
        num_experts, per_token = _field(config, name), _field(config, "num_experts_per_tok")
        if not 1 <= per_token <= num_experts:
            raise _invalid(
                f"The base model's config.json says num_experts_per_tok {per_token}; "
                f"with {name} {num_experts} a token can go to 1 to {num_experts}."
            )
        return MixtureConfig(
            num_experts,
            per_token,
            intermediate_size=_field(config, "moe_intermediate_size"),
            normalised=bool(config.get("norm_topk_prob", False)),
            layers=_mixture_layers(config),
        )


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
    mixture: MixtureConfig | None

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
            qk_norm=architecture in ("Qwen3ForCausalLM", _MIXTURE),
            mixture=MixtureConfig.from_hf(config) if architecture == _MIXTURE else None,
        )

    def module_shape(self, module: str) -> tuple[int, int]:
        """(out, in) features of one of the seven linear modules of a layer that is no mixture."""
        return self._shape(module, self.intermediate_size)

    def expert_shape(self, module: str) -> tuple[int, int]:
        """(out, in) features of one of the three linear modules of an expert."""
        return self._shape(module, self.mixture.intermediate_size)

    def is_mixture(self, layer: int) -> bool:
        return self.mixture is not None and layer in self.mixture.layers

    def _shape(self, module: str, inner: int) -> tuple[int, int]:
        hidden = self.hidden_size
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
        raise _invalid(
            f"The base model's architecture {named!r} is not supported. Supported: {', '.join(ARCHITECTURES)}."
        )
    if config.get("hidden_act", "silu") != "silu":
        raise EngineError(
            "invalid", f"The base model's activation {config['hidden_act']!r} is not supported. Supported: 'silu'."
        )
    if config.get("quantization_config"):
        raise _invalid(
            "The base model's weights are quantized; the engine reads float32, bfloat16 and float16. "
            "Name the unquantized model instead."
        )
    return named


def _mixture_layers(config: dict) -> frozenset[int]:
    step, dense = config.get("decoder_sparse_step", 1), config.get("mlp_only_layers") or []
    if not (isinstance(step, int) and step > 0):
        raise _invalid(f"The base model's decoder_sparse_step is {step!r}; a whole number above 0 is needed.")
    if not (isinstance(dense, list) and all(isinstance(layer, int) for layer in dense)):
        raise _invalid(f"The base model's mlp_only_layers is {dense!r}; a list of layers is needed.")
    every = range(step - 1, _field(config, "num_hidden_layers"), step)
    return frozenset(every) - set(dense)


def _sliding_window(architecture: str, config: dict) -> int | None:
    """Within its window a windowed model is an ordinary one, so the window bounds the sequence length.

    Qwen configs name a window and switch it off; Mistral configs that name none mean 4096.
    """
    if architecture == "MistralForCausalLM":
        return config.get("sliding_window", 4096)
    return config.get("sliding_window") if config.get("use_sliding_window") else None


def _field(config: dict, name: str) -> int:
    if not isinstance(config.get(name), int):
        raise _invalid(f"The base model's config.json lacks the whole number {name!r}.")
    return config[name]


def _invalid(message: str) -> EngineError:
    return EngineError("invalid", message, "base_model")
