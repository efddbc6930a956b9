"""Mixtures whose layers are delta nets and attention: settings, the shared expert, forms of experts, adapters."""

import json
import shutil
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

from heddle_engine.bases import Base
from heddle_engine.errors import EngineError
from heddle_engine.model.config import DecoderConfig, MixtureConfig
from heddle_engine.model.gated_unit import SILU
from heddle_engine.model.linear import FrozenLinear
from heddle_engine.model.lora import initial_lora, lora_modules, read_peft, write_peft
from heddle_engine.model.mixture.shared_expert import SharedExpert
from tests.model.test_decoder import assert_shows, config_of, load, logits_of
from tests.models import oracle_of

CPU = torch.device("cpu")
ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")
WEIGHTS = "model.safetensors"
HIDDEN, INNER = 16, 10


@pytest.fixture(params=["qwen3_5_moe", "qwen3_5_moe_whole", "qwen3_next"])
def folder(request, model_folders):
    return model_folders(request.param)


@pytest.fixture
def stacked(folder, tmp_path):
    """The same model with the experts of a layer in one tensor, as Qwen3.5-35B-A3B has them."""
    target = shutil.copytree(folder, tmp_path / "stacked")
    tensors, experts = load_file(folder / WEIGHTS), oracle_of(folder).state_dict()
    plain = {name: x for name, x in tensors.items() if ".experts." not in name}
    together = {name: x.contiguous() for name, x in experts.items() if ".experts." in name}
    assert len(together) == 2 * 4
    save_file({**plain, **together}, target / WEIGHTS, {"format": "pt"})
    return target


def random_expert(generator):
    """An expert, and its weights: gate [1, hidden], gate and up [2 I, hidden], down [hidden, I]."""
    shapes = [(1, HIDDEN), (2 * INNER, HIDDEN), (HIDDEN, INNER)]
    weights = [torch.randn(shape, generator=generator) * 0.4 for shape in shapes]
    return SharedExpert(*(FrozenLinear(weight, ()) for weight in weights), SILU), weights


@pytest.mark.parametrize("tokens", [1, 2, 40])
def test_a_shared_expert_and_its_gradient_are_those_of_the_definition(tokens):
    generator = torch.Generator().manual_seed(tokens)
    expert, weights = random_expert(generator)
    x, grad = (torch.randn(tokens, HIDDEN, generator=generator) for _ in range(2))
    exact = x.double().requires_grad_()
    opened, gate_up, down = (weight.double() for weight in weights)
    gate, up = (exact @ gate_up.t()).chunk(2, -1)
    expected = torch.sigmoid(exact @ opened.t()) * ((F.silu(gate) * up) @ down.t())
    expected.backward(grad.double())
    mine = x.clone().requires_grad_()
    actual = expert(mine)
    actual.backward(grad)
    torch.testing.assert_close(actual.double(), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(mine.grad.double(), exact.grad, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(expert(x), actual.detach(), atol=0, rtol=0)


@pytest.mark.parametrize(
    "without",
    [
        {"mixture": lambda c: replace(c.mixture, shared_size=0)},
        {"mixture": lambda c: replace(c.mixture, normalised=False)},
        {"mixture": lambda c: replace(c.mixture, per_token=2)},
        {"rotary_dim": lambda c: c.head_dim},
        {"norms": lambda c: replace(c.norms, offset=0.0)},
    ],
    ids=["shared expert", "normalised", "per token", "rotary", "norms"],
)
def test_each_feature_shows_in_the_logits(without, folder):
    assert_shows(folder, without)


def test_experts_in_one_tensor_are_those_of_tensors_of_their_own(stacked, folder):
    actual, _ = logits_of(stacked)
    expected, _ = logits_of(folder)
    assert torch.equal(actual, expected)


def test_experts_in_one_tensor_are_taken_before_weights_are_there(stacked, tmp_path):
    small = shutil.copytree(stacked, tmp_path / "small", ignore=shutil.ignore_patterns("*.safetensors"))
    places = dict.fromkeys(load_file(stacked / WEIGHTS), "model-00001-of-00002.safetensors")
    (small / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))
    assert Base("some/model", small, CPU, torch.float32, from_hub=True).config.mixture.storage == "stacked_or_separate"


def test_experts_in_one_tensor_of_another_shape_are_named(stacked):
    config = config_of(stacked)
    wrong = replace(config, mixture=replace(config.mixture, intermediate_size=41))
    with pytest.raises(EngineError, match=r"experts\.gate_up_proj has shape \[80, 64\]; config.json says \[82, 64\]"):
        load(stacked, wrong)


@pytest.mark.parametrize("kind", ["qwen3_5_moe", "qwen3_5_moe_whole"])
def test_settings_of_other_mixtures_say_nothing(kind, model_folders):
    """transformers computes a mixture in every layer, and weights of experts that add up to 1."""
    folder = model_folders(kind)
    config = config_of(folder)
    assert config.mixture.layers == frozenset(range(4))
    assert config_of(folder, mlp_only_layers=[0], decoder_sparse_step=2, norm_topk_prob=False) == config


def test_a_shared_expert_needs_a_size(model_folders):
    with pytest.raises(EngineError, match="lacks the whole number 'shared_expert_intermediate_size'"):
        config_of(model_folders("qwen3_5_moe"), shared_expert_intermediate_size=None)


def test_the_hubs_config_of_35b_a3b_is_read():
    """Settings of its text_config, which has no size of plain layers."""
    text = {
        "hidden_size": 2048,
        "num_hidden_layers": 40,
        "num_attention_heads": 16,
        "num_key_value_heads": 2,
        "head_dim": 256,
        "vocab_size": 248320,
        "full_attention_interval": 4,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 32,
        "linear_value_head_dim": 128,
        "num_experts": 256,
        "num_experts_per_tok": 8,
        "moe_intermediate_size": 512,
        "shared_expert_intermediate_size": 512,
        "mlp_only_layers": [],
    }
    config = DecoderConfig.from_hf({"architectures": ["Qwen3_5MoeForConditionalGeneration"], "text_config": text})
    assert config.mixture == MixtureConfig(
        256, 8, 512, True, frozenset(range(40)), router="gate", storage="stacked_or_separate", shared_size=512
    )
    assert [layer for layer in range(40) if not config.layers[layer].is_delta] == list(range(3, 40, 4))
    assert (config.rotary_dim, config.tower, config.intermediate_size) == (64, "visual", 0)


def test_an_adapter_changes_the_attention_where_there_is_one(folder, tmp_path):
    config = config_of(folder)
    weights = initial_lora(config, 4, 8, seed=1)
    assert set(weights.modules) == {(1, module) for module in ATTENTION}
    assert lora_modules(config, 0) == ()
    write_peft(tmp_path, weights, "base", config)
    assert read_peft(tmp_path, config).modules.keys() == weights.modules.keys()


@pytest.mark.parametrize(
    "module", ["mlp.shared_expert.gate_proj", "mlp.shared_expert_gate", "mlp.gate", "linear_attn.out_proj"]
)
def test_adapters_for_what_is_frozen_are_refused_by_name(module, folder, tmp_path):
    config = config_of(folder)
    write_peft(tmp_path, initial_lora(config, 2, 4, 0), "base", config)
    file = tmp_path / "adapter_model.safetensors"
    more = {f"base_model.model.model.layers.0.{module}.lora_{letter}.weight": torch.ones(2, 2) for letter in "AB"}
    save_file({**load_file(file), **more}, file)
    with pytest.raises(EngineError, match=rf"changes base_model\.model\.model\.layers\.0\.{module}; .* is frozen"):
        read_peft(tmp_path, config)


def test_a_shared_expert_counts_as_work_and_as_memory_of_a_pass(model_folders):
    """48 is its size; of the other experts 3 of 8, of size 40, see a token."""
    decoder = load(model_folders("qwen3_5_moe"))
    plain = load(
        model_folders("qwen3_5_moe"), replace(decoder.config, mixture=replace(decoder.config.mixture, shared_size=0))
    )
    assert decoder.activation_token_bytes - plain.activation_token_bytes == 4 * 4 * 2 * 48
    attention, net = 192 * 64 + 64 * 64, 120 * 64 + 64 * 32
    expert, shared = 80 * 64 + 64 * 40, 96 * 64 + 64 * 48
    assert decoder.operator_work(800) == (800 * (attention + 3 * net + 4 * shared) + 300 * 4 * expert) // 24
