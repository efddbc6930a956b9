"""PipelineTrainer of ART: rollouts, training and evaluations side by side, each at the step that it is about."""

import itertools
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import art
import pytest
from art.pipeline_trainer import PipelineRuntimeConfig, PipelineTrainer, make_group_rollout_fn

from art_session import QUESTION, registered
from covers import covers
from started_server import Server

STEPS = 2


@pytest.fixture(autouse=True)
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets PipelineTrainer ask whether its backend is the one that trains on this machine, whose module needs torch.

    Nothing else of that module is used with the serverless backend.
    """
    if find_spec("torch") is None:
        module = ModuleType("art.local.backend")
        monkeypatch.setattr(module, "LocalBackend", type("LocalBackend", (), {}), raising=False)
        monkeypatch.setitem(sys.modules, module.__name__, module)


async def answered(model: art.TrainableModel, seed: int, stream: bool) -> art.Trajectory:
    """A rollout or an evaluation; both ask for the step that the trainer holds for them."""
    with art.Trajectory(reward=0.0) as trajectory:
        answer: Any = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=QUESTION, max_completion_tokens=8, seed=seed, stream=stream
        )
        if stream:
            async for _ in answer:
                pass
    (exchange,) = trajectory.exchanges.chat_completions
    trajectory.reward = sum(exchange.response.choices[0].token_ids) % 101 / 100
    return trajectory


@covers("art-pipeline")
@pytest.mark.parametrize("stream", [False, True])
async def test_a_pipeline_trains_and_evaluates_every_step(
    server: Server, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], stream: bool
) -> None:
    seeds = itertools.count()

    async def rollout(model: art.TrainableModel, _scenario: int, _config: None) -> art.Trajectory:
        return await answered(model, next(seeds), stream)

    async def evaluate(model: art.TrainableModel, _step: int, _config: None) -> list[art.Trajectory]:
        return [await answered(model, seed, stream) for seed in range(2)]

    async with registered(server, name, tmp_path) as (backend, model):
        trainer = PipelineTrainer(
            model,
            backend,
            make_group_rollout_fn(rollout, n=4),
            itertools.count(),
            None,
            evaluate,
            pipeline=PipelineRuntimeConfig(num_rollout_workers=2, min_batch_size=1, max_batch_size=1),
            learning_rate=1e-3,
            max_steps=STEPS,
            eval_every_n_steps=1,
        )
        await trainer.train(handle_signals=False)
        assert await model.get_step() == STEPS
    assert "failed" not in capsys.readouterr().out
    (history,) = tmp_path.rglob("history.jsonl")
    rows = [json.loads(line) for line in history.read_text().splitlines()]
    assert sorted({row["step"] for row in rows if "val/reward" in row}) == list(range(STEPS + 1))
    trained = [row for row in rows if "loss/grad_norm" in row]
    assert [row["step"] for row in trained] == list(range(1, STEPS + 1))
    assert all(row["loss/grad_norm"] > 0 for row in trained)
    assert all(row["offpolicy/token_weighted_policy_age_steps"] >= 0 for row in trained)
