"""The forward pass gives the logits of transformers, for every architecture and rope scaling."""

import json

import pytest
import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM

from heddle_engine import progress
from heddle_engine.errors import EngineError
from heddle_engine.model.config import DecoderConfig
from heddle_engine.model.decoder import NoLora
from heddle_engine.model.weights import load_decoder
from tests.models import CONFIGS

LENGTH = 200


def causal(layer, q, k, v):
    q, k, v = (t.transpose(0, 1)[None] for t in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)[0].transpose(0, 1)


def load(folder):
    config = DecoderConfig.from_hf(json.loads((folder / "config.json").read_text()))
    return load_decoder(folder, config, torch.device("cpu"), torch.float32)


@pytest.mark.parametrize("kind", CONFIGS)
def test_logits_equal_transformers(kind, model_folders):
    folder = model_folders(kind)
    decoder, oracle = load(folder), AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = torch.randint(0, 300, (LENGTH,), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        expected = oracle(ids[None]).logits[0]
        actual = decoder.head(decoder.hidden(ids, torch.arange(LENGTH), NoLora(), causal))
    assert expected.std() > 0.1
    torch.testing.assert_close(actual, expected, atol=2e-5, rtol=1e-5)


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


def test_unknown_rope_type_is_refused(model_folders):
    config = json.loads((model_folders("qwen3") / "config.json").read_text())
    with pytest.raises(EngineError, match="'longrope'"):
        DecoderConfig.from_hf({**config, "rope_parameters": {"rope_type": "longrope", "rope_theta": 1e4}})


def test_sliding_window_bounds_the_length(model_folders):
    config = json.loads((model_folders("mistral") / "config.json").read_text())
    assert DecoderConfig.from_hf(config).max_position == 512
    assert DecoderConfig.from_hf({**config, "sliding_window": 128}).max_position == 128


def test_shapes_that_contradict_the_config_are_named(model_folders):
    folder = model_folders("qwen3")
    settings = json.loads((folder / "config.json").read_text())
    config = DecoderConfig.from_hf({**settings, "intermediate_size": 97})
    with pytest.raises(EngineError, match=r"mlp.gate_proj.weight has shape \[96, 64\].*\[97, 64\]"):
        load_decoder(folder, config, torch.device("cpu"), torch.float32)
