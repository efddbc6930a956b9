"""Reads the experts of a layer where a checkpoint stores all of them in one tensor of each kind.

Those of gpt-oss have biases, and rows of gate and up alternate. Their weights are plain, [experts, in, out], or in
MXFP4 (OCP Microscaling Formats v1.0): blocks of 32 numbers along the input, two to a byte, the lower half first, with a
power of two for each. Those of Qwen3.5 and Qwen3-Next are [experts, out, in], all rows of the gate before those of up.
"""

import torch
from torch import Tensor

from ...errors import EngineError
from ..config import DecoderConfig
from ..linear import FrozenLinear, fuse
from .checkpoint import Checkpoint

_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)
"""The number that each pattern of four bits stands for."""

_SCALE_BIAS = 127


class StackedExperts:
    """The experts of one layer as Qwen3.5 has them, read one by one: all at once would be in memory twice."""

    def __init__(self, checkpoint: Checkpoint, config: DecoderConfig, prefix: str):
        self._checkpoint, self._config, self._prefix = checkpoint, config, prefix

    def projection(self, expert: int, site: str) -> FrozenLinear:
        """Site `gate_up` or `down` of an expert. Raises `invalid` where a tensor is missing or of another shape."""
        module = f"{site}_proj"
        name = f"{self._prefix}.{module}"
        weight = self._in_shape(name, self._checkpoint.expert(name, expert), self._shape(module))
        if site == "down":
            return fuse({module: weight})
        gate, up = weight.chunk(2)
        return fuse({"gate_proj": gate, "up_proj": up})

    def _shape(self, module: str) -> tuple[int, ...]:
        inner, hidden = self._config.mixture.intermediate_size, self._config.hidden_size
        return (hidden, inner) if module == "down_proj" else (2 * inner, hidden)

    def _in_shape(self, name: str, tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
        if tuple(tensor.shape) != shape:
            raise EngineError(
                "invalid",
                f"An expert of tensor {name} has shape {list(tensor.shape)}; config.json says {list(shape)}.",
                "base_model",
            )
        return self._checkpoint.in_format(tensor)


class GptOssExperts(StackedExperts):
    """The experts of one layer as gpt-oss has them: with biases, plain or in MXFP4."""

    def projection(self, expert: int, site: str) -> FrozenLinear:
        module = f"{site}_proj"
        weight, bias = self._weight(module, expert), self._bias(module, expert)
        if site == "down":
            return fuse({module: weight}, {module: bias})
        weights = {"gate_proj": weight[0::2], "up_proj": weight[1::2]}
        return fuse(weights, {"gate_proj": bias[0::2], "up_proj": bias[1::2]})

    def _weight(self, module: str, expert: int) -> Tensor:
        """[out, in] in the engine's format."""
        name = f"{self._prefix}.{module}"
        if f"{name}_blocks" in self._checkpoint:
            blocks, scales = (self._checkpoint.expert(f"{name}_{part}", expert) for part in ("blocks", "scales"))
            weight = from_mxfp4(blocks, scales)
        else:
            weight = self._checkpoint.expert(name, expert).t()
        return self._in_shape(name, weight, self._shape(module))

    def _bias(self, module: str, expert: int) -> Tensor:
        name = f"{self._prefix}.{module}_bias"
        return self._in_shape(name, self._checkpoint.expert(name, expert), self._shape(module)[:1])


def from_mxfp4(blocks: Tensor, scales: Tensor) -> Tensor:
    """blocks uint8 [out, B, 16], scales uint8 [out, B] -> [out, 32 B] fp32."""
    numbers = torch.tensor(_E2M1)
    pairs = torch.stack([numbers[(blocks & 15).int()], numbers[(blocks >> 4).int()]], -1).flatten(-2)
    return torch.ldexp(pairs, scales.int().sub_(_SCALE_BIAS)[..., None]).flatten(-2)
