"""What Qwen3-Next has beside the mixtures of Qwen3.5: rows in groups, plain layers, a head for several tokens."""

import json
import shutil
from dataclasses import replace

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from heddle_engine import progress
from heddle_engine.errors import EngineError
from heddle_engine.model.config import DecoderConfig, MixtureConfig
from heddle_engine.model.delta.delta_net import DeltaNetConfig
from heddle_engine.model.lora import initial_lora, write_peft
from tests.exports.test_exports import logits, with_peft, write_merged
from tests.model.test_decoder import ABSENT, assert_shows, config_of, load, logits_of
from tests.models import CONFIGS, SHAPE, YARN_ROPE, make_model, oracle_of

CPU = torch.device("cpu")
WEIGHTS = "model.safetensors"
NET = "model.layers.0.linear_attn"


@pytest.fixture
def folder(model_folders):
    return model_folders("qwen3_next")


@pytest.fixture
def with_mtp(folder, tmp_path):
    """The same model with a head that predicts several tokens, as the hub's checkpoints have one."""
    target = shutil.copytree(folder, tmp_path / "with-mtp")
    tensors = load_file(folder / WEIGHTS)
    layer = {f"mtp.{name.removeprefix('model.')}": x.clone() for name, x in tensors.items() if ".layers.1." in name}
    save_file({**tensors, **layer, "mtp.fc.weight": torch.ones(64, 128)}, target / WEIGHTS, {"format": "pt"})
    return target


@pytest.mark.parametrize(("key_heads", "value_heads"), [(1, 3), (3, 3), (2, 6)])
def test_rows_of_every_grouping_are_put_in_order(key_heads, value_heads, tmp_path):
    heads = {"linear_num_key_heads": key_heads, "linear_num_value_heads": value_heads}
    folder = make_model("qwen3_next", tmp_path, **heads)
    net, decoder = oracle_of(folder).model.layers[0].linear_attn, load(folder)
    x = torch.randn(1, 5, 64, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        parts = net.fix_query_key_value_ordering(net.in_proj_qkvz(x), net.in_proj_ba(x))
        expected = torch.cat([part.flatten(2) for part in parts], 2)
        torch.testing.assert_close(decoder.layers[0].qkv(x[0]), expected[0], atol=1e-5, rtol=1e-5)
    actual, expected = logits_of(folder)
    torch.testing.assert_close(actual, expected, atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize(
    ("of_net", "words"),
    [
        ({"grouped": False}, rf"hold no tensor {NET}\.in_proj_qkv\.weight"),
        ({"key_dim": 8}, rf"{NET}\.in_proj_qkvz\.weight has shape \[112, 64\]; config\.json says \[96, 64\]"),
    ],
)
def test_projections_that_lack_or_have_another_shape_are_named(of_net, words, folder):
    config = config_of(folder)
    with pytest.raises(EngineError, match=words):
        load(folder, replace(config, delta=replace(config.delta, **of_net)))


@pytest.mark.parametrize("without", [{"shared_size": 0}, {"normalised": True}], ids=lambda without: next(iter(without)))
def test_each_feature_of_a_mixed_one_shows_in_its_logits(without, model_folders):
    assert_shows(model_folders("qwen3_next_mixed"), {"mixture": lambda c: replace(c.mixture, **without)})


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"decoder_sparse_step": 2},
        {"decoder_sparse_step": 3, "mlp_only_layers": [2, 7]},
        {"mlp_only_layers": [0, 3]},
        {"norm_topk_prob": False},
    ],
)
def test_mixtures_are_read_as_transformers_does(settings):
    config = transformers.Qwen3NextConfig(**{**SHAPE, **CONFIGS["qwen3_next"][1], **settings})
    config = transformers.Qwen3NextConfig(**{**config.to_dict(), "num_hidden_layers": 9, "layer_types": None})
    with torch.device("meta"):
        layers = transformers.Qwen3NextForCausalLM(config).model.layers
    found = DecoderConfig.from_hf({**config.to_dict(), "architectures": ["Qwen3NextForCausalLM"]})
    mixtures = {index for index, layer in enumerate(layers) if hasattr(layer.mlp, "experts")}
    assert found.mixture.layers == mixtures
    assert [layer.is_delta for layer in found.layers] == [hasattr(layer, "linear_attn") for layer in layers]
    assert {found.mixture.normalised} == {layers[index].mlp.gate.norm_topk_prob for index in mixtures}


def test_weights_of_experts_add_up_to_1_unless_the_config_says_otherwise(folder, model_folders):
    """transformers has another default for Qwen3-MoE."""
    assert config_of(folder, norm_topk_prob=ABSENT).mixture.normalised == transformers.Qwen3NextConfig().norm_topk_prob
    of_qwen3_moe = config_of(model_folders("qwen3_moe"), norm_topk_prob=ABSENT).mixture.normalised
    assert of_qwen3_moe == transformers.Qwen3MoeConfig().norm_topk_prob


@pytest.mark.parametrize(
    "settings",
    [
        {"decoder_sparse_step": 2, "mlp_only_layers": [3]},
        {"attention_bias": True, "tie_word_embeddings": True},
        {"rope_parameters": {**YARN_ROPE, "partial_rotary_factor": 0.5}},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_settings_that_the_hubs_models_leave_alone_are_computed_as_transformers_does(settings, tmp_path):
    actual, expected = logits_of(make_model("qwen3_next", tmp_path, **settings))
    torch.testing.assert_close(actual, expected, atol=1e-4, rtol=1e-5)


def test_the_hubs_config_of_80b_a3b_is_read():
    hub = {
        "architectures": ["Qwen3NextForCausalLM"],
        "decoder_sparse_step": 1,
        "full_attention_interval": 4,
        "head_dim": 256,
        "hidden_act": "silu",
        "hidden_size": 2048,
        "intermediate_size": 5120,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 32,
        "linear_value_head_dim": 128,
        "max_position_embeddings": 262144,
        "mlp_only_layers": [],
        "moe_intermediate_size": 512,
        "norm_topk_prob": True,
        "num_attention_heads": 16,
        "num_experts": 512,
        "num_experts_per_tok": 10,
        "num_hidden_layers": 48,
        "num_key_value_heads": 2,
        "partial_rotary_factor": 0.25,
        "rope_scaling": None,
        "rope_theta": 10000000,
        "shared_expert_intermediate_size": 512,
        "vocab_size": 151936,
    }
    config = DecoderConfig.from_hf(hub)
    assert config.mixture == MixtureConfig(
        512, 10, 512, True, frozenset(range(48)), router="gate", storage="stacked_or_separate", shared_size=512
    )
    assert config.delta == DeltaNetConfig(16, 32, 128, 128, 4, grouped=True)
    assert [layer for layer in range(48) if not config.layers[layer].is_delta] == list(range(3, 48, 4))
    assert (config.rotary_dim, config.layers[3].rope.theta, config.norms.offset) == (64, 1e7, 1.0)
    with pytest.raises(EngineError, match="weights are quantized") as caught:
        DecoderConfig.from_hf({**hub, "quantization_config": {"quant_method": "fp8"}})
    assert (caught.value.kind, caught.value.param) == ("invalid", "base_model")


def test_a_head_for_several_tokens_is_not_read(folder, with_mtp):
    """Each tensor that is read counts as progress."""
    before = progress.total()
    decoder = load(with_mtp)
    assert progress.total() - before == len(load_file(folder / WEIGHTS)) < len(load_file(with_mtp / WEIGHTS))
    assert len(decoder.layers) == 4
    assert torch.equal(logits_of(with_mtp)[0], logits_of(folder)[0])


def test_a_merged_export_has_that_head_and_the_groups_as_they_were(with_mtp, tmp_path):
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    config = config_of(with_mtp)
    weights = initial_lora(config, 4, 8.0, seed=1)
    for lora in weights.modules.values():
        lora.b.normal_(0, 0.1, generator=torch.Generator().manual_seed(1))
    write_peft(adapter, weights, "base", config)
    out = write_merged(with_mtp, adapter, tmp_path / "out")
    before, after = load_file(with_mtp / WEIGHTS), load_file(out / WEIGHTS)
    assert before.keys() == after.keys()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {
        f"model.layers.1.self_attn.{module}.weight" for module in ("q_proj", "k_proj", "v_proj", "o_proj")
    }
    assert json.loads((out / "config.json").read_text())["architectures"] == ["Qwen3NextForCausalLM"]
    torch.testing.assert_close(logits(oracle_of(out)), with_peft(with_mtp, adapter), rtol=0, atol=1e-4)
