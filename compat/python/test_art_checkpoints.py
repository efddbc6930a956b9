"""Keeping, deleting and logging steps with openpipe-art."""

import json
from pathlib import Path
from typing import Any

import art
import openai
import pytest

from art_session import QUESTION, group_with, registered, train_once
from covers import covers
from started_server import Server


async def steps_of(backend: Any, model: Any) -> list[int]:
    listed = backend._client.models.checkpoints.list(model_id=model.id)
    return [checkpoint.step async for checkpoint in listed]


@covers("art-delete-checkpoints")
async def test_only_the_best_and_the_newest_step_are_kept(server: Server, name: str, tmp_path: Path) -> None:
    async with registered(server, name, tmp_path) as (backend, model):
        for step, reward in ((1, 0.9), (2, 0.1), (3, 0.5)):
            assert (await train_once(backend, model)).step == step
            validated = art.TrajectoryGroup([art.Trajectory(messages_and_choices=QUESTION, reward=reward)])
            await model.log([validated], split="val", step=step)
        await model.delete_checkpoints(best_checkpoint_metric="val/reward")
        assert await steps_of(backend, model) == [1, 3]
        assert await model.get_step() == 3
        with pytest.raises(openai.NotFoundError):
            await model.openai_client().chat.completions.create(
                model=model.get_inference_name(2), messages=QUESTION, max_completion_tokens=4
            )
        assert (await train_once(backend, model)).step == 4, "numbers are never used again"


@covers("art-delete-checkpoints-answer")
async def test_deleting_steps_counts_and_names_what_was_missing(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        await train_once(backend, model)
        delete = backend._client.models.checkpoints.delete
        answer = await delete(model_id=model.id, steps=[0, 77])
        assert (answer.deleted_count, answer.not_found_steps) == (1, [77])
        again = await delete(model_id=model.id, steps=[0, 77])
        assert (again.deleted_count, again.not_found_steps) == (0, [0, 77])


@covers("art-log")
async def test_log_writes_its_files_at_the_step_of_the_server(server: Server, name: str, tmp_path: Path) -> None:
    async with registered(server, name, tmp_path) as (backend, model):
        await train_once(backend, model)
        group = await group_with(model.openai_client(), model, [0.0, 1.0])
        await model.log([group], split="val")
    (history,) = tmp_path.rglob("history.jsonl")
    (row,) = [json.loads(line) for line in history.read_text().splitlines()]
    assert row["step"] == 1
    assert row["val/reward"] == 0.5
    assert [path.name for path in tmp_path.rglob("*.parquet")] == ["0001.parquet"]


@covers("art-delete-model")
async def test_a_deleted_model_is_gone(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        await train_once(backend, model)
        await backend.delete(model)
        with pytest.raises(openai.NotFoundError):
            await model.get_step()
        with pytest.raises(openai.NotFoundError):
            await model.openai_client().chat.completions.create(
                model=model.get_inference_name(), messages=QUESTION, max_completion_tokens=4
            )
