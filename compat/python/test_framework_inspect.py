"""Inspect evaluates a small task: its samples are asked over chat, scored and logged."""

from pathlib import Path

import inspect_ai
import pytest
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes, match
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import Tool, tool

from covers import covers
from started_server import Server

MODEL = "openai-api/here/heddle/tiny"


@pytest.fixture(autouse=True)
def settings(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HERE_BASE_URL", server.api)
    monkeypatch.setenv("HERE_API_KEY", server.key)
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    monkeypatch.chdir(tmp_path)


def samples(count: int) -> list[Sample]:
    return [Sample(input=f"{n} + {n} = ?", target=str(2 * n), id=n) for n in range(1, count + 1)]


@covers("inspect-eval")
def test_a_task_is_evaluated() -> None:
    task = Task(dataset=samples(8), solver=generate(), scorer=[includes(), match()])
    (log,) = inspect_ai.eval(task, model=MODEL, display="none", max_tokens=16, seed=7)
    assert log.status == "success", log.error
    assert log.results is not None
    assert log.results.completed_samples == 8
    assert [score.name for score in log.results.scores] == ["includes", "match"]
    assert log.samples is not None
    assert all(sample.output.completion for sample in log.samples)
    assert all(usage.output_tokens > 0 for usage in log.stats.model_usage.values())


@tool
def add() -> Tool:
    async def execute(a: int, b: int) -> int:
        """Adds two numbers.

        Args:
            a: The first.
            b: The second.
        """
        return a + b

    return execute


@covers("inspect-tools")
def test_a_task_with_a_tool_is_evaluated() -> None:
    solver = [use_tools(add(), tool_choice="any"), generate(tool_calls="single")]
    task = Task(dataset=samples(2), solver=solver, scorer=includes())
    (log,) = inspect_ai.eval(task, model=MODEL, display="none", max_tokens=64, seed=7)
    assert log.status == "success", log.error
    assert log.samples is not None
    for sample in log.samples:
        assert any(message.role == "tool" for message in sample.messages)
