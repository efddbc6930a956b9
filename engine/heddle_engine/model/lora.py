"""LoRA weights (arXiv:2106.09685) and their PEFT folder form.

`W x + scale * B (A x)`, with `scale` kept apart from B always, so that no reader can apply it twice.
"""

import json
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from ..errors import EngineError
from .config import DecoderConfig
from .decoder import SITE_MODULES
from .files.weight_files import name_in_text
from .module_patterns import find_patterns

MAX_LORA_RANK = 512
MODULES = tuple(module for modules in SITE_MODULES.values() for module in modules)
_ATTENTION = SITE_MODULES["qkv"] + SITE_MODULES["o"]
_LORA_A = ".lora_A.weight"
_LORA_B = ".lora_B.weight"
_STEM = "base_model.model."
"""What peft puts before the path of a module."""
_BLOCK_OF = {module: "self_attn" if module in _ATTENTION else "mlp" for module in MODULES}
"""The block that holds a module in the names of a checkpoint."""
_NEUTRAL = {
    "use_dora": False,
    "fan_in_fan_out": False,
    "bias": "none",
    "modules_to_save": None,
    "alora_invocation_tokens": None,
    "arrow_config": None,
    "kasa_config": None,
    "monteclora_config": None,
    "layer_replication": None,
}
"""Settings of peft under which an adapter, or its base, computes something else, each with the value that is served."""
_CHANGE_THE_BASE = ("pissa", "olora", "corda", "loftq", "lora_ga")
"""How `init_lora_weights` begins where peft changes the base model: it subtracts the first adapter, or quantizes."""


@dataclass
class LoraModule:
    """A [rank, in] and B [out, rank], fp32, of one linear module."""

    a: Tensor
    b: Tensor
    scale: float

    @property
    def rank(self) -> int:
        return self.a.shape[0]


@dataclass
class LoraWeights:
    """One adapter. `modules` may lack entries (a PEFT folder that targets fewer modules)."""

    rank: int
    alpha: float
    modules: dict[tuple[int, str], LoraModule]
    rslora: bool = False

    @property
    def max_rank(self) -> int:
        return max((module.rank for module in self.modules.values()), default=0)


def lora_modules(config: DecoderConfig, layer: int | None = None) -> tuple[str, ...]:
    """The modules of a layer that an adapter may change; None: those of any layer.

    In a model with mixtures those of the attention alone, in every layer: router and experts are frozen, and peft takes
    the names of a plain layer's projections for those of the experts. Delta nets are frozen.
    """
    if layer is not None and config.layers[layer].is_delta:
        return SITE_MODULES["gate_up"] + SITE_MODULES["down"] if config.mixture is None else ()
    return MODULES if config.mixture is None else _ATTENTION


def initial_lora(config: DecoderConfig, rank: int, alpha: float, seed: int) -> LoraWeights:
    """PEFT's initial adapter: A kaiming-uniform (bound 1/sqrt(in)), B zero, on all of `lora_modules`.

    Drawn from its own generator, so the same seed gives the same adapter whatever else runs.
    """
    generator = torch.Generator().manual_seed(seed)
    modules = {}
    for layer in range(config.num_layers):
        for module in lora_modules(config, layer):
            rows, columns = config.module_shape(module)
            bound = 1 / math.sqrt(columns)
            a = torch.empty(rank, columns).uniform_(-bound, bound, generator=generator)
            modules[layer, module] = LoraModule(a, torch.zeros(rows, rank), alpha / rank)
    return LoraWeights(rank, alpha, modules)


def write_peft(folder: Path, weights: LoraWeights, base_model: str, config: DecoderConfig) -> None:
    """Write `adapter_config.json` and `adapter_model.safetensors` into `folder`, which must exist.

    Modules are named as peft names them in the architecture that the base model's config says (decision 35).
    """
    tensors = {}
    for (layer, module), lora in weights.modules.items():
        prefix = f"{_STEM}{_path_in_base(layer, module, config)}"
        tensors[f"{prefix}{_LORA_A}"] = lora.a.detach().float().cpu().contiguous()
        tensors[f"{prefix}{_LORA_B}"] = lora.b.detach().float().cpu().contiguous()
    save_file(tensors, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    (folder / "adapter_config.json").write_text(json.dumps(_peft_config(weights, base_model, config), indent=2) + "\n")


def _peft_config(weights: LoraWeights, base_model: str, config: DecoderConfig) -> dict:
    ranks, alphas = {}, {}
    for (layer, module), lora in weights.modules.items():
        alpha = lora.scale * (math.sqrt(lora.rank) if weights.rslora else lora.rank)
        path = re.escape(_path_in_base(layer, module, config))
        if lora.rank != weights.rank:
            ranks[path] = lora.rank
        if not math.isclose(alpha, weights.alpha, rel_tol=1e-9):
            alphas[path] = alpha
    alpha = int(weights.alpha) if float(weights.alpha).is_integer() else weights.alpha
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base_model,
        "r": weights.rank,
        "lora_alpha": alpha,
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": False,
        "use_rslora": weights.rslora,
        "target_modules": sorted({module for _, module in weights.modules}),
        # A tower may have modules of the same names, for which peft would miss tensors.
        **({"exclude_modules": rf".*\.{config.tower}\..*"} if config.tower else {}),
        "rank_pattern": ranks,
        "alpha_pattern": alphas,
        "inference_mode": True,
    }


def read_peft(folder: Path, config: DecoderConfig) -> LoraWeights:
    """Read a PEFT LoRA folder made for the base model `config`.

    Raises `not_found` when a file is missing, `invalid` when the folder asks for what the forward
    pass does not compute or does not fit the base model.
    """
    settings = _read_settings(folder)
    tensors = _read_tensors(folder)
    _drop_untrained_tower(tensors, config)
    paths = [name.removesuffix(_LORA_A) for name in sorted(tensors) if name.endswith(_LORA_A)]
    ranks, alphas = (
        _by_pattern(settings, patterns, paths, settings[default])
        for patterns, default in (("rank_pattern", "r"), ("alpha_pattern", "lora_alpha"))
    )
    modules = {}
    for path, wanted, alpha in zip(paths, ranks, alphas, strict=True):
        layer, module = _parse_path(path, config)
        a, b = tensors.pop(f"{path}{_LORA_A}"), tensors.pop(f"{path}{_LORA_B}", None)
        if b is None:
            raise EngineError("invalid", f"Adapter {folder} has {path}{_LORA_A} but no {path}{_LORA_B}.")
        if (layer, module) in modules:
            raise EngineError("invalid", f"The adapter changes layer {layer} {module} under two names: {path} is one.")
        _check_shapes(path, a, b, config.module_shape(module))
        _check_rank(wanted, a.shape[0], layer, module)
        scale = alpha / (math.sqrt(a.shape[0]) if settings.get("use_rslora") else a.shape[0])
        modules[layer, module] = LoraModule(a.float().contiguous(), b.float().contiguous(), scale)
    if tensors:
        raise EngineError("invalid", f"Adapter {folder} holds a tensor the engine does not serve: {min(tensors)}.")
    return LoraWeights(settings["r"], settings["lora_alpha"], modules, bool(settings.get("use_rslora")))


def _by_pattern(settings: dict, name: str, paths: list[str], default: float) -> list[float]:
    """The value of each path's module in the setting `name` (`rank_pattern`, `alpha_pattern`), or else `default`."""
    patterns = settings.get(name) or {}
    if not (isinstance(patterns, dict) and all(map(is_number, patterns.values()))):
        raise EngineError("invalid", f"adapter_config.json: {name} is {patterns!r}; numbers by module are needed.")
    found = find_patterns(list(patterns), [path.removeprefix(_STEM) for path in paths])
    values = list(patterns.values())
    return [default if place is None else values[place] for place in found]


def is_number(value: object) -> bool:
    """What Python reads as a number of JSON may be infinite, none, or a whole one larger than any with a fraction."""
    return isinstance(value, int | float) and abs(value) <= sys.float_info.max


def _check_rank(wanted: float, rank: int, layer: int, module: str) -> None:
    if rank > MAX_LORA_RANK:
        raise EngineError(
            "invalid", f"The adapter's layer {layer} {module} has rank {rank}; at most {MAX_LORA_RANK} is served."
        )
    if rank != wanted:
        raise EngineError(
            "invalid",
            f"The adapter's layer {layer} {module} has rank {rank}, and adapter_config.json says {wanted}. "
            "Pack config and weights of one adapter.",
        )


def _read_settings(folder: Path) -> dict:
    file = folder / "adapter_config.json"
    try:
        settings = json.loads(file.read_text())
    except FileNotFoundError as error:
        raise EngineError("not_found", f"Adapter file {file} does not exist.") from error
    except (ValueError, RecursionError) as error:
        raise EngineError("invalid", f"Adapter file {file} is not JSON: {error}.") from error
    _check_settings(file, settings)
    return settings


def _check_settings(file: Path, settings: dict) -> None:
    if settings.get("peft_type") != "LORA":
        raise EngineError("invalid", f"{file}: peft_type is {settings.get('peft_type')!r}; the engine serves 'LORA'.")
    for name, neutral in _NEUTRAL.items():
        if settings.get(name, neutral) not in (neutral, None):
            raise EngineError("invalid", f"{file}: {name} is {settings[name]!r}; the engine serves {neutral!r} only.")
    start = settings.get("init_lora_weights")
    if str(start).lower().startswith(_CHANGE_THE_BASE):
        raise EngineError(
            "invalid",
            f"{file}: init_lora_weights is {start!r}, so that the base model was changed before training. Save the "
            "adapter as a plain one: peft's save_pretrained(folder, path_initial_model_for_weight_conversion=...).",
        )
    for name in ("r", "lora_alpha"):
        if not is_number(settings.get(name)):
            raise EngineError("invalid", f"{file}: {name} is {settings.get(name)!r}; a number is needed.")


def _read_tensors(folder: Path) -> dict[str, Tensor]:
    file = folder / "adapter_model.safetensors"
    try:
        return load_file(file)
    except FileNotFoundError as error:
        raise EngineError(
            "not_found", f"Adapter file {file} does not exist; only safetensors adapters are served."
        ) from error
    except SafetensorError as error:
        raise EngineError("invalid", f"{file} is not a whole safetensors file: {error}.") from error


def module_path(layer: int, module: str) -> str:
    """The name of a module's weights in a base model of text alone, without `.weight`."""
    return f"model.layers.{layer}.{_BLOCK_OF[module]}.{module}"


def _path_in_base(layer: int, module: str, config: DecoderConfig) -> str:
    path = module_path(layer, module)
    return path.replace("model.", "model.language_model.", 1) if config.tower else path


def _drop_untrained_tower(tensors: dict[str, Tensor], config: DecoderConfig) -> None:
    """Drop the tower's modules whose B is zero: peft may add them, and where no picture came they change nothing."""
    for name in list(tensors):
        path, is_b, _ = name.partition(_LORA_B)
        if is_b and config.tower in path.split(".") and not tensors[name].any():
            del tensors[name]
            tensors.pop(f"{path}{_LORA_A}", None)


def _parse_path(path: str, config: DecoderConfig) -> tuple[int, str]:
    plain = _STEM + name_in_text(path.removeprefix(_STEM))
    match = re.fullmatch(r"base_model\.model\.model\.layers\.(\d+)\.(self_attn|mlp)\.(\w+)", plain)
    served = lora_modules(config)
    if not match or _BLOCK_OF.get(match[3]) != match[2] or match[3] not in served:
        frozen = "" if config.mixture is None else "; in a mixture of experts all but the attention is frozen"
        frozen += "; gated delta nets are frozen" if config.delta else ""
        frozen += "; what reads pictures is frozen" if config.tower else ""
        raise EngineError(
            "invalid", f"The adapter changes {path}; the engine serves LoRA on {', '.join(served)}{frozen}."
        )
    if int(match[1]) >= config.num_layers:
        raise EngineError("invalid", f"The adapter changes {path}; the base model has {config.num_layers} layers.")
    if match[3] not in lora_modules(config, int(match[1])):
        raise EngineError("invalid", f"The adapter changes {path}; that layer of the base model has no attention.")
    return int(match[1]), match[3]


def _check_shapes(path: str, a: Tensor, b: Tensor, shape: tuple[int, int]) -> None:
    rows, columns = shape
    rank = a.shape[0] if a.dim() == 2 else 0
    if not rank or list(a.shape) != [rank, columns] or list(b.shape) != [rows, rank]:
        raise EngineError(
            "invalid",
            f"The adapter's {path} has A {list(a.shape)} and B {list(b.shape)}; "
            f"the base model needs [r, {columns}] and [{rows}, r].",
        )
