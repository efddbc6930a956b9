"""Verifiers evaluates an environment: rollouts over chat, rewards by a rubric."""

from typing import Any

import pytest
import verifiers as vf
from datasets import Dataset

from covers import covers
from started_server import Server

ROWS = [{"prompt": [{"role": "user", "content": f"{n} + {n} = ?"}], "answer": str(2 * n)} for n in range(1, 5)]


def length_reward(completion: Any, answer: str, **_: Any) -> float:
    """1 for any text, since the shipped model seldom adds correctly."""
    return 1.0 if completion[-1]["content"] else 0.0


@pytest.fixture
def client(server: Server, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("HERE_API_KEY", server.key)
    return vf.ClientConfig(api_base_url=server.api, api_key_var="HERE_API_KEY")


@covers("verifiers-evaluate")
def test_an_environment_is_evaluated(client: Any) -> None:
    environment = vf.SingleTurnEnv(dataset=Dataset.from_list(ROWS), rubric=vf.Rubric(funcs=[length_reward]))
    results = environment.evaluate_sync(
        client,
        model="heddle/tiny",
        num_examples=4,
        rollouts_per_example=2,
        sampling_args={"max_tokens": 16, "temperature": 1.0},
    )
    assert len(results["outputs"]) == 8
    assert all(output["reward"] == 1.0 for output in results["outputs"])
