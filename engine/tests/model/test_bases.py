"""Which references are one base model, and which are none."""

import os
import shutil

import pytest

from heddle_engine.errors import EngineError
from tests.training.jobs_support import cpu_bases


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
