"""A registered ART model and rollouts for it, shared by the ART suites."""

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
    return art.TrainableModel(name=name, base_path=str(folder), **fields)


@asynccontextmanager
async def registered(
    server: Server, name: str, folder: Path | str = ".art"
) -> AsyncIterator[tuple[ServerlessBackend, art.TrainableModel]]:
    """A backend and a model registered with it; the backend's connections are closed afterwards."""
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


async def rollout(client: Any, model: art.TrainableModel, reward: float, step: int | None = None) -> art.Trajectory:
    """One answer to one question, with a reward of the caller's choice."""
    completion = await client.chat.completions.create(
        model=model.get_inference_name(step), messages=QUESTION, max_completion_tokens=16
    )
    return art.Trajectory(messages_and_choices=[*QUESTION, completion.choices[0]], reward=reward)


async def group_of(client: Any, model: art.TrainableModel, rewards: list[float], **fields: Any) -> art.TrajectoryGroup:
    """A group with one rollout per reward, sampled at the same time."""
    return await art.TrajectoryGroup((rollout(client, model, reward) for reward in rewards), **fields)


async def train_once(backend: ServerlessBackend, model: art.TrainableModel) -> Any:
    """One job that has something to learn."""
    group = await group_of(model.openai_client(), model, [0.0, 1.0, 0.0, 1.0])
    return await backend.train(model, [group], learning_rate=1e-3)
