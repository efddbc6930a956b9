"""The experts of a mixture in GGUF, which has those of a layer one above the other, a tensor for each projection."""

import re
from dataclasses import dataclass

import gguf
import torch
from torch import Tensor

from ..errors import EngineError
from ..model.config import DecoderConfig
from .merged_weights import MergedWeights, TensorEntry

_EXPERT = re.compile(r"(model\.layers\.\d+\.mlp\.experts)\.(\d+)\.(\w+\.weight)")
_ROUTER = re.compile(r"model\.layers\.\d+\.mlp\.gate\.weight")


@dataclass(frozen=True)
class StackedEntry(TensorEntry):
    """`parts` are the experts' tensors, in their order."""

    parts: tuple[TensorEntry, ...]

    def read(self, weights: MergedWeights) -> Tensor:
        """The stack and one part of it are in memory at a time."""
        stack = torch.empty(self.shape, dtype=self.dtype)
        for place, part in enumerate(self.parts):
            stack[place] = weights.read(part)
        return stack


def stack_experts(entries: list[TensorEntry], config: DecoderConfig) -> list[TensorEntry]:
    """`entries`, the experts of each layer as one for each projection. Raises `invalid`."""
    if config.mixture is None:
        return entries
    others, experts = [], {}
    for entry in entries:
        match = _EXPERT.fullmatch(entry.name)
        if match:
            experts.setdefault((match[1], match[3]), {})[int(match[2])] = entry
        else:
            others.append(entry)
    return others + [_stack(*key, parts, config.mixture.num_experts) for key, parts in experts.items()]


def _stack(block: str, module: str, parts: dict[int, TensorEntry], num_experts: int) -> StackedEntry:
    missing = [f"{block}.{expert}.{module}" for expert in range(num_experts) if expert not in parts]
    if missing:
        raise EngineError("invalid", f"The base model's safetensors hold no tensor {missing[0]}.")
    ordered = tuple(parts[expert] for expert in range(num_experts))
    return StackedEntry(f"{block}.{module}", (num_experts, *ordered[0].shape), ordered[0].dtype, ordered)


def is_router(entry: TensorEntry) -> bool:
    return _ROUTER.fullmatch(entry.name) is not None


def check_mixture(config: DecoderConfig) -> None:
    """Readers of GGUF's qwen3moe compute one kind of mixture, in every layer. Raises `invalid` for others."""
    if config.mixture is None:
        return
    plain = sorted(set(range(config.num_layers)) - config.mixture.layers)
    if plain:
        raise _refused(f"layer {plain[0]} is no mixture of experts (mlp_only_layers, decoder_sparse_step)")
    if not config.mixture.normalised:
        raise _refused("the weights of a token's experts do not add up to 1 (norm_topk_prob)")


def _refused(reason: str) -> EngineError:
    return EngineError(
        "invalid",
        f"In the base model {reason}, which GGUF cannot say of a qwen3moe. Export merged weights instead.",
        "format",
    )


def describe_mixture(writer: gguf.GGUFWriter, config: DecoderConfig) -> None:
    if config.mixture is not None:
        writer.add_expert_count(config.mixture.num_experts)
        writer.add_expert_used_count(config.mixture.per_token)
        writer.add_expert_feed_forward_length(config.mixture.intermediate_size)
