"""The engine keeps the import directions of pyproject.toml, and a violation is reported."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ENGINE = Path(__file__).resolve().parents[1]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--config", "pyproject.toml"]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_directions_hold():
    result = lint(ENGINE)
    assert result.returncode == 0, result.stdout


def test_serving_that_imports_training_is_reported(tmp_path):
    shutil.copy(ENGINE / "pyproject.toml", tmp_path)
    shutil.copytree(ENGINE / "heddle_engine", tmp_path / "heddle_engine", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "heddle_engine" / "serving" / "sampling.py").open("a") as file:
        file.write("from ..training.loss import policy_loss\n")
    result = lint(tmp_path)
    assert result.returncode == 1
    assert "heddle_engine.serving is not allowed to import heddle_engine.training" in result.stdout
