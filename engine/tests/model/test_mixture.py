"""Mixtures of experts: which layers have one, what each computes, its gradient, and what is refused."""

import json

import pytest
import torch
import torch.nn.functional as F
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from heddle_engine.errors import EngineError
from heddle_engine.model.config import DecoderConfig, MixtureConfig
from heddle_engine.model.decoder import NoLora
from heddle_engine.model.gated_unit import SILU
from heddle_engine.model.linear import FrozenLinear
from heddle_engine.model.lora import initial_lora, read_peft, write_peft
from heddle_engine.model.mixture import grouped_linear
from heddle_engine.model.mixture.grouped_linear import group
from heddle_engine.model.mixture.mixture import Mixture
from heddle_engine.model.mixture.routing import route
from tests.model.test_decoder import causal, load
from tests.models import make_model

ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]
EXPERTS, PER_TOKEN, HIDDEN, INNER = 6, 2, 16, 12


def settings_of(folder):
    return json.loads((folder / "config.json").read_text())


def config_of(folder):
    return DecoderConfig.from_hf(settings_of(folder))


def test_which_layers_are_mixtures_is_read_as_transformers_does(tmp_path):
    folder = make_model(
        "qwen3_moe", tmp_path, num_hidden_layers=4, decoder_sparse_step=2, mlp_only_layers=[1], intermediate_size=72
    )
    decoder, oracle = load(folder), AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    assert decoder.config.mixture.layers == {3}
    assert [isinstance(layer.mlp, Mixture) for layer in decoder.layers] == [False, False, False, True]
    ids = torch.arange(100)
    with torch.inference_mode():
        actual = decoder.head(decoder.hidden(ids, ids, NoLora(), causal))
        torch.testing.assert_close(actual, oracle(ids[None]).logits[0], atol=2e-5, rtol=1e-5)


def test_the_number_of_experts_has_two_names(model_folders):
    """transformers 5 writes `num_local_experts`, the hub's models have `num_experts`."""
    settings = settings_of(model_folders("qwen3_moe"))
    settings["num_experts"] = settings.pop("num_local_experts")
    assert DecoderConfig.from_hf(settings) == config_of(model_folders("qwen3_moe"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"num_experts_per_tok": 9}, "num_experts_per_tok 9; with num_local_experts 8"),
        ({"num_experts_per_tok": 0}, "num_experts_per_tok is 0; a whole number above 0"),
        ({"moe_intermediate_size": None}, "lacks the whole number 'moe_intermediate_size'"),
        ({"decoder_sparse_step": 0}, "decoder_sparse_step is 0; a whole number above 0"),
        ({"mlp_only_layers": "1"}, "mlp_only_layers is '1'; a list of layers"),
        ({"architectures": ["Qwen2MoeForCausalLM"]}, "'Qwen2MoeForCausalLM' is not supported. Supported: .*Qwen3Moe"),
        ({"quantization_config": {"quant_method": "fp8"}}, "quantized.*Name the unquantized model"),
    ],
)
def test_a_config_that_cannot_be_computed_is_refused_by_name(change, words, model_folders):
    with pytest.raises(EngineError, match=words) as caught:
        DecoderConfig.from_hf({**settings_of(model_folders("qwen3_moe")), **change})
    assert (caught.value.kind, caught.value.param) == ("invalid", "base_model")


def test_an_expert_that_lacks_is_named(model_folders, tmp_path):
    tensors = load_file(model_folders("qwen3_moe") / "model.safetensors")
    del tensors["model.layers.1.mlp.experts.5.up_proj.weight"]
    save_file(tensors, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text((model_folders("qwen3_moe") / "config.json").read_text())
    with pytest.raises(EngineError, match=r"no tensor model\.layers\.1\.mlp\.experts\.5\.up_proj\.weight"):
        load(tmp_path)


def random_mixture(normalised, generator):
    """A mixture, and its weights: router [E, hidden], gate and up [E, 2 I, hidden], down [E, hidden, I]."""
    shapes = [(EXPERTS, HIDDEN), (EXPERTS, 2 * INNER, HIDDEN), (EXPERTS, HIDDEN, INNER)]
    weights = [torch.randn(shape, generator=generator) * 0.4 for shape in shapes]
    experts = [group([FrozenLinear(each, ()) for each in stack]) for stack in weights[1:]]
    return Mixture(FrozenLinear(weights[0], ()), *experts, SILU, PER_TOKEN, normalised), weights


def token_by_token(x, weights, normalised):
    """The definition, in float64."""
    router, gate_up, down = (weight.double() for weight in weights)
    rows = []
    for token in x:
        chosen = (router @ token).softmax(-1).topk(PER_TOKEN)
        shares = chosen.values / chosen.values.sum() if normalised else chosen.values
        outputs = []
        for expert in chosen.indices:
            gate, up = (gate_up[expert] @ token).chunk(2)
            outputs.append(down[expert] @ (F.silu(gate) * up))
        rows.append(sum(share * output for share, output in zip(shares, outputs, strict=True)))
    return torch.stack(rows)


@pytest.mark.parametrize("together", [False, True], ids=["one by one", "in one call"])
@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("tokens", [1, 2, 40])
def test_a_mixture_and_its_gradient_are_those_of_the_definition(tokens, normalised, together, monkeypatch):
    """With one or two tokens most experts have none. Experts are multiplied as on a CPU, and as on a GPU."""
    monkeypatch.setattr(grouped_linear, "_DEVICES", {"cpu"} if together else set())
    generator = torch.Generator().manual_seed(tokens)
    mixture, weights = random_mixture(normalised, generator)
    x, grad = (torch.randn(tokens, HIDDEN, generator=generator) for _ in range(2))
    exact = x.double().requires_grad_()
    expected = token_by_token(exact, weights, normalised)
    expected.backward(grad.double())
    mine = x.clone().requires_grad_()
    actual = mixture(mine)
    actual.backward(grad)
    torch.testing.assert_close(actual.double(), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(mine.grad.double(), exact.grad, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(mixture(x), actual.detach(), atol=0, rtol=0)


def test_routing_is_fp32_in_a_bf16_model():
    """Two experts whose logits differ by less than bf16 can tell: the better one is chosen, and is the only one."""
    weights = [torch.zeros(2, HIDDEN), torch.randn(2, 2 * INNER, HIDDEN), torch.randn(2, HIDDEN, INNER)]
    weights[0][0, :2], weights[0][1, :2] = torch.tensor([1.0, 0.0]), torch.tensor([1.0, 2.0**-8])
    router, gate_up, down = (weight.bfloat16() for weight in weights)
    experts = [group([FrozenLinear(each, ()) for each in stack]) for stack in (gate_up, down)]
    mixture = Mixture(FrozenLinear(router, ()), *experts, SILU, 1, True)
    x = torch.ones(1, HIDDEN, dtype=torch.bfloat16) * 4
    assert F.linear(x, router)[0, 0] == F.linear(x, router)[0, 1]
    second = route(torch.tensor([[0.0, 1.0]]), 1, True).groups
    gate, up = experts[0](x, second).chunk(2, -1)
    torch.testing.assert_close(mixture(x), experts[1](F.silu(gate) * up, second), atol=0, rtol=0)


def test_a_new_adapter_changes_the_attention_of_every_layer(model_folders):
    weights = initial_lora(config_of(model_folders("qwen3_moe_mixed")), 4, 8, seed=1)
    assert set(weights.modules) == {(layer, module) for layer in range(3) for module in ATTENTION}


def test_peft_reads_the_adapter_of_a_mixture(model_folders, tmp_path):
    folder = model_folders("qwen3_moe_mixed")
    weights = initial_lora(config_of(folder), 4, 8, seed=1)
    for lora in weights.modules.values():
        lora.b.normal_(0, 0.2, generator=torch.Generator().manual_seed(lora.b.numel()))
    write_peft(tmp_path, weights, "some/base", config_of(folder))
    assert json.loads((tmp_path / "adapter_config.json").read_text())["target_modules"] == sorted(ATTENTION)
    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32), tmp_path)
    named = {name: parameter for name, parameter in model.named_parameters() if "lora_" in name}
    assert len(named) == 2 * len(weights.modules)
    for (layer, module), lora in weights.modules.items():
        prefix = f"base_model.model.model.layers.{layer}.self_attn.{module}"
        assert torch.equal(named[f"{prefix}.lora_A.default.weight"], lora.a)
        assert torch.equal(named[f"{prefix}.lora_B.default.weight"], lora.b)


def test_an_adapter_of_peft_for_the_experts_is_refused_by_name(model_folders, tmp_path):
    folder = model_folders("qwen3_moe_mixed")
    targets = [*ATTENTION, "gate_proj", "up_proj", "down_proj"]
    base = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    get_peft_model(base, LoraConfig(r=2, lora_alpha=4, target_modules=targets)).save_pretrained(tmp_path)
    with pytest.raises(EngineError, match=r"layers\.0\.mlp\.experts\.base_layer; .* LoRA on q_proj, k_proj") as caught:
        read_peft(tmp_path, config_of(folder))
    assert caught.value.kind == "invalid"
    assert caught.value.message.endswith("in a mixture of experts all but the attention is frozen.")


@pytest.mark.parametrize("module", ["mlp.experts.3.gate_proj", "mlp.gate", "mlp.gate_proj"])
def test_adapters_for_an_expert_the_router_or_a_plain_layer_are_refused(module, model_folders, tmp_path):
    config = config_of(model_folders("qwen3_moe_mixed"))
    write_peft(tmp_path, initial_lora(config, 2, 4, 0), "base", config)
    file = tmp_path / "adapter_model.safetensors"
    more = {f"base_model.model.model.layers.1.{module}.lora_{letter}.weight": torch.zeros(2, 2) for letter in "AB"}
    save_file({**load_file(file), **more}, file)
    with pytest.raises(EngineError, match=rf"changes base_model\.model\.model\.layers\.1\.{module}; .* is frozen"):
        read_peft(tmp_path, config)


def test_fewer_tokens_a_product_count_as_less_work(model_folders):
    """By this a thread decides on how many cores to compute: 3 of 8 experts see 3/8 of the tokens each."""
    decoder = load(model_folders("qwen3_moe"))
    attention, expert = 64 * 128 + 64 * 64, 64 * 80 + 40 * 64
    assert decoder.operator_work(800) == (800 * attention + 300 * expert) // 4
    assert decoder.operator_work(1) == 16 * (attention + expert) // 4


def test_activations_of_a_token_are_those_of_its_experts(model_folders):
    """3 layers in fp32: 4 times hidden, heads of 16; 2 * 40 of each of 3 experts and 8 probabilities, or 3 * 96."""
    attention = 3 * (4 * 64 + (3 * 4 + 3 * 2) * 16)
    assert load(model_folders("qwen3_moe")).activation_token_bytes == 4 * (attention + 3 * (3 * 80 + 8))
    assert load(model_folders("qwen3_moe_mixed")).activation_token_bytes == 4 * (attention + 2 * (3 * 80 + 8) + 3 * 96)


def test_the_hosted_services_model_is_read():
    """Fields of Qwen3-30B-A3B-Instruct-2507's config.json."""
    config = DecoderConfig.from_hf(
        {
            "architectures": ["Qwen3MoeForCausalLM"],
            "hidden_size": 2048,
            "intermediate_size": 6144,
            "num_hidden_layers": 48,
            "num_attention_heads": 32,
            "num_key_value_heads": 4,
            "head_dim": 128,
            "vocab_size": 151936,
            "num_experts": 128,
            "num_experts_per_tok": 8,
            "moe_intermediate_size": 768,
            "norm_topk_prob": True,
            "decoder_sparse_step": 1,
            "mlp_only_layers": [],
            "max_position_embeddings": 262144,
            "rope_theta": 10000000,
            "rope_scaling": None,
            "sliding_window": None,
            "use_sliding_window": False,
        }
    )
    assert config.mixture == MixtureConfig(128, 8, 768, True, frozenset(range(48)), router="gate", storage="separate")
    assert (config.expert_shape("gate_proj"), config.expert_shape("down_proj")) == ((768, 2048), (2048, 768))
    assert config.max_position == 262144
