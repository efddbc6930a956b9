"""References that name the same base model, and references that are refused."""

import json
import os
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from heddle_engine.bases import Base
from heddle_engine.errors import EngineError
from tests.models import make_model, oracle_of
from tests.training.jobs_support import cpu_bases

CPU = torch.device("cpu")


def test_links_to_a_folder_and_its_spellings_are_one_base(model_folders, tmp_path):
    folder = model_folders("qwen3")
    link = tmp_path / "link"
    link.symlink_to(folder)
    bases = cpu_bases()
    first = bases.resolve({"name": "first", "path": str(folder)})
    for path in [f"{folder}/.", f"{folder.parent}/./{folder.name}", str(link), os.path.relpath(folder)]:
        assert bases.resolve({"name": path, "path": path}) is first


def test_a_folder_without_safetensors_is_refused_before_it_is_used(model_folders, tmp_path):
    folder = shutil.copytree(model_folders("qwen3"), tmp_path / "model")
    for weights in folder.glob("*.safetensors*"):
        weights.unlink()
    with pytest.raises(EngineError, match=r"has no model\.safetensors\. The engine reads safetensors weights only"):
        cpu_bases().resolve({"name": "bare", "path": str(folder)})


@pytest.mark.parametrize(("text", "words"), [("{", "is not JSON: "), ('["a"]', "is not an object")])
def test_a_config_that_is_no_object_is_refused(text, words, model_folders, tmp_path):
    folder = shutil.copytree(model_folders("qwen3"), tmp_path / "model")
    (folder / "config.json").write_text(text)
    with pytest.raises(EngineError, match=words) as caught:
        cpu_bases().resolve({"name": "odd", "path": str(folder)})
    assert (caught.value.kind, caught.value.param) == ("invalid", "base_model")


def without_weights(folder, tmp_path, weight_map):
    """As much of a hub's model as comes first."""
    small = tmp_path / "small"
    shutil.copytree(folder, small, ignore=shutil.ignore_patterns("*.safetensors"))
    (small / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    return small


def test_experts_that_are_stored_together_are_refused_before_weights_are_there(model_folders, tmp_path):
    stacked = {"model.layers.0.mlp.experts.gate_up_proj": "model-00001-of-00002.safetensors"}
    folder = without_weights(model_folders("qwen3_moe"), tmp_path, stacked)
    with pytest.raises(
        EngineError, match=r"no tensor model\.layers\.0\.mlp\.experts\.0\.gate_proj\.weight.*save_pre"
    ) as caught:
        Base("some/model", folder, CPU, torch.float32, from_hub=True)
    assert (caught.value.kind, caught.value.param) == ("invalid", "base_model")


def test_experts_of_gpt_oss_are_together_before_weights_are_there(model_folders, tmp_path):
    stacked = {"model.layers.0.mlp.experts.gate_up_proj_blocks": "model-00001-of-00002.safetensors"}
    folder = without_weights(model_folders("gpt_oss"), tmp_path, stacked)
    assert Base("some/model", folder, CPU, torch.float32, from_hub=True).config.mixture.storage == "gpt_oss"


def test_experts_of_their_own_are_found_in_the_index(model_folders, tmp_path):
    """The first layer with experts is the third."""
    own = {"model.layers.2.mlp.experts.0.gate_proj.weight": "model-00001-of-00002.safetensors"}
    folder = without_weights(make_model("qwen3_moe", tmp_path / "model", mlp_only_layers=[0, 1]), tmp_path, own)
    assert Base("some/model", folder, CPU, torch.float32, from_hub=True).config.mixture.layers == {2}


@pytest.mark.parametrize("weight_map", [["model.safetensors"], {"model.norm.weight": ["model.safetensors"]}])
def test_an_index_that_names_no_files_is_refused(weight_map, model_folders, tmp_path):
    folder = without_weights(model_folders("qwen3"), tmp_path, weight_map)
    with pytest.raises(EngineError, match=r"model\.safetensors\.index\.json is no index of safetensors files"):
        cpu_bases().resolve({"name": "broken", "path": str(folder)})


def test_an_index_that_names_a_file_of_another_folder_is_refused(model_folders, tmp_path):
    """Else a model of the hub could read the weights of others, and an export would write beside its folder."""
    shutil.copy(model_folders("qwen3") / "model.safetensors", tmp_path / "others.safetensors")
    folder = without_weights(model_folders("qwen3"), tmp_path, {"model.norm.weight": "../others.safetensors"})
    with pytest.raises(EngineError, match=r"is no index of safetensors files.*files of its folder") as caught:
        cpu_bases().resolve({"name": "nosy", "path": str(folder)})
    assert (caught.value.kind, caught.value.param) == ("invalid", "base_model")


@pytest.mark.parametrize("shards_are_left", [True, False])
def test_an_index_that_an_earlier_save_left_does_not_count(shards_are_left, model_folders, tmp_path):
    """As in transformers, whose `save_pretrained` leaves the index of shards where one file takes their place."""
    folder, shard = make_model("qwen3", tmp_path / "model", seed=1), "model-00001-of-00001.safetensors"
    earlier = model_folders("qwen3") / "model.safetensors"
    if shards_are_left:
        shutil.copy(earlier, folder / shard)
    places = dict.fromkeys(load_file(earlier), shard)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))
    base = cpu_bases().resolve({"name": "saved again", "path": str(folder)})
    assert torch.equal(base.decoder.embedding, oracle_of(folder).model.embed_tokens.weight)


def without_head(folder, target, **settings):
    """A copy of the model in `folder` whose files hold no head, and whose config has these `settings`; None: not."""
    shutil.copytree(folder, target)
    tensors = load_file(target / "model.safetensors")
    tensors = {name: tensor for name, tensor in tensors.items() if "lm_head" not in name}
    save_file(tensors, target / "model.safetensors", {"format": "pt"})
    config = json.loads((target / "config.json").read_text()) | settings
    config = {name: value for name, value in config.items() if value is not None}
    (target / "config.json").write_text(json.dumps(config))
    return target


@pytest.mark.parametrize("said", [False, None])
@pytest.mark.parametrize("kind", ["llama", "qwen3_5_whole"])
def test_a_head_that_is_neither_there_nor_the_embedding_is_refused(kind, said, model_folders, tmp_path):
    """transformers draws a random one, and warns of it."""
    folder = without_head(model_folders(kind), tmp_path / "model", tie_word_embeddings=said)
    reason = r"no tensor lm_head\.weight, and its config\.json does not say .*tie_word_embeddings"
    with pytest.raises(EngineError, match=reason) as caught:
        cpu_bases().load({"name": "headless", "path": str(folder)})
    assert (caught.value.kind, caught.value.param) == ("invalid", "base_model")


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("llama3", {}),
        # The hub's configs of Gemma leave it to the default.
        ("gemma", {"tie_word_embeddings": None}),
        ("gemma3_whole", {"tie_word_embeddings": None}),
        ("qwen3_5_whole", {"tie_word_embeddings": True}),
    ],
)
def test_the_embedding_is_the_head_where_the_config_or_the_family_says_so(kind, settings, model_folders, tmp_path):
    folder = without_head(model_folders(kind), tmp_path / "model", **settings)
    decoder = cpu_bases().load({"name": "tied", "path": str(folder)}).decoder
    assert torch.equal(decoder.head.weight, decoder.embedding)


def test_the_fingerprint_knows_the_template_for_tools(model_folders, tmp_path):
    folder = shutil.copytree(model_folders("qwen3"), tmp_path / "model")
    before = Base("model", folder, CPU, torch.float32).fingerprint
    (folder / "additional_chat_templates").mkdir()
    (folder / "additional_chat_templates" / "tool_use.jinja").write_text("{{ tools }}")
    assert Base("model", folder, CPU, torch.float32).fingerprint != before
