"""fp32 and bf16 on a CPU: which is chosen, and how far bf16 is from exact values and from transformers in bf16."""

import functools
import logging
import shutil

import pytest
import torch

from heddle_engine.bases import Base
from heddle_engine.model import number_format
from heddle_engine.model.decoder import NoLora
from heddle_engine.model.linear import FrozenLinear
from heddle_engine.model.number_format import automatic_format, warn_of_slow_format
from tests.model.test_decoder import causal, whole_sequence
from tests.models import CONFIGS, HYBRIDS, MIXTURES, make_model, needs_bf16, oracle_of

CPU = torch.device("cpu")
LENGTH = 120


@pytest.fixture(scope="module")
def checkpoints(model_folders, tmp_path_factory):
    """`folder = checkpoints(kind, dtype)`: the same random model stored in fp32, or rounded to bf16."""
    made = {}

    def folder(kind, dtype):
        if dtype == torch.float32:
            return model_folders(kind)
        if kind not in made:
            made[kind] = shutil.copytree(model_folders(kind), tmp_path_factory.mktemp("bf16") / kind)
            oracle_of(model_folders(kind), dtype).save_pretrained(made[kind])
        return made[kind]

    return folder


def logits_of(base: Base) -> torch.Tensor:
    ids = torch.randint(0, 300, (LENGTH,), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        hidden = base.decoder.hidden(ids, torch.arange(LENGTH), NoLora(), causal, recur=whole_sequence)
        return base.decoder.head.in_fp32(hidden)


def transformers_logits(folder, dtype) -> torch.Tensor:
    """Of the weights rounded to `dtype`; float64 computes those of bf16 exactly."""
    ids = torch.randint(0, 300, (LENGTH,), generator=torch.Generator().manual_seed(1))
    rounded = torch.float32 if dtype == torch.float32 else torch.bfloat16
    model = oracle_of(folder, rounded).to(dtype)
    # Its other forms of experts have no 64 bits.
    model.set_experts_implementation("eager")
    with torch.inference_mode():
        return model(ids[None]).logits[0].double()


@pytest.fixture(scope="module")
def logits_of_transformers(model_folders):
    """`transformers_logits` of a kind, computed once: both checkpoints of a kind are rounded to the same weights."""
    return functools.cache(lambda kind, dtype: transformers_logits(model_folders(kind), dtype))


def rms(x: torch.Tensor) -> float:
    return float(x.double().square().mean().sqrt())


@needs_bf16
@pytest.mark.parametrize("stored", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", [kind for kind in CONFIGS if kind not in MIXTURES])
def test_bf16_logits_are_as_near_to_exact_ones_as_those_of_transformers(
    kind, stored, checkpoints, logits_of_transformers
):
    mine = logits_of(Base(kind, checkpoints(kind, stored), CPU, torch.bfloat16)).double()
    theirs, exact = (logits_of_transformers(kind, dtype) for dtype in (torch.bfloat16, torch.float64))
    assert rms(mine - exact) < 1.1 * rms(theirs - exact)
    # Delta nets are in fp32 within, where transformers rounds the inputs of the convolution and its output.
    assert rms(mine - theirs) < (0.04 if kind in HYBRIDS else 0.03) * rms(exact)


@needs_bf16
@pytest.mark.parametrize("kind", ["qwen3_moe_mixed", "qwen3_5_moe", "qwen3_next", "qwen3_next_mixed"])
def test_bf16_logits_of_mixtures_are_about_as_near(kind, tmp_path):
    """Near a tie another rounding picks another expert, so that single models differ by a half either way."""
    distances = []
    for seed in range(3):
        folder = make_model(kind, tmp_path / str(seed), seed)
        exact = transformers_logits(folder, torch.float64)
        found = logits_of(Base(kind, folder, CPU, torch.bfloat16)).double(), transformers_logits(folder, torch.bfloat16)
        distances.append([(each - exact).square().mean() / exact.square().mean() for each in found])
    own, of_transformers = torch.tensor(distances).mean(0).sqrt()
    assert 0.01 < own < 1.3 * of_transformers


@pytest.mark.parametrize("kind", ["qwen3", "qwen3_moe"])
def test_a_bf16_checkpoint_is_computed_in_fp32_where_that_is_set(kind, checkpoints):
    folder = checkpoints(kind, torch.bfloat16)
    base = Base(kind, folder, CPU, torch.float32)
    torch.testing.assert_close(
        logits_of(base).double(), transformers_logits(folder, torch.float32), atol=2e-5, rtol=1e-5
    )


@needs_bf16
@pytest.mark.parametrize("features", [8, 768])
def test_logits_of_bf16_weights_are_sums_in_fp32(features):
    """A logit is right to 17 binary digits; rounded to bf16 it would be to 9."""
    generator = torch.Generator().manual_seed(0)
    x, weight, bias = (torch.randn(n, features, generator=generator).bfloat16() for n in (5, 300, 1))
    linear = FrozenLinear(weight, (), bias[0, :1].expand(300).contiguous())
    exact = x.double() @ weight.double().t() + bias[0, 0].double()
    actual = linear.in_fp32(x)
    assert actual.dtype == torch.float32
    assert rms((actual - exact) / exact.abs().mean()) < 4e-6
    assert rms((linear(x).double() - exact) / exact.abs().mean()) > 5e-4


@needs_bf16
def test_keys_and_values_take_half_the_memory(model_folders):
    sizes = [
        Base("x", model_folders("qwen3"), CPU, dtype).decoder.kv_token_bytes
        for dtype in (torch.float32, torch.bfloat16)
    ]
    assert sizes[0] == 2 * sizes[1]


LARGE = {"hidden_size": 1024}


@pytest.mark.parametrize(
    ("config", "device", "has_bf16", "expected"),
    [
        ({"dtype": "bfloat16", **LARGE}, "cpu", True, torch.bfloat16),
        ({"torch_dtype": "bfloat16", **LARGE}, "cpu", True, torch.bfloat16),
        ({"quantization_config": {"quant_method": "mxfp4"}, **LARGE}, "cpu", True, torch.bfloat16),
        ({"dtype": "bfloat16", **LARGE}, "cpu", False, torch.float32),
        ({"dtype": "bfloat16", "hidden_size": 128}, "cpu", True, torch.float32),
        ({"dtype": "float32", **LARGE}, "cpu", True, torch.float32),
        ({"dtype": "float16", **LARGE}, "cpu", True, torch.float32),
        (LARGE, "cpu", True, torch.float32),
        ({"dtype": "float32", "hidden_size": 128}, "cuda", True, torch.bfloat16),
    ],
)
def test_auto_follows_checkpoint_size_and_processor(config, device, has_bf16, expected, monkeypatch):
    monkeypatch.setattr(number_format, "multiplies_bf16", lambda _device: has_bf16)
    assert automatic_format(config, torch.device(device)) == expected


@needs_bf16
def test_a_base_model_tells_its_format(checkpoints, monkeypatch):
    monkeypatch.setattr(number_format, "_LEAST_HIDDEN", 64)
    stored = {dtype: Base("x", checkpoints("qwen3", dtype), CPU) for dtype in (torch.float32, torch.bfloat16)}
    for dtype, base in stored.items():
        assert base.dtype == base.decoder.dtype == dtype
    assert [base.description["dtype"] for base in stored.values()] == ["fp32", "bf16"]


def test_bf16_on_a_processor_without_it_is_warned_of(monkeypatch, caplog):
    caplog.set_level(logging.WARNING)
    monkeypatch.setattr(number_format, "multiplies_bf16", lambda _device: True)
    warn_of_slow_format(torch.bfloat16, CPU)
    assert not caplog.records
    monkeypatch.setattr(number_format, "multiplies_bf16", lambda _device: False)
    warn_of_slow_format(torch.float32, CPU)
    assert not caplog.records
    warn_of_slow_format(torch.bfloat16, CPU)
    assert "dtype auto or fp32 (HEDDLE_ENGINE_DTYPE) is faster" in caplog.text


def test_without_bf16_instructions_a_bf16_model_computes_all_the_same(model_folders, monkeypatch):
    exact = logits_of(Base("x", model_folders("qwen3"), CPU, torch.float32))
    monkeypatch.setattr("heddle_engine.model.linear.multiplies_bf16", lambda _device: False)
    slow = logits_of(Base("x", model_folders("qwen3"), CPU, torch.bfloat16))
    assert rms(slow - exact) < 0.03 * rms(exact)
