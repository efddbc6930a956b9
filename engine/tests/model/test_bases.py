"""Which references are one base model."""

import os

from tests.training.jobs_support import cpu_bases


def test_links_to_a_folder_and_its_spellings_are_one_base(model_folders, tmp_path):
    folder = model_folders("qwen3")
    link = tmp_path / "link"
    link.symlink_to(folder)
    bases = cpu_bases()
    first = bases.resolve({"name": "first", "path": str(folder)})
    for path in [f"{folder}/.", f"{folder.parent}/./{folder.name}", str(link), os.path.relpath(folder)]:
        assert bases.resolve({"name": path, "path": path}) is first
