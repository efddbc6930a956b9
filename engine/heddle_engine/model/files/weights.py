"""Reads a base model's safetensors (one file or shards) into a `Decoder`."""

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from ...errors import EngineError
from ..config import DecoderConfig
from ..decoder import SITE_MODULES, Decoder, DecoderLayer, Mlp
from ..delta.delta_net import DeltaNet
from ..linear import FrozenLinear, Part, fuse
from ..mixture.grouped_linear import group
from ..mixture.mixture import Mixture
from ..mixture.shared_expert import SharedExpert
from .checkpoint import Checkpoint
from .delta_projections import delta_projections
from .stacked_experts import GptOssExperts, StackedExperts
from .weight_files import tensor_files


def check_experts(folder: Path, config: DecoderConfig) -> None:
    """Raises `invalid` if the index names no tensors of single experts. Reads the index only; weights may be absent."""
    mixture = config.mixture
    if mixture is None or mixture.storage != "separate" or not mixture.layers:
        return
    places = tensor_files(folder)
    first = f"model.layers.{min(mixture.layers)}.mlp.experts.0.gate_proj.weight"
    if places is not None and first not in places:
        raise EngineError(
            "invalid",
            f"The base model's index of safetensors names no tensor {first}, and experts stored together are not read. "
            "Save the model with transformers' save_pretrained, which stores each on its own.",
            "base_model",
        )


def load_decoder(folder: Path, config: DecoderConfig, device: torch.device, dtype: torch.dtype) -> Decoder:
    """Raises `invalid` when a tensor is missing or shaped otherwise than `config.json` says."""
    checkpoint = Checkpoint(folder, device, dtype)
    embedding = checkpoint.tensor("model.embed_tokens.weight", config.vocab_size, config.hidden_size)
    layers = [_load_layer(checkpoint, config, index) for index in range(config.num_layers)]
    final_norm = _load_norm(checkpoint, config, "model.norm", config.hidden_size)
    head = _load_head(checkpoint, config, embedding)
    return Decoder(config, embedding, layers, final_norm, head)


def _load_head(checkpoint: Checkpoint, config: DecoderConfig, embedding: Tensor) -> FrozenLinear:
    """That of the checkpoint, else the embedding where it is tied. Raises `invalid` where it is not."""
    if "lm_head.weight" in checkpoint:
        weight = checkpoint.tensor("lm_head.weight", config.vocab_size, config.hidden_size)
    elif config.tied:
        weight = embedding
    else:
        raise EngineError(
            "invalid",
            "The base model's safetensors hold no tensor lm_head.weight, and its config.json does not say that the "
            "embedding is the head too (tie_word_embeddings). Save the whole model with transformers' save_pretrained.",
            "base_model",
        )
    return FrozenLinear(weight, (Part("lm_head", 0, config.vocab_size),))


def _load_layer(checkpoint: Checkpoint, config: DecoderConfig, index: int) -> DecoderLayer:
    prefix, names = f"model.layers.{index}", config.norms
    load_mlp = _load_mixture if config.is_mixture(index) else _load_mlp
    load_mixer = _load_delta_net if config.layers[index].is_delta else _load_attention

    def norm(name: str | None) -> Tensor | None:
        return None if name is None else _load_norm(checkpoint, config, f"{prefix}.{name}", config.hidden_size)

    return DecoderLayer(
        attention_norm=norm(names.attention),
        behind_attention_norm=norm(names.behind_attention),
        mlp_norm=norm(names.mlp),
        behind_mlp_norm=norm(names.behind_mlp),
        **load_mixer(checkpoint, config, prefix),
        mlp=load_mlp(checkpoint, config, f"{prefix}.mlp"),
    )


def _load_attention(checkpoint: Checkpoint, config: DecoderConfig, layer: str) -> dict:
    """The mixer's arguments of `DecoderLayer`, by name."""
    prefix = f"{layer}.self_attn"
    return {
        "qk_norm": _load_qk_norm(checkpoint, config, prefix) if config.qk_norm else None,
        "qkv": _load_site(checkpoint, prefix, "qkv", config.module_shape),
        "o": _load_site(checkpoint, prefix, "o", config.module_shape),
        "sinks": checkpoint.tensor(f"{prefix}.sinks", config.num_heads).float() if config.sinks else None,
        "delta": None,
    }


def _load_delta_net(checkpoint: Checkpoint, config: DecoderConfig, layer: str) -> dict:
    """The mixer's arguments of `DecoderLayer`, by name."""
    prefix, delta, hidden = f"{layer}.linear_attn", config.delta, config.hidden_size
    taken = delta_projections(checkpoint, prefix, delta, hidden)
    net = DeltaNet(
        delta,
        conv=checkpoint.in_fp32(f"{prefix}.conv1d.weight", delta.channels, 1, delta.kernel)[:, 0].contiguous(),
        rate=checkpoint.in_fp32(f"{prefix}.A_log", delta.value_heads).exp(),
        bias=checkpoint.in_fp32(f"{prefix}.dt_bias", delta.value_heads),
        norm=checkpoint.in_fp32(f"{prefix}.norm.weight", delta.value_dim),
        eps=config.eps,
    )
    out = checkpoint.tensor(f"{prefix}.out_proj.weight", hidden, delta.values)
    return {"qk_norm": None, "qkv": fuse(taken), "o": fuse({"out_proj": out}), "sinks": None, "delta": net}


def _load_norm(checkpoint: Checkpoint, config: DecoderConfig, name: str, size: int) -> Tensor:
    """The weight of a norm. With an offset (Gemma stores w - 1) the sum is kept in fp32: fewer bits would round it."""
    weight = checkpoint.tensor(f"{name}.weight", size)
    return weight.float() + config.norms.offset if config.norms.offset else weight


def _load_qk_norm(checkpoint: Checkpoint, config: DecoderConfig, prefix: str) -> Tensor:
    """Weights of the norms of queries and keys, [heads + kv_heads, D]. Those of queries include the scale of scores."""
    q, k = (_load_norm(checkpoint, config, f"{prefix}.{name}", config.head_dim) for name in ("q_norm", "k_norm"))
    q = q * config.query_scale
    return torch.cat([q.expand(config.num_heads, -1), k.expand(config.num_kv_heads, -1)])


def _load_mlp(checkpoint: Checkpoint, config: DecoderConfig, prefix: str) -> Mlp:
    return Mlp(*(_load_site(checkpoint, prefix, site, config.module_shape) for site in ("gate_up", "down")))


def _load_mixture(checkpoint: Checkpoint, config: DecoderConfig, prefix: str) -> Mixture:
    mixture = config.mixture
    expert = _experts_of(checkpoint, config, f"{prefix}.experts")
    gate_up, down = (
        group([expert(number, site) for number in range(mixture.num_experts)]) for site in ("gate_up", "down")
    )
    router = _load_router(checkpoint, config, f"{prefix}.{mixture.router}")
    shared = _load_shared_expert(checkpoint, config, prefix) if mixture.shared_size else None
    return Mixture(router, gate_up, down, config.activation, mixture.per_token, mixture.normalised, shared)


def _experts_of(checkpoint: Checkpoint, config: DecoderConfig, prefix: str) -> Callable[[int, str], FrozenLinear]:
    """A function that reads site `gate_up` or `down` of an expert, however the checkpoint stores it."""
    if config.mixture.storage == "gpt_oss":
        return GptOssExperts(checkpoint, config, prefix).projection
    if config.mixture.storage == "stacked_or_separate" and f"{prefix}.gate_up_proj" in checkpoint:
        return StackedExperts(checkpoint, config, prefix).projection
    return lambda number, site: _load_site(checkpoint, f"{prefix}.{number}", site, config.expert_shape)


def _load_shared_expert(checkpoint: Checkpoint, config: DecoderConfig, mixture: str) -> SharedExpert:
    weight = checkpoint.tensor(f"{mixture}.shared_expert_gate.weight", 1, config.hidden_size)
    gate_up, down = (
        _load_site(checkpoint, f"{mixture}.shared_expert", site, config.shared_expert_shape)
        for site in ("gate_up", "down")
    )
    gate = FrozenLinear(weight, (Part("shared_expert_gate", 0, 1),))
    return SharedExpert(gate, gate_up, down, config.activation)


def _load_router(checkpoint: Checkpoint, config: DecoderConfig, name: str) -> FrozenLinear:
    experts = config.mixture.num_experts
    weight = checkpoint.tensor(f"{name}.weight", experts, config.hidden_size)
    bias = checkpoint.tensor(f"{name}.bias", experts) if f"{name}.bias" in checkpoint else None
    return FrozenLinear(weight, (Part("gate", 0, experts),), bias)


def _load_site(
    checkpoint: Checkpoint, prefix: str, site: str, shape_of: Callable[[str], tuple[int, int]]
) -> FrozenLinear:
    weights, biases = {}, {}
    for module in SITE_MODULES[site]:
        name = f"{prefix}.{module}"
        rows, columns = shape_of(module)
        weights[module] = checkpoint.tensor(f"{name}.weight", rows, columns)
        if f"{name}.bias" in checkpoint:
            biases[module] = checkpoint.tensor(f"{name}.bias", rows)
    return fuse(weights, biases)
