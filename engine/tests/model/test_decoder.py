"""The forward pass gives the logits of transformers, for every architecture and rope scaling."""

import json
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from heddle_engine import progress
from heddle_engine.errors import EngineError
from heddle_engine.model.config import DecoderConfig
from heddle_engine.model.decoder import NoLora
from heddle_engine.model.delta.delta_net import DeltaState
from heddle_engine.model.files.weights import load_decoder
from heddle_engine.model.gated_unit import GELU_TANH, SILU
from tests.models import CONFIGS, HYBRIDS, make_model, oracle_of

LENGTH = 200
ABSENT = "(absent)"


def causal(layer, q, k, v, window, sinks):
    q, k, v = (t.transpose(0, 1)[None] for t in (q, k, v))
    places = torch.arange(q.shape[2])
    distance = places[:, None] - places
    seen = (distance >= 0) & (distance < (window or len(places)))
    if sinks is None:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=seen, enable_gqa=True)[0].transpose(0, 1)
    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
    scores = (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    scores = torch.cat([scores, sinks[:, None, None].expand(1, -1, len(places), 1)], -1)
    return (scores.softmax(-1)[..., :-1].to(v.dtype) @ v)[0].transpose(0, 1)


def whole_sequence(_place, net, tokens):
    """The `recur` of tokens that are one sequence from its beginning."""
    state = DeltaState.zeros(net.config, 1, device=tokens.inputs.device, dtype=tokens.inputs.dtype)
    return net.advance(tokens, state)[0][0]


def load(folder, config=None):
    config = config or DecoderConfig.from_hf(json.loads((folder / "config.json").read_text()))
    return load_decoder(folder, config, torch.device("cpu"), torch.float32)


def logits_of(folder, config=None):
    """The engine's logits of some ids [LENGTH, vocabulary], and those of transformers."""
    decoder, oracle = load(folder, config), oracle_of(folder)
    ids = torch.randint(0, 300, (LENGTH,), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        hidden = decoder.hidden(ids, torch.arange(LENGTH), NoLora(), causal, recur=whole_sequence)
        return decoder.head(hidden), oracle(ids[None]).logits[0]


def assert_shows(folder, without):
    """A model in which a feature changes nothing would not show that it is computed."""
    config = config_of(folder)
    changed = replace(config, **{name: change(config) for name, change in without.items()})
    actual, expected = logits_of(folder, changed)
    assert (actual - expected).abs().max() > 0.01


@pytest.mark.parametrize("kind", CONFIGS)
def test_logits_equal_transformers(kind, model_folders):
    actual, expected = logits_of(model_folders(kind))
    assert expected.std() > 0.1
    # Both compute delta nets in chunks of fp32, which add in another order.
    torch.testing.assert_close(actual, expected, atol=1e-4 if kind in HYBRIDS else 2e-5, rtol=1e-5)


def test_reading_a_tensor_and_passing_a_layer_count_as_progress(model_folders):
    """Reading a large model takes minutes, and so does a pass over many tokens: both report progress (engine 5.2)."""
    before = progress.total()
    decoder = load(model_folders("qwen3"))
    tensors = progress.total() - before
    assert tensors == 2 + 3 * (7 + 2 + 2)
    decoder.hidden(torch.zeros(4, dtype=torch.long), torch.arange(4), NoLora(), causal)
    assert progress.total() - before - tensors == 3


def test_transposed_projection_is_the_gradient_to_the_input(model_folders):
    layer = load(model_folders("llama")).layers[0]
    x = torch.randn(5, layer.qkv.in_features, dtype=torch.float64, requires_grad=True)
    g = torch.randn(5, layer.qkv.out_features)
    F.linear(x, layer.qkv.weight.double(), layer.qkv.bias.double()).backward(g.double())
    torch.testing.assert_close(layer.qkv.transposed(g).double(), x.grad, atol=1e-5, rtol=1e-5)


def test_unsupported_architecture_is_named_with_the_supported_ones():
    with pytest.raises(EngineError, match=r"'GPT2LMHeadModel'.*Qwen3ForCausalLM") as caught:
        DecoderConfig.from_hf({"architectures": ["GPT2LMHeadModel"]})
    assert caught.value.kind == "invalid"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rope_type": "longrope", "rope_theta": 1e4}, "rope type 'longrope'; the engine knows default, linear"),
        ({"rope_type": ["yarn"]}, r"rope type \['yarn'\]"),
        ({"rope_type": "linear"}, "lacks the number 'factor'"),
        ({"rope_type": "linear", "factor": 0}, "factor is 0; a number above 0"),
        ({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0}, "lacks the number 'high_freq_factor'"),
        ({"rope_theta": "1e4"}, "rope_theta is '1e4'; a number above 0"),
        ({"rope_type": "yarn", "factor": "4.0"}, "factor is '4.0'; a number above 0"),
        ({"rope_type": "yarn", "factor": 4.0, "beta_fast": [32]}, r"beta_fast is \[32\]; a number above 0"),
        (["default"], r"rope_parameters is \['default'\]; an object"),
    ],
)
def test_positions_that_are_not_computed_are_refused_by_name(settings, words, model_folders):
    with pytest.raises(EngineError, match=words) as caught:
        config_of(model_folders("qwen3"), rope_parameters=settings)
    assert (caught.value.kind, caught.value.param) == ("invalid", "base_model")


def config_of(folder, **changes):
    settings = {**json.loads((folder / "config.json").read_text()), **changes}
    return DecoderConfig.from_hf({name: value for name, value in settings.items() if value != ABSENT})


def windows(config):
    return [layer.window for layer in config.layers]


def test_a_sliding_window_leaves_the_length_of_sequences_alone(model_folders):
    config = config_of(model_folders("mistral"))
    assert (config.max_position, windows(config)) == (512, [40] * 3)


def test_which_layers_have_a_window_is_read_as_transformers_does(model_folders):
    mistral, qwen3, moe = (model_folders(kind) for kind in ("mistral", "qwen3", "qwen3_moe"))
    assert windows(config_of(mistral, sliding_window=ABSENT)) == [4096] * 3
    assert windows(config_of(mistral, sliding_window=None)) == [None] * 3
    upper = {"use_sliding_window": True, "sliding_window": 9, "max_window_layers": 1, "layer_types": ABSENT}
    assert windows(config_of(qwen3, **upper)) == [None, 9, 9]
    assert windows(config_of(qwen3, **{**upper, "use_sliding_window": False})) == [None] * 3
    assert windows(config_of(qwen3, **{**upper, "max_window_layers": None})) == [None] * 3
    assert windows(config_of(moe, use_sliding_window=True, sliding_window=9)) == [9] * 3


def test_logits_of_layers_some_of_which_have_a_window_equal_transformers(tmp_path):
    folder = make_model("qwen2", tmp_path, use_sliding_window=True, sliding_window=31, max_window_layers=1)
    assert windows(config_of(folder)) == [None, 31, 31]
    actual, expected = logits_of(folder)
    torch.testing.assert_close(actual, expected, atol=2e-5, rtol=1e-5)


def test_gemma3_is_read_from_the_names_of_the_hubs_configs(model_folders):
    """transformers 5 writes `layer_types` and `rope_parameters` by kind instead."""
    hub = {
        "sliding_window_pattern": 2,
        "layer_types": ABSENT,
        "rope_parameters": ABSENT,
        "rope_scaling": {"rope_type": "linear", "factor": 4.0},
    }
    old, new = config_of(model_folders("gemma3"), **hub), config_of(model_folders("gemma3"))
    assert windows(old) == windows(new) == [24, None] * 2
    assert [(layer.rope.theta, layer.rope.kind) for layer in old.layers] == [(1e4, "default"), (1e6, "linear")] * 2
    assert [(layer.rope.theta, layer.rope.kind) for layer in new.layers] == [(1e4, "default"), (1e6, "linear")] * 2
    assert windows(config_of(model_folders("gemma3"), **{**hub, "sliding_window_pattern": ABSENT})) == [24] * 4


@pytest.mark.parametrize(
    "without",
    [
        {"layers": lambda c: tuple(replace(layer, window=None) for layer in c.layers)},
        {"layers": lambda c: tuple(replace(layer, window=24) for layer in c.layers)},
        {"layers": lambda c: tuple(replace(layer, rope=c.layers[0].rope) for layer in c.layers)},
        {"layers": lambda c: tuple(replace(layer, rope=c.layers[1].rope) for layer in c.layers)},
        {"norms": lambda c: replace(c.norms, offset=0.0)},
        {"norms": lambda c: replace(c.norms, behind_attention=None)},
        {"norms": lambda c: replace(c.norms, behind_mlp=None)},
        {"qk_norm": lambda _: False},
        {"query_scale": lambda _: 1.0},
        {"embedding_scale": lambda _: 1.0},
        {"activation": lambda _: SILU},
    ],
    ids=lambda without: next(iter(without)),
)
def test_each_feature_of_gemma3_shows_in_its_logits(without, model_folders):
    assert_shows(model_folders("gemma3"), without)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"attn_logit_softcapping": 50.0},
            "attn_logit_softcapping is 50.0; the engine computes Gemma3ForCausalLM without",
        ),
        ({"final_logit_softcapping": 30.0}, "final_logit_softcapping is 30.0"),
        ({"use_bidirectional_attention": True}, "use_bidirectional_attention is True"),
        ({"hidden_activation": "silu"}, "activation 'silu' is not supported. Supported: 'gelu_pytorch_tanh'"),
        ({"architectures": "Gemma3ForCausalLM"}, "architectures is 'Gemma3ForCausalLM'; a list of names"),
        ({"architectures": [["Gemma3ForCausalLM"]]}, "architectures is .*; a list of names"),
        ({"hidden_activation": ["silu"]}, "activation \\['silu'\\] is not supported"),
        ({"num_attention_heads": 0}, "num_attention_heads is 0; a whole number above 0"),
        ({"num_key_value_heads": "2"}, "num_key_value_heads is '2'; a whole number above 0"),
        ({"num_attention_heads": 4, "num_key_value_heads": 3}, "num_attention_heads is 4; a multiple of num_key_value"),
        ({"max_position_embeddings": True}, "max_position_embeddings is True; a whole number above 0"),
        ({"rms_norm_eps": "1e-6"}, "rms_norm_eps is '1e-6'; a number above 0"),
        ({"rope_parameters": ["default"]}, r"rope_parameters is \['default'\]; an object"),
        ({"rope_parameters": {"full_attention": 8}}, "full_attention is 8; an object"),
        ({"rope_scaling": "linear"}, "rope_scaling is 'linear'; an object"),
        ({"quantization_config": "fp8"}, "quantization_config is 'fp8'; an object"),
        ({"query_pre_attn_scalar": None}, "lacks the whole number 'query_pre_attn_scalar'"),
        ({"sliding_window": 0}, "sliding_window is 0; a whole number above 0"),
        ({"layer_types": ["full_attention"]}, "layer_types is .*; one for each of its layers"),
        ({"layer_types": ["full_attention"] * 3 + ["linear_attention"]}, "layers of the kind 'linear_attention'"),
        ({"layer_types": None, "sliding_window_pattern": 0}, "sliding_window_pattern is 0; a whole number above 0"),
        (
            {"architectures": ["Gemma2ForCausalLM"]},
            "'Gemma2ForCausalLM' is not supported: it caps the scores.*Supported",
        ),
    ],
)
def test_what_is_not_computed_is_refused_by_name(change, words, model_folders):
    with pytest.raises(EngineError, match=words) as caught:
        config_of(model_folders("gemma3"), **change)
    assert (caught.value.kind, caught.value.param) == ("invalid", "base_model")


def test_norms_behind_attention_and_feed_forward_part_count_as_memory_of_a_pass(model_folders):
    attention = 6 * 64 + (3 * 4 + 3 * 2) * 16
    assert load(model_folders("gemma3")).activation_token_bytes == 4 * 4 * (attention + 3 * 96)


def test_gemmas_first_name_of_its_activation_means_the_other(model_folders):
    assert config_of(model_folders("gemma"), hidden_act="gelu").activation is GELU_TANH


def test_shapes_that_contradict_the_config_are_named(model_folders):
    folder = model_folders("qwen3")
    settings = json.loads((folder / "config.json").read_text())
    config = DecoderConfig.from_hf({**settings, "intermediate_size": 97})
    with pytest.raises(EngineError, match=r"mlp.gate_proj.weight has shape \[96, 64\].*\[97, 64\]"):
        load_decoder(folder, config, torch.device("cpu"), torch.float32)
