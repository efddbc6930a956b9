"""What only gpt-oss has: experts that are stored together, plain or in MXFP4, and its gated unit."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers.integrations.mxfp4 import convert_moe_packed_tensors

from heddle_engine.errors import EngineError
from heddle_engine.model.config import DecoderConfig
from heddle_engine.model.files.stacked_experts import from_mxfp4
from heddle_engine.model.gated_unit import ClampedSwiglu, gated
from heddle_engine.model.lora import initial_lora, write_peft
from tests.exports.test_exports import write_merged
from tests.model.test_decoder import load, logits_of

MXFP4 = {"quantization_config": {"quant_method": "mxfp4"}}


def drawn_blocks(*shape, seed):
    """uint8 blocks [..., B, 16] and scales [..., B] of numbers about 1."""
    chance = torch.Generator().manual_seed(seed)
    blocks = torch.randint(0, 256, (*shape, 16), dtype=torch.uint8, generator=chance)
    return blocks, torch.randint(122, 126, shape, dtype=torch.uint8, generator=chance)


def test_mxfp4_by_hand():
    """0x52: first 2, which is 1.0, then 5, which is 3.0; 0xF8: -0.0 and -6.0; a scale of 128 doubles, 126 halves."""
    blocks = torch.tensor([[[0x52, 0xF8, *[0] * 14], [0x21, *[0] * 15]]], dtype=torch.uint8)
    found = from_mxfp4(blocks, torch.tensor([[128, 126]], dtype=torch.uint8))
    assert found.shape == (1, 64)
    assert found[0, :4].tolist() == [2.0, 6.0, -0.0, -12.0]
    assert found[0, 32:35].tolist() == [0.25, 0.5, 0.0]


def test_mxfp4_equals_transformers():
    blocks, scales = drawn_blocks(3, 10, 4, seed=1)
    expected = convert_moe_packed_tensors(blocks, scales, dtype=torch.float32)
    for expert in range(3):
        assert torch.equal(from_mxfp4(blocks[expert], scales[expert]), expected[expert].t())


def in_mxfp4(folder, tmp_path):
    """The model of `folder` with other experts, in MXFP4 as the hub has it, and the same one in plain numbers."""
    tensors = load_file(folder / "model.safetensors")
    packed, plain = dict(tensors), dict(tensors)
    for number, name in enumerate(name for name in tensors if name.endswith(("gate_up_proj", "down_proj"))):
        experts, inner, outer = tensors[name].shape
        blocks, scales = drawn_blocks(experts, outer, inner // 32, seed=number)
        del packed[name]
        packed[f"{name}_blocks"], packed[f"{name}_scales"] = blocks, scales
        plain[name] = convert_moe_packed_tensors(blocks, scales, dtype=torch.float32).contiguous()
    folders = []
    for kind, stored, more in (("packed", packed, MXFP4), ("plain", plain, {})):
        made = shutil.copytree(folder, tmp_path / kind)
        save_file(stored, made / "model.safetensors", {"format": "pt"})
        config = json.loads((made / "config.json").read_text())
        (made / "config.json").write_text(json.dumps({**config, **more}))
        folders.append(made)
    return folders


def test_experts_in_mxfp4_compute_what_their_numbers_say(model_folders, tmp_path):
    """Those equal transformers' logits, which reads no MXFP4 on a CPU."""
    packed, plain = in_mxfp4(model_folders("gpt_oss"), tmp_path)
    found, expected = logits_of(plain)
    torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-5)
    x = torch.randn(9, 64, generator=torch.Generator().manual_seed(1))
    for mine, other in zip(load(packed).layers, load(plain).layers, strict=True):
        assert torch.equal(mine.mlp(x), other.mlp(x))


@pytest.mark.parametrize("dtype", [None, "bfloat16"])
def test_a_merged_export_keeps_experts_in_mxfp4(dtype, model_folders, tmp_path):
    """The attention changes by the adapter; bytes and scales come out as they were."""
    packed, _ = in_mxfp4(model_folders("gpt_oss"), tmp_path)
    config = DecoderConfig.from_hf(json.loads((packed / "config.json").read_text()))
    weights = initial_lora(config, rank=4, alpha=8.0, seed=1)
    for module in weights.modules.values():
        module.b.normal_(0, 0.1, generator=torch.Generator().manual_seed(1))
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    write_peft(adapter, weights, "base", config)
    write_merged(packed, adapter, tmp_path / "merged", dtype)
    before, after = (load_file(next(folder.glob("*.safetensors"))) for folder in (packed, tmp_path / "merged"))
    assert before.keys() == after.keys()
    kept = [name for name in before if before[name].dtype == torch.uint8]
    assert len(kept) == 4 * 3
    assert all(torch.equal(before[name], after[name]) for name in kept)
    changed = "model.layers.0.self_attn.q_proj.weight"
    assert not torch.equal(before[changed], after[changed].float())
    load(tmp_path / "merged")


@pytest.mark.parametrize("method", ["gptq", "fp8", None])
def test_other_quantized_weights_are_refused(method, model_folders):
    settings = json.loads((model_folders("gpt_oss") / "config.json").read_text())
    with pytest.raises(EngineError, match="weights are quantized") as caught:
        DecoderConfig.from_hf({**settings, "quantization_config": {"quant_method": method}})
    assert (caught.value.kind, caught.value.param) == ("invalid", "base_model")


def test_experts_of_another_shape_are_refused(model_folders, tmp_path):
    folder = shutil.copytree(model_folders("gpt_oss"), tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "intermediate_size": 64}))
    with pytest.raises(EngineError, match=r"gate_up_proj has shape \[192, 64\]; config.json says \[128, 64\]"):
        load(folder)


def test_the_gated_unit_and_its_gradient():
    """Beyond a limit neither the gate nor the up projection has a gradient; autograd is the oracle."""
    unit = ClampedSwiglu(1.702, 7.0)
    gate_up = torch.tensor([[-9.0, -1.0, 6.9, 7.1, 0.5, -7.2, 7.3, 2.0]], requires_grad=True)
    gate, up = (part.clamp(low, 7.0) for part, low in zip(gate_up.chunk(2, -1), (None, -7.0), strict=True))
    expected = gate * torch.sigmoid(1.702 * gate) * (up + 1)
    grad = torch.tensor([[1.0, -2.0, 3.0, 0.5]])
    (slope,) = torch.autograd.grad(expected, gate_up, grad)
    torch.testing.assert_close(gated(gate_up.detach(), unit), expected)
    (found,) = torch.autograd.grad(gated(gate_up, unit), gate_up, grad)
    torch.testing.assert_close(found, slope)
    assert (found == 0).sum() >= 3
