"""Which families of models are computed, and what tells them apart.

All are decoders of layers with attention and a gated feed-forward part. A family is a row of `FAMILIES`; what it says
is read from `config.json` into a `DecoderConfig`, and nothing behind that asks for a family again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from .config_fields import number, refused
from .gated_unit import GELU_TANH, SILU, ClampedSwiglu, Unit
from .layer_config import (
    LayerConfig,
    alternating_layers,
    every_other_sliding,
    full_layers,
    hybrid_layers,
    sliding_layers,
    switched_sliding_layers,
    upper_sliding_layers,
)

ExpertStorage = Literal["separate", "stacked_or_separate", "gpt_oss"]
"""How a checkpoint stores the experts of a layer.

`separate`: each in tensors of its own. `stacked_or_separate`: like that, or all in one tensor [experts, out, in].
`gpt_oss`: all in one tensor, with biases, as gpt-oss has them.
"""


@dataclass(frozen=True)
class Norms:
    """What a checkpoint calls the norms of a layer. Not every layer has the two that stand behind a part.

    `offset` is added to each stored weight of a norm.
    """

    attention: str = "input_layernorm"
    mlp: str = "post_attention_layernorm"
    behind_attention: str | None = None
    behind_mlp: str | None = None
    offset: float = 0.0


@dataclass(frozen=True)
class Experts:
    """How the mixtures of a family are named and stored.

    `inner`: the setting that says the size of an expert. `router`: what the router is called. `normalised`: weights of
    experts add up to 1, whatever the config says; `normalised_unless_told`: where the config says nothing.
    `everywhere`: every layer has a mixture, whatever the config says. `shared`: an expert beside the others computes
    every token.
    """

    inner: str = "moe_intermediate_size"
    router: str = "gate"
    storage: ExpertStorage = "separate"
    normalised: bool = False
    normalised_unless_told: bool = False
    everywhere: bool = False
    shared: bool = False


@dataclass(frozen=True)
class Family:
    """`layers` makes the layers from `config.json`. `activations`: by the names that it may have, the default first.

    `hybrid`: some layers are delta nets, the attention of the others is gated, and only a part of each head is rotated.
    `grouped`: rows of the projections of delta nets are stored in groups of heads.
    `qk_norm`: queries and keys are normalised. `scaled_embedding`: by the root of the hidden size. `query_scalar`: the
    scale of scores has a setting of its own. `sinks`: each head has a score that takes part in its softmax and gives no
    value. `clamped`: the activation is that of gpt-oss. `tied`: the embedding is the output head too, where the config
    says nothing of it. `zero`: settings that must be absent or off.
    """

    layers: Callable[[dict], tuple[LayerConfig, ...]] = full_layers
    norms: Norms = Norms()
    activations: Mapping[str, Unit] = field(default_factory=lambda: {"silu": SILU})
    qk_norm: bool = False
    experts: Experts | None = None
    hybrid: bool = False
    grouped: bool = False
    sinks: bool = False
    clamped: bool = False
    scaled_embedding: bool = False
    query_scalar: bool = False
    tied: bool = False
    zero: tuple[str, ...] = ()


FAMILIES = {
    "LlamaForCausalLM": Family(),
    "MistralForCausalLM": Family(layers=sliding_layers),
    "Qwen2ForCausalLM": Family(layers=upper_sliding_layers),
    "Qwen3ForCausalLM": Family(layers=upper_sliding_layers, qk_norm=True),
    "Qwen3MoeForCausalLM": Family(layers=switched_sliding_layers, qk_norm=True, experts=Experts()),
    "Qwen3NextForCausalLM": Family(
        layers=hybrid_layers,
        norms=Norms(offset=1.0),
        qk_norm=True,
        experts=Experts(storage="stacked_or_separate", normalised_unless_told=True, shared=True),
        hybrid=True,
        grouped=True,
    ),
    "Qwen3_5ForCausalLM": Family(layers=hybrid_layers, norms=Norms(offset=1.0), qk_norm=True, hybrid=True),
    "Qwen3_5MoeForCausalLM": Family(
        layers=hybrid_layers,
        norms=Norms(offset=1.0),
        qk_norm=True,
        experts=Experts(storage="stacked_or_separate", normalised=True, everywhere=True, shared=True),
        hybrid=True,
    ),
    "GemmaForCausalLM": Family(
        norms=Norms(offset=1.0),
        # The first configs say `gelu` and mean the other (transformers#29402).
        activations={"gelu_pytorch_tanh": GELU_TANH, "gelu": GELU_TANH},
        scaled_embedding=True,
        tied=True,
        zero=("use_bidirectional_attention",),
    ),
    "Gemma3ForCausalLM": Family(
        layers=alternating_layers,
        norms=Norms(
            mlp="pre_feedforward_layernorm",
            behind_attention="post_attention_layernorm",
            behind_mlp="post_feedforward_layernorm",
            offset=1.0,
        ),
        activations={"gelu_pytorch_tanh": GELU_TANH},
        qk_norm=True,
        scaled_embedding=True,
        tied=True,
        query_scalar=True,
        zero=("use_bidirectional_attention", "attn_logit_softcapping", "final_logit_softcapping"),
    ),
    "GptOssForCausalLM": Family(
        layers=every_other_sliding,
        experts=Experts(inner="intermediate_size", router="router", storage="gpt_oss", normalised=True),
        sinks=True,
        clamped=True,
    ),
}


@dataclass(frozen=True)
class Whole:
    """A model that reads pictures too, of which the language model alone is computed: one of the family `text`.

    Its settings stand in `text_config`; `defaults` are those that the hub's configs leave out. `tower`: what reads
    pictures, as names of tensors have it.
    """

    text: str
    tower: str
    defaults: Mapping[str, object] = field(default_factory=dict)


WHOLES = {
    "Qwen3_5ForConditionalGeneration": Whole("Qwen3_5ForCausalLM", "visual"),
    "Qwen3_5MoeForConditionalGeneration": Whole("Qwen3_5MoeForCausalLM", "visual"),
    "Gemma3ForConditionalGeneration": Whole(
        "Gemma3ForCausalLM",
        "vision_tower",
        # That of 4B says less than half of what a decoder needs; these are the defaults of transformers.
        defaults={
            "num_attention_heads": 8,
            "num_key_value_heads": 4,
            "head_dim": 256,
            "vocab_size": 262_208,
            "max_position_embeddings": 131_072,
            "query_pre_attn_scalar": 256,
        },
    ),
}

_LAYER_INPUTS = "its layers take an embedding of their own, and have heads of unlike sizes or share keys and values"
_REASONS = {
    "Gemma2ForCausalLM": "it caps the scores of its attention and its logits",
    "Gemma3nForCausalLM": _LAYER_INPUTS,
    "Gemma3nForConditionalGeneration": _LAYER_INPUTS,
    "Gemma4ForCausalLM": _LAYER_INPUTS,
    "Gemma4ForConditionalGeneration": _LAYER_INPUTS,
}
"""Why not, of architectures that somebody may well ask for."""

_OF_THE_WHOLE = ("dtype", "torch_dtype", "quantization_config")
"""Settings that a model which reads pictures may have beside `text_config`."""


def language_settings(config: dict) -> dict:
    """The settings of the language model, under the architecture that `config` names. Raises `invalid`.

    Those of a model of text alone are `config` itself.
    """
    named = _architecture(config)
    if named not in WHOLES:
        return config
    text = config.get("text_config")
    if not isinstance(text, dict):
        raise refused(f"The base model's config.json lacks the object 'text_config', which {named} has.")
    shared = {name: config[name] for name in _OF_THE_WHOLE if name in config}
    # Either may say that its head is the embedding.
    said = [each["tie_word_embeddings"] for each in (config, text) if "tie_word_embeddings" in each]
    tied = {"tie_word_embeddings": any(said)} if said else {}
    return {**WHOLES[named].defaults, **shared, **text, **tied, "architectures": [named]}


def find_family(config: dict) -> tuple[str, Family]:
    """The architecture that `config` names and the family of its language model. Raises `invalid`."""
    named = _architecture(config)
    family = FAMILIES.get(WHOLES[named].text if named in WHOLES else named)
    if family is None:
        reason = f": {_REASONS[named]}" if named in _REASONS else ""
        supported = ", ".join([*FAMILIES, *WHOLES])
        raise refused(f"The base model's architecture {named!r} is not supported{reason}. Supported: {supported}.")
    for name in family.zero:
        if config.get(name):
            raise refused(f"The base model's {name} is {config[name]!r}; the engine computes {named} without it.")
    return named, family


def _architecture(config: dict) -> str:
    named = config.get("architectures") or ["(none named)"]
    if not (isinstance(named, list) and isinstance(named[0], str)):
        raise refused(f"The base model's architectures is {named!r}; a list of names is needed.")
    return named[0]


def find_activation(config: dict, family: Family) -> Unit:
    """Raises `invalid`."""
    default = next(iter(family.activations))
    name = config.get("hidden_activation") or config.get("hidden_act") or default
    if not isinstance(name, str) or name not in family.activations:
        supported = ", ".join(map(repr, family.activations))
        raise refused(f"The base model's activation {name!r} is not supported. Supported: {supported}.")
    if family.clamped:
        return ClampedSwiglu(number(config, "swiglu_alpha", 1.702), number(config, "swiglu_limit", 7.0))
    return family.activations[name]
