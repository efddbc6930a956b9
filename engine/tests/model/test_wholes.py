"""Models that read pictures too: of them the language model is computed, and the rest is neither read nor lost."""

import json
import shutil
import warnings
from dataclasses import replace

import pytest
import torch
import transformers
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file

from heddle_engine import progress
from heddle_engine.errors import EngineError
from heddle_engine.model.config import DecoderConfig
from heddle_engine.model.families import language_settings
from heddle_engine.model.lora import initial_lora, read_peft, write_peft
from tests.exports.test_exports import logits, write_merged
from tests.model.test_decoder import config_of, load
from tests.models import WHOLES, oracle_of

CPU = torch.device("cpu")
TOWERS = {"qwen3_5_whole": "visual", "qwen3_5_moe_whole": "visual", "gemma3_whole": "vision_tower"}
WEIGHTS = "model.safetensors"
Q = "layers.1.self_attn.q_proj"


@pytest.fixture(params=WHOLES)
def kind(request):
    return request.param


@pytest.fixture
def folder(kind, model_folders):
    return model_folders(kind)


@pytest.fixture
def adapter(folder, tmp_path):
    """A PEFT folder as the engine writes it, in which every module changes the model."""
    config = config_of(folder)
    weights = drawn_lora(config)
    weights.modules[1, "q_proj"].scale = 5.0
    (tmp_path / "adapter").mkdir()
    write_peft(tmp_path / "adapter", weights, "base", config)
    return tmp_path / "adapter"


def drawn_lora(config):
    weights = initial_lora(config, 4, 8.0, seed=1)
    for lora in weights.modules.values():
        lora.b.normal_(0, 0.1, generator=torch.Generator().manual_seed(1))
    return weights


def of_language_model(name):
    return name.startswith("lm_head.") or "language_model" in name


def renamed(folder, target, change):
    """A copy of `folder` whose safetensors have other names."""
    shutil.copytree(folder, target)
    file = next(target.glob("*.safetensors"))
    save_file({change(name): tensor for name, tensor in load_file(file).items()}, file, {"format": "pt"})
    return target


def nested(name):
    """As transformers names tensors since 4.52."""
    return name.replace("language_model.model.", "model.language_model.").replace("language_model.lm_head", "lm_head")


def nested_before(name):
    name = name.replace("model.language_model.", "language_model.model.")
    return f"language_model.{name}" if name.startswith("lm_head") else name


@pytest.mark.parametrize("change", [nested, nested_before])
def test_both_names_that_transformers_has_written_are_read(change, folder, tmp_path):
    other = renamed(folder, tmp_path / "other", change)
    names = load_file(other / WEIGHTS).keys()
    assert any(name.startswith(change("model.language_model.layers.0.")) for name in names)
    ids = torch.arange(20)
    one, two = load(folder), load(other)
    assert torch.equal(one.head.in_fp32(one.embedding[ids]), two.head.in_fp32(two.embedding[ids]))
    assert torch.equal(one.layers[1].qkv.weight, two.layers[1].qkv.weight)


def test_what_reads_pictures_is_not_read(folder, kind):
    """Each tensor that is read counts as progress."""
    names = load_file(folder / WEIGHTS).keys()
    assert any(TOWERS[kind] in name for name in names)
    before = progress.total()
    load(folder)
    assert progress.total() - before == sum(map(of_language_model, names))


def test_the_hubs_config_of_gemma3_4b_is_read_as_transformers_does():
    """It leaves most settings to their defaults."""
    text = {
        "hidden_size": 2560,
        "intermediate_size": 10240,
        "model_type": "gemma3_text",
        "num_hidden_layers": 34,
        "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
        "sliding_window": 1024,
    }
    hub = {"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "text_config": text}
    whole = transformers.Gemma3Config(**json.loads(json.dumps(hub))).to_dict()
    found, expected = DecoderConfig.from_hf(hub), DecoderConfig.from_hf(whole)
    assert replace(found, layers=expected.layers) == expected
    assert found.module_shape("q_proj") == (8 * 256, 2560)
    for one, other in zip(found.layers, expected.layers, strict=True):
        assert (one.window, one.rope.theta) == (other.window, other.rope.theta)
        for kind, layer in ((one.rope.kind, one), (other.rope.kind, other)):
            assert (kind, layer.rope.settings.get("factor")) == (("default", None) if layer.window else ("linear", 8.0))


def test_settings_beside_the_text_config_count_where_it_has_none_of_its_own(folder):
    config = json.loads((folder / "config.json").read_text())
    text = config["text_config"]
    assert language_settings({**config, "dtype": "bfloat16"})["dtype"] == "bfloat16"
    inner = {**config, "dtype": "float32", "text_config": {**text, "dtype": "bfloat16"}}
    assert language_settings(inner)["dtype"] == "bfloat16"
    with pytest.raises(EngineError, match="weights are quantized"):
        config_of(folder, quantization_config={"quant_method": "fp8"})
    with pytest.raises(EngineError, match="lacks the object 'text_config'"):
        config_of(folder, text_config=None)


def test_peft_misses_nothing_of_an_adapter(folder, adapter, kind):
    """Where it misses tensors it warns, and goes on with random ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model = PeftModel.from_pretrained(oracle_of(folder), adapter)
    changed = {name for name, _ in model.named_parameters() if "lora_" in name}
    assert len(changed) == 2 * len(read_peft(adapter, config_of(folder)).modules)
    assert not [name for name in changed if TOWERS[kind] in name]


def test_peft_reads_an_adapter_for_the_language_model_alone_as_the_guide_says(model_folders, tmp_path):
    """transformers' AutoModelForCausalLM makes a model of text alone of a Qwen3.5, with other names."""
    folder = model_folders("qwen3_5_whole")
    config = config_of(folder)
    write_peft(tmp_path, drawn_lora(config), "base", config)
    alone = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    assert isinstance(alone, transformers.Qwen3_5ForCausalLM)
    names = {r"^model\.language_model\.": "model."}
    found = logits(PeftModel.from_pretrained(alone, tmp_path, key_mapping=names))
    torch.testing.assert_close(found, logits(PeftModel.from_pretrained(oracle_of(folder), tmp_path)))
    assert (found - logits(oracle_of(folder))).abs().max() > 0.1


@pytest.mark.parametrize("prefix", ["model", "model.language_model", "language_model.model"])
def test_an_adapter_is_read_under_each_name_that_its_modules_have_elsewhere(prefix, folder, adapter):
    """Patterns name modules as the file does."""
    config = config_of(folder)
    before = read_peft(adapter, config)
    settings = json.loads((adapter / "adapter_config.json").read_text())
    assert list(settings["alpha_pattern"].values()) == [20.0]
    settings["alpha_pattern"] = {rf"{prefix}.{Q}".replace(".", r"\."): 20.0}
    (adapter / "adapter_config.json").write_text(json.dumps(settings))
    file = adapter / "adapter_model.safetensors"
    tensors = load_file(file)
    assert f"base_model.model.model.language_model.{Q}.lora_A.weight" in tensors
    save_file({name.replace("model.language_model", prefix): x for name, x in tensors.items()}, file)
    after = read_peft(adapter, config)
    assert before.modules.keys() == after.modules.keys()
    for key, lora in before.modules.items():
        assert torch.equal(lora.a, after.modules[key].a)
        assert torch.equal(lora.b, after.modules[key].b)
        assert lora.scale == after.modules[key].scale


def test_a_module_under_two_names_is_refused(folder, adapter):
    file = adapter / "adapter_model.safetensors"
    tensors = load_file(file)
    twice = {f"base_model.model.model.{Q}.lora_{x}.weight": torch.zeros(4, 4) for x in "AB"}
    save_file({**tensors, **twice}, file)
    with pytest.raises(EngineError, match="layer 1 q_proj under two names"):
        read_peft(adapter, config_of(folder))


def test_an_adapter_of_the_tower_is_left_out_where_it_changes_nothing_and_refused_where_it_does(
    model_folders, tmp_path
):
    """peft gives the tower of Gemma 3 modules by the names of those of a layer."""
    folder = model_folders("gemma3_whole")
    model = get_peft_model(oracle_of(folder), LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"]))
    parameters = dict(model.named_parameters())
    for name in [name for name in parameters if "lora_B" in name and "language_model" in name]:
        torch.nn.init.normal_(parameters[name], std=0.1)
    model.save_pretrained(tmp_path / "text")
    modules = read_peft(tmp_path / "text", config_of(folder)).modules
    assert modules.keys() == {(layer, module) for layer in range(4) for module in ("q_proj", "v_proj")}
    [of_tower, _] = [name for name in parameters if "lora_B" in name and "vision_tower" in name]
    torch.nn.init.normal_(parameters[of_tower], std=0.1)
    model.save_pretrained(tmp_path / "pictures")
    with pytest.raises(EngineError, match=r"changes .*vision_tower\..*what reads pictures is frozen"):
        read_peft(tmp_path / "pictures", config_of(folder))


def test_a_merged_export_has_the_tower_as_it_was(folder, adapter, tmp_path):
    whole = shutil.copytree(folder, tmp_path / "whole")
    processors = ("preprocessor_config.json", "processor_config.json", "video_preprocessor_config.json")
    for name in processors:
        (whole / name).write_text(f'{{"of": "{name}"}}')
    out = write_merged(whole, adapter, tmp_path / "out")
    before, after = load_file(whole / WEIGHTS), load_file(out / WEIGHTS)
    assert before.keys() == after.keys()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert len(changed) == len(read_peft(adapter, config_of(folder)).modules)
    assert all("language_model" in name for name in changed)
    for name in processors:
        assert (out / name).read_bytes() == (whole / name).read_bytes()


def test_a_merged_export_reads_pictures(model_folders, tmp_path):
    """Pictures change its logits as they change those of peft's model."""
    folder = model_folders("gemma3_whole")
    config = config_of(folder)
    (tmp_path / "adapter").mkdir()
    write_peft(tmp_path / "adapter", drawn_lora(config), "base", config)
    merged = oracle_of(write_merged(folder, tmp_path / "adapter", tmp_path / "out"))
    ids = torch.arange(20)[None]
    ids[:, 3:7] = 300

    def seen(model, picture):
        model.config.image_token_id = 300
        with torch.inference_mode():
            return model(ids, pixel_values=picture).logits

    one, other = torch.randn(2, 1, 3, 28, 28, generator=torch.Generator().manual_seed(3))
    expected = seen(PeftModel.from_pretrained(oracle_of(folder), tmp_path / "adapter"), one)
    torch.testing.assert_close(seen(merged, one), expected, rtol=0, atol=1e-4)
    assert (seen(merged, other) - expected).abs().max() > 0.01


def test_another_format_is_said_in_each_part_of_the_config(folder, adapter, tmp_path):
    out = write_merged(folder, adapter, tmp_path / "out", "bfloat16")
    config = json.loads((out / "config.json").read_text())
    parts = [config, config["text_config"], config["vision_config"]]
    assert [part["dtype"] for part in parts] == ["bfloat16"] * 3
    assert {tensor.dtype for tensor in load_file(out / WEIGHTS).values()} == {torch.bfloat16}
    assert oracle_of(out, "auto").dtype == torch.bfloat16
