"""lm-evaluation-harness, unmodified: likelihood tasks through `local-completions`."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

# Set before the libraries load and read them; the tasks need nothing from the network.
os.environ.update({"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"})

from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager

from covers import covers
from started_server import ROOT, Server

ROWS = {
    "sums": [
        {"question": "4+5=", "choices": ["9\n", "7\n"], "answer": 0},
        {"question": "the rain", "choices": ["e", "z"], "answer": 0},
    ],
    "texts": [{"text": "the rain in spain"}],
}
TASK = """
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
"""
KINDS = {
    "sums": """
output_type: multiple_choice
doc_to_text: "{{question}}"
doc_to_choice: choices
doc_to_target: answer
target_delimiter: ""
metric_list: [{metric: acc}]
""",
    "texts": """
output_type: loglikelihood_rolling
doc_to_text: ""
doc_to_target: "{{text}}"
metric_list: [{metric: byte_perplexity}]
""",
}


@pytest.fixture
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TaskManager:
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    for name, rows in ROWS.items():
        data = tmp_path / f"{name}.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
        (tmp_path / f"{name}.yaml").write_text(TASK.format(name=name, data=data) + KINDS[name])
    return TaskManager(include_path=str(tmp_path), include_defaults=False)


@covers("lm-eval-loglikelihood")
@pytest.mark.parametrize("tokenized", [True, False])
def test_likelihoods_are_those_of_a_plain_forward_pass(
    server: Server, tasks: TaskManager, monkeypatch: pytest.MonkeyPatch, tokenized: bool
) -> None:
    """Prompts are sent as token ids, the harness's default, or as text. Expected values: transformers' forward pass."""
    monkeypatch.setenv("OPENAI_API_KEY", server.key)
    found: Any = simple_evaluate(
        model="local-completions",
        model_args={
            "model": "heddle/tiny",
            "base_url": f"{server.api}/completions",
            "tokenizer": str(ROOT / "engine/models/heddle-tiny"),
            "tokenizer_backend": "huggingface",
            "tokenized_requests": tokenized,
            "max_length": 2048,
            "max_retries": 1,
        },
        tasks=["sums", "texts"],
        task_manager=tasks,
        batch_size=2 if tokenized else 1,
        log_samples=True,
        bootstrap_iters=0,
    )
    first, second = found["samples"]["sums"]
    assert read(first) == [(pytest.approx(-16.2288, abs=1e-3), False), (pytest.approx(-15.2997, abs=1e-3), False)]
    assert read(second)[0] == (pytest.approx(-0.0011, abs=1e-3), True)
    assert read(second)[1][1] is False
    assert [first["acc"], second["acc"]] == [0, 1]
    assert found["results"]["texts"]["byte_perplexity,none"] > 1


def read(sample: dict[str, Any]) -> list[tuple[float, bool]]:
    """The log-probability of each choice, and whether it is the likeliest."""
    return [answer for (answer,) in sample["resps"]]
