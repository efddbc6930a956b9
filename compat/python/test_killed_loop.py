"""ART's RL loop with vLLM as what samples and two processes that train, each killed again and again.

By name only (`npm test -- killed-loop`): vLLM is large, and each of its starts takes half a minute.
"""

import asyncio
import os
import random
import re
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import permutations
from pathlib import Path
from typing import Any

import art
import pytest
from openai import AsyncOpenAI

from art_session import backend_for, new_model
from covers import covers
from started_server import server_process
from wire import call

VLLM_PYTHON = os.environ.get("HEDDLE_VLLM_PYTHON")
pytestmark = pytest.mark.skipif(VLLM_PYTHON is None, reason="run it with npm test -- killed-loop")

KILLS = 10
"""Of vLLM, and of the worker that trains beside the engine."""
GROUPS, ATTEMPTS = 12, 8
LEARNING_RATE = 4e-3
ROUNDS_AFTERWARDS = 8
"""Most rounds after the last kill, until the reward has risen."""
ENOUGH = 0.2
SAMPLER, TRAINER = "heddle_engine.serving.vllm.worker", "heddle_engine.training.workers"
WORDS = ("red", "green", "blue", "black", "white", "pink", "brown", "gold")
QUESTIONS = [" ".join(words) for words in permutations(WORDS, 3)]


@covers("art-killed")
@pytest.mark.timeout_s(1800)
async def test_the_loop_goes_on_whatever_process_is_killed(name: str, tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    settings = {"HEDDLE_SAMPLER": "vllm", "HEDDLE_VLLM_PYTHON": VLLM_PYTHON or "", "HEDDLE_ENGINE_TRAINERS": "2"}
    with server_process(**settings) as process:
        server = process.start()
        backend = backend_for(server)
        model = new_model(name, tmp_path)
        await model.register(backend)
        # vLLM's next start takes longer than the two tries that the client makes by itself.
        client = AsyncOpenAI(base_url=model.inference_base_url, api_key=model.inference_api_key, max_retries=30)
        rewards: list[float] = []
        while len(rewards) < KILLS or (rewards[-1] < rewards[0] + ENOUGH and len(rewards) < KILLS + ROUNDS_AFTERWARDS):
            number = len(rewards)
            is_killing = number < KILLS
            async with killing(process.pid, SAMPLER if is_killing else None, chance.uniform(0, 4)):
                groups = await rollouts(client, model, number)
            async with killing(process.pid, TRAINER if is_killing else None, chance.uniform(0, 1.5)):
                result = await backend.train(model, groups, learning_rate=LEARNING_RATE)
            assert result.step == number + 1
            rewards.append(mean(groups))
            print(f"round {number}: {rewards[-1]:.3f}")
        assert await model.get_step() == len(rewards)
        for job in call(server, "GET", "/v1/preview/training-jobs").json["data"]:
            assert job["status"] == "succeeded"
            events = call(server, "GET", f"/v1/preview/training-jobs/{job['id']}/events").json["data"]
            kinds = Counter(event["type"] for event in events)
            assert kinds["gradient_step"] == job["gradient_steps"] == job["expected_gradient_steps"]
            assert kinds["training_ended"] == 1
        for step in range(len(rewards) + 1):
            question = {"role": "user", "content": "Reverse: red green blue"}
            assert (await answer(client, model.get_inference_name(step), question)).message.content
        await backend.close()
    assert rewards[-1] >= rewards[0] + ENOUGH


async def rollouts(client: AsyncOpenAI, model: art.TrainableModel, number: int) -> list[art.TrajectoryGroup]:
    questions = random.Random(number).sample(QUESTIONS, GROUPS)
    return await asyncio.gather(*(group_of(client, model, question) for question in questions))


async def group_of(client: AsyncOpenAI, model: art.TrainableModel, words: str) -> art.TrajectoryGroup:
    return await art.TrajectoryGroup(rollout(client, model, words) for _ in range(ATTEMPTS))


async def rollout(client: AsyncOpenAI, model: art.TrainableModel, words: str) -> art.Trajectory:
    question: Any = {"role": "user", "content": f"Reverse: {words}"}
    choice = await answer(client, model.get_inference_name(), question)
    wanted = " ".join(reversed(words.split()))
    return art.Trajectory(messages_and_choices=[question, choice], reward=float(choice.message.content == wanted))


async def answer(client: AsyncOpenAI, model: str, question: Any) -> Any:
    completion = await client.chat.completions.create(model=model, messages=[question], max_completion_tokens=24)
    (choice,) = completion.choices
    return choice


def mean(groups: list[art.TrajectoryGroup]) -> float:
    rewards = [trajectory.reward for group in groups for trajectory in group]
    return sum(rewards) / len(rewards)


@asynccontextmanager
async def killing(server: int, module: str | None, after_s: float) -> AsyncIterator[None]:
    """Kills a process of ``module`` below ``server`` while the block runs, or right after it."""

    async def kill() -> None:
        await asyncio.sleep(after_s)
        while not (found := [pid for pid in below(server) if module is not None and runs(pid, module)]):
            await asyncio.sleep(0.05)
        os.kill(found[0], signal.SIGKILL)

    if module is None:
        yield
        return
    killed = asyncio.create_task(kill())
    yield
    await killed


def below(pid: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int(re.sub(r"^.*\) ", "", (folder / "stat").read_text(), flags=re.DOTALL).split()[1])
        except OSError:
            continue
        parents.setdefault(parent, []).append(int(folder.name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def runs(pid: int, module: str) -> bool:
    try:
        return module in Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return False
