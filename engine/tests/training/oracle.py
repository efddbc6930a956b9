"""Makes a model of transformers with a peft adapter, and the engine's model with the same weights."""

import json
from dataclasses import dataclass

import peft
import torch
from transformers.models.qwen3_5 import modeling_qwen3_5
from transformers.models.qwen3_5_moe import modeling_qwen3_5_moe
from transformers.models.qwen3_next import modeling_qwen3_next

from heddle_engine.model.config import DecoderConfig
from heddle_engine.model.files.weights import load_decoder
from heddle_engine.model.lora import LoraModule, LoraWeights, initial_lora, lora_modules
from heddle_engine.training.trainable_lora import TrainableLora
from tests.models import oracle_of

CPU = torch.device("cpu")


@dataclass
class Pair:
    """The engine's model with a non-zero adapter, and peft's with the same weights."""

    decoder: object
    lora: TrainableLora
    oracle: torch.nn.Module


def delta_nets_by_token(monkeypatch) -> None:
    """transformers' chunks of delta nets add up log decays in 32 bits, by which they are off by 1e-5."""
    for modeling in (modeling_qwen3_5, modeling_qwen3_5_moe, modeling_qwen3_next):
        monkeypatch.setattr(modeling, "torch_chunk_gated_delta_rule", modeling.torch_recurrent_gated_delta_rule)


def make_pair(folder, rslora=False, dtype=torch.float32) -> Pair:
    """Weights of the models are in `dtype`, those of the adapters in fp32, of which peft has rounded A to `dtype`."""
    hf = oracle_of(folder, dtype)
    torch.manual_seed(5)
    config = DecoderConfig.from_hf(json.loads((folder / "config.json").read_text()))
    modules = rf".*\b(model|language_model)\.layers\..*\.({'|'.join(lora_modules(config))})"
    oracle = peft.get_peft_model(hf, peft.LoraConfig(r=4, lora_alpha=8, use_rslora=rslora, target_modules=modules))
    for name, parameter in oracle.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.1)
    lora = TrainableLora(lora_of(oracle, config, rslora), CPU)
    return Pair(load_decoder(folder, config, CPU, dtype), lora, oracle)


def lora_of(oracle, config, rslora=False) -> LoraWeights:
    """The weights of peft's adapter at this moment."""
    modules = {}
    for (layer, module), blank in initial_lora(config, 4, 8, 0).modules.items():
        linear = _linear(oracle, layer, module)
        a, b = (getattr(linear, f"lora_{x}")["default"].weight.detach().clone() for x in "AB")
        assert a.shape == blank.a.shape
        modules[layer, module] = LoraModule(a, b, 8 / 4**0.5 if rslora else 2.0)
    return LoraWeights(4, 8, modules, rslora)


def _linear(oracle, layer, module):
    block = "self_attn" if module in ("q_proj", "k_proj", "v_proj", "o_proj") else "mlp"
    layers = oracle.get_submodule("base_model.model.model")
    layers = getattr(layers, "language_model", layers).layers
    return layers[layer].get_submodule(f"{block}.{module}")


def oracle_gradients(lora, oracle) -> torch.Tensor:
    """peft's gradients in the order of the engine's flat buffer, matched by name."""
    flat = []
    for (layer, _), site in lora._sites.items():
        linears = []
        for part in site.parts:
            linears.append(_linear(oracle, layer, part.module))
        flat += [linear.lora_A["default"].weight.grad.flatten() for linear in linears]
        flat += [linear.lora_B["default"].weight.grad.flatten() for linear in linears]
    return torch.cat(flat)
