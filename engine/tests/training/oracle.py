"""Makes a model of transformers with a peft adapter, and the engine's model with the same weights."""

from dataclasses import dataclass

import peft
import torch
import transformers

from heddle_engine.model.config import DecoderConfig
from heddle_engine.model.lora import LoraModule, LoraWeights, initial_lora, lora_modules
from heddle_engine.model.weights import load_decoder
from heddle_engine.training.trainable_lora import TrainableLora

CPU = torch.device("cpu")


@dataclass
class Pair:
    """The engine's model with a non-zero adapter, and peft's with the same weights."""

    decoder: object
    lora: TrainableLora
    oracle: torch.nn.Module


def make_pair(folder, rslora=False) -> Pair:
    hf = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    torch.manual_seed(5)
    config = DecoderConfig.from_hf(hf.config.to_dict())
    settings = peft.LoraConfig(r=4, lora_alpha=8, use_rslora=rslora, target_modules=list(lora_modules(config)))
    oracle = peft.get_peft_model(hf, settings)
    for name, parameter in oracle.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.1)
    lora = TrainableLora(lora_of(oracle, config, rslora), CPU)
    return Pair(load_decoder(folder, config, CPU, torch.float32), lora, oracle)


def lora_of(oracle, config, rslora=False) -> LoraWeights:
    """The weights of peft's adapter at this moment."""
    modules = {}
    for (layer, module), blank in initial_lora(config, 4, 8, 0).modules.items():
        block = "self_attn" if module in ("q_proj", "k_proj", "v_proj", "o_proj") else "mlp"
        linear = oracle.get_submodule(f"base_model.model.model.layers.{layer}.{block}.{module}")
        a, b = (getattr(linear, f"lora_{x}")["default"].weight.detach().clone() for x in "AB")
        assert a.shape == blank.a.shape
        modules[layer, module] = LoraModule(a, b, 8 / 4**0.5 if rslora else 2.0)
    return LoraWeights(4, 8, modules, rslora)


def oracle_gradients(lora, oracle) -> torch.Tensor:
    """peft's gradients in the order of the engine's flat buffer, matched by name."""
    flat = []
    for (layer, _), site in lora._sites.items():
        linears = []
        for part in site.parts:
            block = "self_attn" if part.module in ("q_proj", "k_proj", "v_proj", "o_proj") else "mlp"
            name = f"base_model.model.model.layers.{layer}.{block}.{part.module}"
            linears.append(oracle.get_submodule(name))
        flat += [linear.lora_A["default"].weight.grad.flatten() for linear in linears]
        flat += [linear.lora_B["default"].weight.grad.flatten() for linear in linears]
    return torch.cat(flat)
