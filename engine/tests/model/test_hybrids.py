"""What only hybrids of delta nets and attention have: settings, refusals, names of tensors, what an adapter changes."""

import json
import shutil
from dataclasses import replace

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from heddle_engine.bases import Base
from heddle_engine.errors import EngineError
from heddle_engine.model.config import DecoderConfig
from heddle_engine.model.lora import initial_lora, lora_modules, read_peft, write_peft
from tests.exports.test_exports import write_merged
from tests.model.test_decoder import assert_shows, config_of, load, logits_of
from tests.models import CONFIGS, SHAPE

CPU = torch.device("cpu")


@pytest.fixture
def folder(model_folders):
    return model_folders("qwen3_5")


def test_which_layers_are_delta_nets_is_read_as_transformers_does(folder):
    config = config_of(folder)
    assert [layer.is_delta for layer in config.layers] == [True, False, True, True]
    named = transformers.Qwen3_5TextConfig(num_hidden_layers=9).layer_types
    by_interval = config_of(folder, layer_types=None, num_hidden_layers=9)
    assert [layer.is_delta for layer in by_interval.layers] == [kind == "linear_attention" for kind in named]
    every_other = config_of(folder, layer_types=None, full_attention_interval=2)
    assert [layer.is_delta for layer in every_other.layers] == [True, False] * 2


def test_how_much_of_a_head_is_rotated_is_read_as_transformers_does(folder):
    """transformers writes the share among `rope_parameters`, which may have sections for pictures too."""
    assert config_of(folder).rotary_dim == 8
    assert config_of(folder, rope_parameters=None).rotary_dim == 4
    assert config_of(folder, rope_parameters=None, partial_rotary_factor=1.0).rotary_dim == 16
    sections = {"mrope_interleaved": True, "mrope_section": [1, 1, 0], "rope_type": "default", "rope_theta": 1e7}
    assert config_of(folder, rope_parameters=sections).layers[1].rope.theta == 1e7


@pytest.mark.parametrize(
    "without",
    [
        {"rotary_dim": lambda c: c.head_dim},
        {"norms": lambda c: replace(c.norms, offset=0.0)},
        {"qk_norm": lambda _: False},
    ],
    ids=lambda without: next(iter(without)),
)
def test_each_feature_of_a_hybrid_shows_in_its_logits(without, folder):
    assert_shows(folder, without)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"layer_types": ["linear_attention"] * 4}, "None of the base model's layers has attention"),
        ({"layer_types": ["sliding_attention"] * 4}, "of the kind 'sliding_attention'; the engine computes full_att"),
        ({"layer_types": ["full_attention"]}, "layer_types is .*; one for each of its layers"),
        ({"layer_types": None, "full_attention_interval": 0}, "full_attention_interval is 0; a whole number above 0"),
        ({"linear_num_value_heads": 3}, "linear_num_value_heads is 3; a multiple of linear_num_key_heads, 2"),
        ({"linear_conv_kernel_dim": 1}, "linear_conv_kernel_dim is 1; at least 2"),
        ({"linear_key_head_dim": None}, "lacks the whole number 'linear_key_head_dim'"),
        ({"rope_parameters": None, "partial_rotary_factor": 1.5}, "partial_rotary_factor is 1.5; a share of a head"),
        ({"hidden_act": "gelu"}, "activation 'gelu' is not supported. Supported: 'silu'"),
    ],
)
def test_what_is_not_computed_is_refused_by_name(change, words, folder):
    with pytest.raises(EngineError, match=words) as caught:
        config_of(folder, **change)
    assert (caught.value.kind, caught.value.param) == ("invalid", "base_model")


def test_the_language_model_of_a_checkpoint_that_reads_pictures_can_be_saved_and_read(tmp_path):
    """transformers keeps the names that tensors have in the whole model."""
    vision = {"hidden_size": 16, "intermediate_size": 16, "depth": 1, "num_heads": 2, "out_hidden_size": 64}
    text = {**SHAPE, **CONFIGS["qwen3_5"][1]}
    torch.manual_seed(0)
    whole = transformers.Qwen3_5ForConditionalGeneration(
        transformers.Qwen3_5Config(text_config=text, vision_config=vision)
    ).eval()
    whole.save_pretrained(tmp_path / "whole")
    alone = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "whole", dtype="auto")
    alone.save_pretrained(tmp_path / "alone")
    names = load_file(tmp_path / "alone/model.safetensors").keys()
    assert "model.language_model.layers.0.linear_attn.A_log" in names
    actual, expected = logits_of(tmp_path / "alone")
    torch.testing.assert_close(actual, expected, atol=1e-4, rtol=1e-5)
    ids = torch.arange(60)
    with torch.inference_mode():
        torch.testing.assert_close(alone(ids[None]).logits, whole(ids[None]).logits)


def test_a_merged_export_keeps_the_names_of_the_whole_model(folder, tmp_path):
    weights = initial_lora(config_of(folder), 4, 8.0, seed=1)
    for module in weights.modules.values():
        module.b.normal_(0, 0.1, generator=torch.Generator().manual_seed(1))
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    write_peft(adapter, weights, "base", config_of(folder))
    nested = shutil.copytree(folder, tmp_path / "nested")
    tensors = load_file(folder / "model.safetensors")
    renamed = {name.replace("model.", "model.language_model.", 1): x for name, x in tensors.items()}
    save_file(renamed, nested / "model.safetensors", {"format": "pt"})
    write_merged(folder, adapter, tmp_path / "plain")
    write_merged(nested, adapter, tmp_path / "merged")
    plain, merged = (load_file(next((tmp_path / name).glob("*.safetensors"))) for name in ("plain", "merged"))
    changed = "model.layers.1.self_attn.q_proj.weight"
    assert not torch.equal(plain[changed], tensors[changed])
    assert merged.keys() == renamed.keys()
    for name, x in plain.items():
        assert torch.equal(merged[name.replace("model.", "model.language_model.", 1)], x)


def test_what_decays_a_memory_stays_in_32_bits_where_weights_are_in_16(folder, tmp_path):
    """Published checkpoints are in bf16 but for these: rounded, a decay would be off by up to 1 in 256."""
    mixed = shutil.copytree(folder, tmp_path / "mixed")
    tensors = load_file(folder / "model.safetensors")
    kept = ("A_log", "dt_bias", "linear_attn.norm.weight")
    stored = {name: x if name.endswith(kept) else x.bfloat16() for name, x in tensors.items()}
    save_file(stored, mixed / "model.safetensors", {"format": "pt"})
    net = Base("x", mixed, CPU, torch.bfloat16).decoder.layers[0].delta
    prefix = "model.layers.0.linear_attn"
    assert torch.equal(net.rate, tensors[f"{prefix}.A_log"].exp())
    assert torch.equal(net.bias, tensors[f"{prefix}.dt_bias"])
    assert torch.equal(net.norm, tensors[f"{prefix}.norm.weight"])
    assert not torch.equal(net.rate, tensors[f"{prefix}.A_log"].bfloat16().float().exp())


def test_an_adapter_changes_the_feed_forward_part_of_every_layer_and_the_attention_where_there_is_one(folder, tmp_path):
    config = config_of(folder)
    weights = initial_lora(config, 4, 8, seed=1)
    assert len(weights.modules) == 4 * 3 + 4
    assert lora_modules(config, 0) == ("gate_proj", "up_proj", "down_proj")
    write_peft(tmp_path, weights, "base", config)
    assert read_peft(tmp_path, config).modules.keys() == weights.modules.keys()


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("layers.0.linear_attn.out_proj", r"changes .*linear_attn\.out_proj.*gated delta nets are frozen"),
        ("layers.0.self_attn.q_proj", r"changes .*layers\.0\.self_attn\.q_proj; that layer .* has no attention"),
    ],
)
def test_an_adapter_that_changes_a_delta_net_is_refused_by_name(module, words, folder, tmp_path):
    config = config_of(folder)
    write_peft(tmp_path, initial_lora(config, 4, 8, seed=1), "base", config)
    tensors = load_file(tmp_path / "adapter_model.safetensors")
    for letter, shape in (("A", (4, 64)), ("B", (64, 4))):
        tensors[f"base_model.model.model.{module}.lora_{letter}.weight"] = torch.zeros(shape)
    save_file(tensors, tmp_path / "adapter_model.safetensors")
    with pytest.raises(EngineError, match=words):
        read_peft(tmp_path, config)


def test_a_state_counts_as_memory_and_delta_nets_have_no_keys_and_values(folder):
    """A layer has keys and values of 2 heads of 16; three have memories of 4 x 12 x 8 and 3 inputs of 80 channels."""
    decoder = load(folder)
    assert decoder.kv_token_bytes == 2 * 2 * 16 * 4
    assert decoder.state_bytes == 3 * 4 * (4 * 12 * 8 + 3 * (2 * 2 * 12 + 4 * 8))
    assert decoder.sequence_bytes(10) == 10 * decoder.kv_token_bytes + decoder.state_bytes


def test_delta_nets_count_as_memory_of_a_pass(folder):
    """Three layers keep numbers for 4 heads and 80 channels, one keeps queries, keys and values, and gates."""
    decoder = load(folder)
    config = DecoderConfig.from_hf(json.loads((folder / "config.json").read_text()))
    of_net = 80 + 4 * (6 * 12 + 3 * 8 + 3 * 64 + 12 * 8 // 64)
    of_attention = (3 * 4 + 3 * 2 + 2 * 4) * config.head_dim
    assert decoder.activation_token_bytes == 4 * (4 * (4 * 64 + 3 * 96) + 3 * of_net + of_attention)
