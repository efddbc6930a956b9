"""Registers ART models and makes rollouts for them, for all ART suites."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import art
from art.serverless.backend import ServerlessBackend
from openai import AsyncOpenAI

from started_server import Server

ART_VERSION = tuple(int(part) for part in version("openpipe-art").split(".")[:3])
QUESTION: list[Any] = [{"role": "user", "content": "3 + 4 = ?"}]


def backend_for(server: Server, *, key: str | None = None) -> ServerlessBackend:
    return ServerlessBackend(api_key=key or server.key, base_url=server.api)


def new_model(name: str, folder: Path | str = ".art", **fields: Any) -> art.TrainableModel:
    fields = {"project": "compat", "base_model": "heddle/tiny", **fields}
    if ART_VERSION >= (0, 5, 23):
        # From 0.5.23 on, `run_name` is the name on the server; `name` stays with the client.
        fields = {"run_name": name, **fields}
    return art.TrainableModel(name=name, base_path=str(folder), **fields)


@asynccontextmanager
async def registered(
    server: Server, name: str, folder: Path | str = ".art"
) -> AsyncIterator[tuple[ServerlessBackend, art.TrainableModel]]:
    """Yields a backend and a model registered with it; closes the backend's connections afterwards."""
    backend = backend_for(server)
    model = new_model(name, folder)
    await model.register(backend)
    try:
        yield backend, model
    finally:
        await backend.close()


def bare_client(model: art.TrainableModel) -> AsyncOpenAI:
    """The client of user code that does not use ART's managed one, with no flags at all."""
    return AsyncOpenAI(base_url=model.inference_base_url, api_key=model.inference_api_key)


async def rollout(
    client: Any, model: art.TrainableModel, reward: float | None = None, seed: int | None = None
) -> art.Trajectory:
    """One answer to one question. Without `reward`, the reward is computed from the answer's tokens."""
    completion = await client.chat.completions.create(
        model=model.get_inference_name(), messages=QUESTION, max_completion_tokens=16, seed=seed
    )
    (choice,) = completion.choices
    earned = sum(choice.token_ids) % 101 / 100 if reward is None else reward
    return art.Trajectory(messages_and_choices=[*QUESTION, choice], reward=earned)


async def group_with(client: Any, model: art.TrainableModel, rewards: list[float]) -> art.TrajectoryGroup:
    """A group with one rollout per reward, sampled at the same time."""
    return await art.TrajectoryGroup(rollout(client, model, reward) for reward in rewards)


async def varied_group(client: Any, model: art.TrainableModel) -> art.TrajectoryGroup:
    """A group that has something to learn: rewards depend on the answers' tokens alone.

    Rewards set by hand would cancel out whenever the same answer came twice, with 0 and with 1.
    """
    group = await art.TrajectoryGroup(rollout(client, model, seed=seed) for seed in range(8))
    assert len({trajectory.reward for trajectory in group}) > 1, "eight equal answers"
    return group


async def train_once(backend: ServerlessBackend, model: art.TrainableModel) -> Any:
    """Runs one job that has something to learn."""
    group = await varied_group(model.openai_client(), model)
    return await backend.train(model, [group], learning_rate=1e-3)
