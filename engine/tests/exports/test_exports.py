"""Exports of random models of every architecture are read by transformers, peft and the reader of gguf."""

import json
import re
import shutil

import gguf
import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from heddle_engine.bases import read_config
from heddle_engine.errors import EngineError
from heddle_engine.exports.gguf_file import GgufFile
from heddle_engine.exports.merged_folder import MergedFolder
from heddle_engine.exports.merged_weights import MergedWeights
from heddle_engine.model.config import DecoderConfig
from heddle_engine.model.lora import initial_lora, write_peft
from tests.models import CONFIGS, HYBRIDS, WHOLES, make_model, oracle_of

IDS = torch.arange(20, 60)[None]
ARCHITECTURES = {
    "qwen2": gguf.MODEL_ARCH.QWEN2,
    "qwen3": gguf.MODEL_ARCH.QWEN3,
    "qwen3_moe": gguf.MODEL_ARCH.QWEN3MOE,
}
NOT_IN_GGUF = ["gemma", "gemma3", "gpt_oss", *HYBRIDS, *(kind for kind in WHOLES if kind not in HYBRIDS)]
GGUF_KINDS = [kind for kind in CONFIGS if kind not in ("qwen3_moe_mixed", *NOT_IN_GGUF)]


@pytest.fixture(scope="module")
def adapters(model_folders, tmp_path_factory):
    """`adapters(kind)` makes a PEFT folder in which every module changes the model."""
    made = {}

    def adapter(kind):
        if kind not in made:
            made[kind] = tmp_path_factory.mktemp(f"adapter-{kind}")
            config = config_of(model_folders(kind))
            weights = initial_lora(config, rank=4, alpha=8.0, seed=1)
            generator = torch.Generator().manual_seed(2)
            for lora in weights.modules.values():
                lora.b.normal_(0, 0.05, generator=generator)
            write_peft(made[kind], weights, "base", config)
        return made[kind]

    return adapter


def config_of(folder):
    return DecoderConfig.from_hf(read_config(folder))


def merged(folder, adapter, dtype=None):
    return MergedWeights(folder, config_of(folder), adapter, dtype)


def write_merged(folder, adapter, out, dtype=None):
    out.mkdir()
    MergedFolder(folder, merged(folder, adapter, dtype), dtype).write(out)
    return out


def write_gguf(folder, adapter, out, dtype="float32"):
    GgufFile(folder, config_of(folder), merged(folder, adapter, dtype), "a title").write(out)
    return gguf.GGUFReader(out)


def logits(model):
    with torch.no_grad():
        return model.eval()(IDS).logits


def with_peft(folder, adapter):
    from peft import PeftModel

    return logits(PeftModel.from_pretrained(oracle_of(folder), adapter))


@pytest.mark.parametrize("kind", CONFIGS)
def test_merged_weights_compute_in_transformers_what_peft_computes(kind, model_folders, adapters, tmp_path):
    folder, adapter = model_folders(kind), adapters(kind)
    out = write_merged(folder, adapter, tmp_path / "out")
    expected = with_peft(folder, adapter)
    torch.testing.assert_close(logits(oracle_of(out)), expected, rtol=0, atol=1e-4)
    assert (logits(oracle_of(folder)) - expected).abs().max() > 0.1
    assert load_file(out / "model.safetensors").keys() == load_file(folder / "model.safetensors").keys()


def test_without_an_adapter_or_another_dtype_every_tensor_is_the_base_models(model_folders, tmp_path):
    folder = model_folders("qwen3")
    out = write_merged(folder, None, tmp_path / "out")
    before, after = load_file(folder / "model.safetensors"), load_file(out / "model.safetensors")
    assert all(torch.equal(before[name], after[name]) for name in before)
    names = {file.name for file in out.iterdir()}
    assert names == {file.name for file in folder.iterdir()}


def test_several_chat_templates_leave_with_the_model_as_files_alone(model_folders, tmp_path):
    folder = shutil.copytree(model_folders("qwen3"), tmp_path / "model")
    writer = AutoTokenizer.from_pretrained(folder)
    writer.chat_template = {"default": "plain é", "tool_use": "with tools", "rag": "other"}
    writer.save_pretrained(folder)
    assert (folder / "additional_chat_templates").is_dir()
    out = write_merged(folder, None, tmp_path / "out")
    assert all(file.is_file() for file in out.iterdir())
    read = AutoTokenizer.from_pretrained(out)
    assert read.chat_template == writer.chat_template
    assert (read("the rain")["input_ids"], read.eos_token) == (writer("the rain")["input_ids"], writer.eos_token)


def test_another_dtype_is_said_in_the_config_and_held_by_every_tensor(model_folders, adapters, tmp_path):
    out = write_merged(model_folders("qwen3"), adapters("qwen3"), tmp_path / "out", "bfloat16")
    exact = merged(model_folders("qwen3"), adapters("qwen3"), "float32")
    tensors = load_file(out / "model.safetensors")
    assert {tensor.dtype for tensor in tensors.values()} == {torch.bfloat16}
    assert all(torch.equal(tensors[entry.name], exact.read(entry).bfloat16()) for entry in exact.entries)
    assert json.loads((out / "config.json").read_text())["dtype"] == "bfloat16"


def test_shards_stay_shards_and_the_index_names_them(model_folders, adapters, tmp_path):
    folder = tmp_path / "sharded"
    folder.mkdir()
    for file in model_folders("qwen2").iterdir():
        if file.suffix != ".safetensors":
            (folder / file.name).write_bytes(file.read_bytes())
    tensors = load_file(model_folders("qwen2") / "model.safetensors")
    names = sorted(tensors)
    places = {name: f"model-0000{1 + index % 2}-of-00002.safetensors" for index, name in enumerate(names)}
    for shard in set(places.values()):
        part = {name: tensors[name] for name in names if places[name] == shard}
        save_file(part, folder / shard, {"format": "pt"})
    index = {"metadata": {"total_size": 1}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    out = write_merged(folder, adapters("qwen2"), tmp_path / "out")
    written = json.loads((out / "model.safetensors.index.json").read_text())
    assert written["weight_map"] == places
    assert written["metadata"]["total_size"] == sum(tensor.nbytes for tensor in tensors.values())
    torch.testing.assert_close(logits(oracle_of(out)), with_peft(folder, adapters("qwen2")), rtol=0, atol=1e-4)


def test_a_value_that_float16_cannot_hold_is_named_instead_of_becoming_infinite(model_folders, tmp_path):
    folder = tmp_path / "large"
    folder.mkdir()
    for file in model_folders("qwen3").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    tensors = load_file(folder / "model.safetensors")
    tensors["model.norm.weight"][3] = 70_000
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(EngineError, match=r"Tensor model\.norm\.weight holds 70000, which float16 .* bfloat16"):
        write_merged(folder, None, tmp_path / "out", "float16")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("kind", GGUF_KINDS)
def test_gguf_holds_each_merged_tensor_rounded_once(kind, dtype, model_folders, adapters, tmp_path):
    """Norms, biases and routers are fp32; queries and keys of Llama are turned back before they are compared."""
    folder, adapter = model_folders(kind), adapters(kind)
    exact = merged(folder, adapter, "float32")
    config = config_of(folder)
    found = {tensor.name: tensor for tensor in write_gguf(folder, adapter, tmp_path / "x.gguf", dtype).tensors}
    architecture = ARCHITECTURES.get(kind, gguf.MODEL_ARCH.LLAMA)
    names = gguf.get_tensor_name_map(architecture, config.num_layers)
    seen = set()
    for entry in exact.entries:
        stacked, expert = re.subn(r"\.experts\.\d+\.", ".experts.", entry.name)
        name = names.get_name(stacked, try_suffixes=(".weight", ".bias"))
        seen.add(name)
        have = torch.tensor(values(found[name]))
        if expert:
            have = have[int(entry.name.split(".")[5])]
        want = exact.read(entry)
        if len(entry.shape) > 1 and ".mlp.gate." not in entry.name:
            want = want.to(getattr(torch, dtype)).float()
        have = have.reshape(entry.shape)
        if architecture is gguf.MODEL_ARCH.LLAMA and ("q_proj" in entry.name or "k_proj" in entry.name):
            heads = config.num_heads if "q_proj" in entry.name else config.num_kv_heads
            have = have.reshape(heads, -1, 2, *entry.shape[1:]).transpose(1, 2).reshape(entry.shape)
        assert torch.equal(have, want), entry.name
    assert set(found) - seen == ({"rope_freqs.weight"} if kind == "llama3" else set())


def values(tensor):
    """The tensor's values in fp32; the reader returns bfloat16 as raw bytes."""
    if tensor.tensor_type == gguf.GGMLQuantizationType.BF16:
        return (tensor.data.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return tensor.data.astype(np.float32)


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3", "qwen3_moe"])
def test_transformers_computes_from_gguf_what_peft_computes(kind, adapters, tmp_path):
    from transformers import AutoConfig, AutoModelForCausalLM

    # transformers reads from GGUF neither a scaling of positions nor a size of heads other than its default.
    plain = {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}, "tie_word_embeddings": True}
    folder = make_model(kind, tmp_path / "model", **plain, **({"attention_bias": False} if kind == "llama" else {}))
    write_gguf(folder, adapters(kind), tmp_path / "x.gguf")
    expected = with_peft(folder, adapters(kind))
    config = AutoConfig.from_pretrained(folder)
    found = AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file="x.gguf", config=config, dtype=torch.float32)
    torch.testing.assert_close(logits(found), expected, rtol=0, atol=1e-4)


def test_gguf_says_how_the_model_is_built_and_how_text_is_cut(model_folders, adapters, tmp_path):
    reader = write_gguf(model_folders("llama3"), adapters("llama3"), tmp_path / "x.gguf")
    told = {name: field.contents() for name, field in reader.fields.items()}
    expected = {
        "general.architecture": "llama",
        "general.name": "a title",
        "general.file_type": 0,
        "llama.block_count": 3,
        "llama.context_length": 512,
        "llama.embedding_length": 64,
        "llama.feed_forward_length": 96,
        "llama.attention.head_count": 4,
        "llama.attention.head_count_kv": 2,
        "llama.attention.key_length": 16,
        "llama.rope.dimension_count": 16,
        "llama.rope.freq_base": 10000.0,
        "llama.vocab_size": 320,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.add_bos_token": False,
    }
    assert {name: told[name] for name in expected} == expected
    tokens = told["tokenizer.ggml.tokens"]
    assert tokens[told["tokenizer.ggml.eos_token_id"]] == "<|im_end|>"
    assert told["tokenizer.chat_template"] == (model_folders("llama3") / "chat_template.jinja").read_text()
    factors = next(tensor.data for tensor in reader.tensors if tensor.name == "rope_freqs.weight")
    # Factor 1 for wavelengths below 16 tokens, factor 8 for those above 64, and one wavelength between.
    np.testing.assert_allclose(factors, [1, 1.52542, 8, 8, 8, 8, 8, 8], rtol=0.2)


def test_gguf_has_the_tokens_that_the_tokenizers_config_alone_lists(tmp_path):
    """As the models of tokenizers that were extended before they were written to one file."""
    folder = make_model("qwen3", tmp_path / "model")
    described = json.loads((folder / "tokenizer.json").read_text())
    [last] = [token for token in described["added_tokens"] if token["id"] == 319]
    described["added_tokens"].remove(last)
    (folder / "tokenizer.json").write_text(json.dumps(described))
    config = json.loads((folder / "tokenizer_config.json").read_text())
    del last["id"]
    listed = {"319": {**last, "content": "<|over|>", "special": True}}
    (folder / "tokenizer_config.json").write_text(
        json.dumps({**config, "added_tokens_decoder": listed, "eos_token": "<|over|>"})
    )
    assert AutoTokenizer.from_pretrained(folder).convert_tokens_to_ids("<|over|>") == 319
    fields = write_gguf(folder, None, tmp_path / "x.gguf").fields
    told = {name: fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "token_type", "eos_token_id")}
    assert (told["tokens"][319], told["token_type"][319]) == ("<|over|>", gguf.TokenType.CONTROL)
    assert told["eos_token_id"] == 319


def test_gguf_says_how_a_mixture_is_built(model_folders, adapters, tmp_path):
    reader = write_gguf(model_folders("qwen3_moe"), adapters("qwen3_moe"), tmp_path / "x.gguf", "bfloat16")
    told = {name: field.contents() for name, field in reader.fields.items()}
    expected = {
        "general.architecture": "qwen3moe",
        "qwen3moe.expert_count": 8,
        "qwen3moe.expert_used_count": 3,
        "qwen3moe.expert_feed_forward_length": 40,
        "qwen3moe.feed_forward_length": 96,
    }
    assert {name: told[name] for name in expected} == expected
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    shapes = {module: tensors[f"blk.2.ffn_{module}_exps.weight"].shape.tolist() for module in ("gate", "up", "down")}
    # The file names the innermost dimension first.
    assert shapes == {"gate": [64, 40, 8], "up": [64, 40, 8], "down": [40, 64, 8]}
    assert tensors["blk.0.ffn_gate_inp.weight"].tensor_type == gguf.GGMLQuantizationType.F32
    assert tensors["blk.0.ffn_up_exps.weight"].tensor_type == gguf.GGMLQuantizationType.BF16


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"mlp_only_layers": [1]}, r"layer 1 is no mixture of experts \(mlp_only_layers, .*merged weights instead"),
        ({"norm_topk_prob": False}, r"do not add up to 1 \(norm_topk_prob\).*merged weights instead"),
    ],
)
def test_a_mixture_that_gguf_has_no_words_for_is_refused(change, reason, tmp_path):
    folder = make_model("qwen3_moe", tmp_path / "model", **change)
    with pytest.raises(EngineError, match=reason) as caught:
        write_gguf(folder, None, tmp_path / "x.gguf")
    assert (caught.value.kind, caught.value.param) == ("invalid", "format")


@pytest.mark.parametrize("kind", NOT_IN_GGUF)
def test_an_architecture_that_is_not_written_as_gguf_is_refused(kind, model_folders, tmp_path):
    with pytest.raises(EngineError, match=r"not written of the architecture '.*merged weights instead") as caught:
        write_gguf(model_folders(kind), None, tmp_path / "x.gguf")
    assert (caught.value.kind, caught.value.param) == ("invalid", "format")


def test_gguf_says_no_more_context_than_a_sliding_window(model_folders, adapters, tmp_path):
    told = write_gguf(model_folders("mistral"), adapters("mistral"), tmp_path / "x.gguf").fields
    assert told["llama.context_length"].contents() == 40


def test_an_expert_that_lacks_is_named(model_folders, tmp_path):
    folder = shutil.copytree(model_folders("qwen3_moe"), tmp_path / "model")
    tensors = load_file(folder / "model.safetensors")
    del tensors["model.layers.1.mlp.experts.6.down_proj.weight"]
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(EngineError, match=r"hold no tensor model\.layers\.1\.mlp\.experts\.6\.down_proj\.weight"):
        write_gguf(folder, None, tmp_path / "x.gguf")


def test_scalings_of_positions_are_said_or_refused(model_folders, adapters, tmp_path):
    linear = write_gguf(model_folders("mistral"), adapters("mistral"), tmp_path / "linear.gguf").fields
    assert linear["llama.rope.scaling.type"].contents() == "linear"
    assert linear["llama.rope.scaling.factor"].contents() == 2.0
    yarn = write_gguf(model_folders("qwen2"), adapters("qwen2"), tmp_path / "yarn.gguf").fields
    assert yarn["qwen2.rope.scaling.type"].contents() == "yarn"
    assert yarn["qwen2.rope.scaling.original_context_length"].contents() == 128
    special = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 128}
    folder = make_model("qwen2", tmp_path / "special", rope_parameters={**special, "attention_factor": 1.0})
    with pytest.raises(EngineError, match=r"YaRN and attention_factor.*merged weights instead"):
        write_gguf(folder, None, tmp_path / "x.gguf")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model": {"byte_fallback": True}}, "SentencePiece"),
        ({"normalizer": {"type": "Lowercase"}}, "Lowercase"),
        ({"pre_tokenizer": {"type": "WhitespaceSplit"}}, "qwen2, llama-bpe, gpt-2, smollm were tried"),
    ],
)
def test_a_tokenizer_that_gguf_has_no_name_for_is_refused(change, reason, model_folders, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    for file in model_folders("qwen3").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    described = json.loads((folder / "tokenizer.json").read_text())
    for name, value in change.items():
        described[name] = {**described["model"], **value} if name == "model" else value
    (folder / "tokenizer.json").write_text(json.dumps(described))
    with pytest.raises(EngineError, match=reason):
        write_gguf(folder, None, tmp_path / "x.gguf")
