"""Adapter files: round trips with peft, and refusals that name the fault."""

import json

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from heddle_engine.errors import EngineError
from heddle_engine.model.config import DecoderConfig
from heddle_engine.model.lora import MODULES, initial_lora, module_path, read_peft, write_peft

TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
VARIANTS = {
    "plain": {"r": 4, "lora_alpha": 8},
    "rslora": {"r": 4, "lora_alpha": 8, "use_rslora": True},
    "patterns": {
        "r": 4,
        "lora_alpha": 8,
        "rank_pattern": {"down_proj": 2, r"layers\.1\.self_attn\.q_proj": 6},
        "alpha_pattern": {"up_proj": 3},
    },
    "expressions": {
        "r": 4,
        "lora_alpha": 8,
        "rank_pattern": {r"layers\.(0|2)\.mlp\.(up|down)_.*": 2, "gate_proj": 6},
        "alpha_pattern": {r".*\.[qk]_proj": 3},
    },
}


def config_of(folder):
    return DecoderConfig.from_hf(json.loads((folder / "config.json").read_text()))


def peft_model(folder, **settings):
    base = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    torch.manual_seed(3)
    model = get_peft_model(base, LoraConfig(target_modules=TARGETS, **settings)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(0, 0.2)
    return model


@pytest.mark.parametrize("variant", VARIANTS)
def test_reads_what_peft_writes(variant, model_folders, tmp_path):
    folder = model_folders("qwen3")
    model = peft_model(folder, **VARIANTS[variant])
    model.save_pretrained(tmp_path)
    weights = read_peft(tmp_path, config_of(folder))
    assert len(weights.modules) == 3 * 7
    for (layer, module), lora in weights.modules.items():
        block = "mlp" if module in ("gate_proj", "up_proj", "down_proj") else "self_attn"
        oracle = model.get_submodule(f"base_model.model.model.layers.{layer}.{block}.{module}")
        expected = oracle.get_delta_weight("default")
        torch.testing.assert_close(lora.scale * lora.b @ lora.a, expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("variant", VARIANTS)
def test_peft_reads_what_the_engine_writes(variant, model_folders, tmp_path):
    folder = model_folders("qwen3")
    model = peft_model(folder, **VARIANTS[variant])
    model.save_pretrained(tmp_path / "peft")
    (tmp_path / "ours").mkdir()
    config = config_of(folder)
    write_peft(tmp_path / "ours", read_peft(tmp_path / "peft", config), "some/base", config)
    ids = torch.arange(40)[None]
    again = PeftModel.from_pretrained(
        AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32), tmp_path / "ours"
    ).eval()
    with torch.inference_mode():
        torch.testing.assert_close(again(ids).logits, model(ids).logits, atol=1e-5, rtol=1e-5)
    assert set(json.loads((tmp_path / "ours/adapter_config.json").read_text())["target_modules"]) == set(TARGETS)


def test_initial_adapter_depends_on_its_seed_alone(model_folders):
    config = config_of(model_folders("qwen3"))
    torch.manual_seed(0)
    first = initial_lora(config, 4, 8, seed=11)
    torch.rand(7)
    again, other = initial_lora(config, 4, 8, seed=11), initial_lora(config, 4, 8, seed=12)
    assert set(first.modules) == {(layer, module) for layer in range(3) for module in MODULES}
    for key, lora in first.modules.items():
        assert torch.equal(lora.a, again.modules[key].a)
        assert not torch.equal(lora.a, other.modules[key].a)
        assert lora.b.count_nonzero() == 0
        assert lora.scale == 2.0
        bound = lora.a.shape[1] ** -0.5
        assert 0.9 * bound < lora.a.abs().max() <= bound


def refusal(folder, tmp_path, config_changes=None, tensor_changes=None):
    write_peft(tmp_path, initial_lora(config_of(folder), 2, 4, 0), "base", config_of(folder))
    settings = json.loads((tmp_path / "adapter_config.json").read_text())
    (tmp_path / "adapter_config.json").write_text(json.dumps({**settings, **(config_changes or {})}))
    file = tmp_path / "adapter_model.safetensors"
    save_file({**load_file(file), **(tensor_changes or {})}, file)
    with pytest.raises(EngineError) as caught:
        read_peft(tmp_path, config_of(folder))
    return caught.value


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"use_dora": True}, "use_dora is True"),
        ({"peft_type": "IA3"}, "peft_type is 'IA3'"),
        ({"bias": "all"}, "bias is 'all'"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save"),
        ({"lora_alpha": None}, "lora_alpha is None"),
        ({"alora_invocation_tokens": [1, 2]}, "alora_invocation_tokens is [1, 2]"),
        ({"layer_replication": [[0, 2], [0, 1]]}, "layer_replication is"),
        ({"init_lora_weights": "pissa_niter_4"}, "init_lora_weights is 'pissa_niter_4', so that the base model was"),
    ],
)
def test_settings_the_engine_does_not_compute_are_refused(changes, words, model_folders, tmp_path):
    error = refusal(model_folders("qwen3"), tmp_path, config_changes=changes)
    assert error.kind == "invalid"
    assert words in error.message


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"((\w|[a-z_])+\.?)*!", r"Patterns of modules take too long or too much memory: ((\w|[a-z_])+\.?)*!."),
        ("q_proj(", "Patterns of modules are no regular expressions"),
    ],
)
@pytest.mark.parametrize("setting", ["rank_pattern", "alpha_pattern"])
def test_patterns_that_cannot_be_held_against_names_are_refused(setting, pattern, words, model_folders, tmp_path):
    """Nothing else would run in the engine while Python tries the ways in which the first may match a name."""
    error = refusal(model_folders("qwen3"), tmp_path, config_changes={setting: {"k_proj": 2, pattern: 2}})
    assert error.kind == "invalid"
    assert words in error.message


@pytest.mark.parametrize("value", ["two", float("nan")])
def test_patterns_without_numbers_are_refused(value, model_folders, tmp_path):
    error = refusal(model_folders("qwen3"), tmp_path, config_changes={"alpha_pattern": {"q_proj": value}})
    assert error.kind == "invalid"
    assert f"alpha_pattern is {{'q_proj': {value!r}}}" in error.message


def test_tensors_that_do_not_fit_are_named(model_folders, tmp_path):
    name = "base_model.model.model.layers.0.mlp.down_proj.lora_A.weight"
    error = refusal(model_folders("qwen3"), tmp_path, tensor_changes={name: torch.zeros(2, 5)})
    assert "layers.0.mlp.down_proj has A [2, 5]" in error.message
    for shape in ((96,), (0, 96), ()):
        error = refusal(model_folders("qwen3"), tmp_path, tensor_changes={name: torch.zeros(shape)})
        assert f"layers.0.mlp.down_proj has A {list(shape)}" in error.message
    name = "base_model.model.model.layers.9.mlp.down_proj.lora_A.weight"
    error = refusal(model_folders("qwen3"), tmp_path, tensor_changes={name: torch.zeros(2, 96)})
    assert error.message.endswith("the base model has 3 layers.")
    error = refusal(
        model_folders("qwen3"), tmp_path, tensor_changes={"base_model.model.lm_head.weight": torch.zeros(1)}
    )
    assert "base_model.model.lm_head.weight" in error.message


def test_a_rank_that_is_larger_than_any_that_is_served_is_refused(model_folders, tmp_path):
    """Slots of adapters grow with the rank, and rows of all that decode beside it would lack the memory."""
    path = "base_model.model.model.layers.0.mlp.down_proj"
    tensors = {f"{path}.lora_A.weight": torch.zeros(513, 96), f"{path}.lora_B.weight": torch.zeros(64, 513)}
    changes = {"rank_pattern": {r"layers\.0\.mlp\.down_proj": 513}}
    error = refusal(model_folders("qwen3"), tmp_path, config_changes=changes, tensor_changes=tensors)
    assert (error.kind, error.message) == (
        "invalid",
        "The adapter's layer 0 down_proj has rank 513; at most 512 is served.",
    )


def test_missing_folder_is_not_found(model_folders, tmp_path):
    with pytest.raises(EngineError) as caught:
        read_peft(tmp_path / "absent", config_of(model_folders("qwen3")))
    assert caught.value.kind == "not_found"
    assert "adapter_config.json" in caught.value.message


@pytest.mark.parametrize("start", ["pissa", "olora"])
def test_an_adapter_that_began_with_a_part_of_the_base_is_served_as_peft_converts_it(start, model_folders, tmp_path):
    """What peft saves by itself belongs to a base without that part, which no folder holds."""
    folder = model_folders("qwen3")
    base = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    original = {name: tensor.clone() for name, tensor in base.state_dict().items()}
    settings = {"r": 4, "lora_alpha": 8, "init_lora_weights": start}
    model = get_peft_model(base, LoraConfig(target_modules=TARGETS, **settings))
    model.save_pretrained(tmp_path / "start")
    torch.manual_seed(5)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.add_(torch.randn_like(parameter), alpha=0.05)
    model.save_pretrained(tmp_path / "changed")
    with pytest.raises(EngineError, match=f"init_lora_weights is '{start}', so that the base model was") as caught:
        read_peft(tmp_path / "changed", config_of(folder))
    assert caught.value.kind == "invalid"
    with torch.no_grad():
        trained = {
            name.removeprefix("base_model.model."): module.base_layer.weight + module.get_delta_weight("default")
            for name, module in model.named_modules()
            if hasattr(module, "base_layer")
        }
    model.save_pretrained(tmp_path / "plain", path_initial_model_for_weight_conversion=str(tmp_path / "start"))
    weights = read_peft(tmp_path / "plain", config_of(folder))
    assert len(weights.modules) == len(trained) == 3 * 7
    for (layer, module), lora in weights.modules.items():
        path = module_path(layer, module)
        served = original[f"{path}.weight"] + lora.scale * lora.b @ lora.a
        torch.testing.assert_close(served, trained[path], atol=1e-5, rtol=1e-5)
