"""The fields of a Hugging Face `config.json` that the engine reads."""

from dataclasses import dataclass
from functools import cached_property

from .config_fields import number, refused, settings_in, whole_number
from .delta.delta_net import DeltaNetConfig
from .families import WHOLES, Experts, ExpertStorage, Norms, find_activation, find_family, language_settings
from .gated_unit import Unit
from .layer_config import LayerConfig


@dataclass(frozen=True)
class MixtureConfig:
    """The `layers` whose tokens go to `per_token` of `num_experts` experts each.

    The weights of a token's experts add up to 1 where `normalised`, else to their share of all experts. `router` is
    what a checkpoint calls it, and `storage` how it stores the experts. `shared_size` is the size of the expert that
    computes every token, 0 where there is none.
    """

    num_experts: int
    per_token: int
    intermediate_size: int
    normalised: bool
    layers: frozenset[int]
    router: str
    storage: ExpertStorage
    shared_size: int = 0

    @staticmethod
    def from_hf(config: dict, experts: Experts) -> "MixtureConfig":
        # transformers' own name of the setting is the second.
        name = "num_experts" if "num_experts" in config else "num_local_experts"
        num_experts, per_token = whole_number(config, name), whole_number(config, "num_experts_per_tok")
        if per_token > num_experts:
            raise refused(
                f"The base model's config.json says num_experts_per_tok {per_token}; "
                f"with {name} {num_experts} a token can go to 1 to {num_experts}."
            )
        return MixtureConfig(
            num_experts,
            per_token,
            intermediate_size=whole_number(config, experts.inner),
            normalised=experts.normalised or bool(config.get("norm_topk_prob", experts.normalised_unless_told)),
            layers=_mixture_layers(config, experts),
            router=experts.router,
            storage=experts.storage,
            shared_size=whole_number(config, "shared_expert_intermediate_size") if experts.shared else 0,
        )


@dataclass(frozen=True)
class DecoderConfig:
    """Shape of a decoder. `max_position` is the longest sequence that is served or trained.

    Embeddings are multiplied by `embedding_scale`, and scores of attention, divided by the root of `head_dim` as ever,
    by `query_scale`. Each head has a sink where there are `sinks`. The first `rotary_dim` features of a head are
    rotated by position. `output_gate`: behind the rows of each head in `q_proj` stand as many that gate what it
    attends to. `tower`: what the whole model, of which this is the language model, calls what reads pictures.
    `tied`: the embedding is the output head too, of a checkpoint that has none of its own.
    `intermediate_size` is of layers without a mixture, 0 where every layer must have one.
    """

    architecture: str
    hidden_size: int
    layers: tuple[LayerConfig, ...]
    num_heads: int
    num_kv_heads: int
    head_dim: int
    intermediate_size: int
    vocab_size: int
    eps: float
    max_position: int
    norms: Norms
    qk_norm: bool
    query_scale: float
    sinks: bool
    activation: Unit
    embedding_scale: float
    mixture: MixtureConfig | None
    delta: DeltaNetConfig | None
    rotary_dim: int
    output_gate: bool
    tower: str | None
    tied: bool

    @staticmethod
    def from_hf(config: dict) -> "DecoderConfig":
        """Raises `invalid` when the architecture is not one the forward pass computes."""
        config = language_settings(config)
        architecture, family = find_family(config)
        _check_weights_are_read(config, family.experts)
        heads = whole_number(config, "num_attention_heads")
        hidden = whole_number(config, "hidden_size")
        kv_heads = whole_number(config, "num_key_value_heads", heads)
        if heads % kv_heads:
            raise refused(
                f"The base model's num_attention_heads is {heads}; "
                f"a multiple of num_key_value_heads, {kv_heads}, is needed."
            )
        head_dim = whole_number(config, "head_dim", hidden // heads)
        scalar = whole_number(config, "query_pre_attn_scalar") if family.query_scalar else head_dim
        everywhere = family.experts is not None and family.experts.everywhere
        return DecoderConfig(
            architecture=architecture,
            hidden_size=hidden,
            layers=family.layers(config),
            num_heads=heads,
            num_kv_heads=kv_heads,
            head_dim=head_dim,
            intermediate_size=0 if everywhere else whole_number(config, "intermediate_size"),
            vocab_size=whole_number(config, "vocab_size"),
            eps=number(config, "rms_norm_eps", 1e-6),
            max_position=whole_number(config, "max_position_embeddings", 2048),
            norms=family.norms,
            qk_norm=family.qk_norm,
            query_scale=(head_dim / scalar) ** 0.5,
            sinks=family.sinks,
            activation=find_activation(config, family),
            embedding_scale=hidden**0.5 if family.scaled_embedding else 1.0,
            mixture=MixtureConfig.from_hf(config, family.experts) if family.experts else None,
            delta=DeltaNetConfig.from_hf(config, family.grouped) if family.hybrid else None,
            rotary_dim=_rotary_dim(config, head_dim) if family.hybrid else head_dim,
            output_gate=family.hybrid,
            tower=WHOLES[architecture].tower if architecture in WHOLES else None,
            tied=bool(config.get("tie_word_embeddings", family.tied)),
        )

    @property
    def num_layers(self) -> int:
        return len(self.layers)

    @cached_property
    def attention_layers(self) -> tuple[LayerConfig, ...]:
        """The layers that have keys and values, in order."""
        return tuple(layer for layer in self.layers if not layer.is_delta)

    @property
    def num_delta_layers(self) -> int:
        return self.num_layers - len(self.attention_layers)

    def module_shape(self, module: str) -> tuple[int, int]:
        """(out, in) features of one of the seven linear modules of a layer that is no mixture."""
        return self._shape(module, self.intermediate_size)

    def expert_shape(self, module: str) -> tuple[int, int]:
        """(out, in) features of one of the three linear modules of an expert."""
        return self._shape(module, self.mixture.intermediate_size)

    def shared_expert_shape(self, module: str) -> tuple[int, int]:
        """The same of the expert that computes every token."""
        return self._shape(module, self.mixture.shared_size)

    def is_mixture(self, layer: int) -> bool:
        return self.mixture is not None and layer in self.mixture.layers

    def _shape(self, module: str, inner: int) -> tuple[int, int]:
        hidden = self.hidden_size
        queries, keys = self.num_heads * self.head_dim, self.num_kv_heads * self.head_dim
        return {
            "q_proj": (2 * queries if self.output_gate else queries, hidden),
            "k_proj": (keys, hidden),
            "v_proj": (keys, hidden),
            "o_proj": (hidden, queries),
            "gate_proj": (inner, hidden),
            "up_proj": (inner, hidden),
            "down_proj": (hidden, inner),
        }[module]


def _rotary_dim(config: dict, head_dim: int) -> int:
    """transformers 5 writes the share with the other settings of positions."""
    share = settings_in(config, "rope_parameters").get(
        "partial_rotary_factor", config.get("partial_rotary_factor", 0.25)
    )
    if not (isinstance(share, int | float) and 0 < share <= 1 and int(head_dim * share) % 2 == 0):
        raise refused(
            f"The base model's partial_rotary_factor is {share!r}; a share of a head's {head_dim} features "
            "that is an even number of them is needed."
        )
    return int(head_dim * share)


def _check_weights_are_read(config: dict, experts: Experts | None) -> None:
    """Experts of gpt-oss may be in MXFP4; nothing else is read quantized."""
    quantization = settings_in(config, "quantization_config")
    method = quantization.get("quant_method")
    is_gpt_oss = experts is not None and experts.storage == "gpt_oss"
    if quantization and not (method == "mxfp4" and is_gpt_oss):
        raise refused(
            "The base model's weights are quantized; the engine reads float32, bfloat16 and float16. "
            "Name the unquantized model instead."
        )


def _mixture_layers(config: dict, experts: Experts) -> frozenset[int]:
    if experts.everywhere:
        return frozenset(range(whole_number(config, "num_hidden_layers")))
    step, dense = whole_number(config, "decoder_sparse_step", 1), config.get("mlp_only_layers") or []
    if not (isinstance(dense, list) and all(isinstance(layer, int) for layer in dense)):
        raise refused(f"The base model's mlp_only_layers is {dense!r}; a list of layers is needed.")
    every = range(step - 1, whole_number(config, "num_hidden_layers"), step)
    return frozenset(every) - set(dense)
