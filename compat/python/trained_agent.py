"""Trains an agent whose program knows nothing of training: attempts with rollout ids, rewards, a job made of both.

`compat/node/trained-agent.ts` does the same for agents in Node.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random

from started_server import Server
from wire import call, create_model

AT_ONCE = 16
GROUPS = 12
"""Questions of a round."""
ATTEMPTS = 8
"""Attempts at each question; of these, answers with a larger reward become likelier."""
LEARNING_RATE = 4e-3
ROUNDS = 16
"""Most rounds there are; an agent that learns needs about half of them."""
ROUNDS_BETWEEN_MEASUREMENTS = 4
ANSWERS_MEASURED = 120
ENOUGH = 0.2
"""A rise of the reward that is not chance: the error of a measurement is about 0.06."""


@dataclass(frozen=True)
class Attempt:
    """A question to an agent, its model, a seed, and headers for each of its calls."""

    question: str
    model: str
    seed: int
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Course:
    """An agent, the reward of an answer, questions to train on, and held-out questions to measure with."""

    agent: Callable[[Server, Attempt], str]
    reward: Callable[[str, str], float]
    train: list[str]
    held_out: list[str]


def held_out_rewards(server: Server, name: str, course: Course) -> list[float]:
    """Trains a new model until it is better by ENOUGH; returns held-out rewards before, between and after."""
    model = create_model(server, name)
    measured = [measure(server, name, course)]
    for number in range(ROUNDS):
        train_round(server, model["id"], name, course, number)
        if (number + 1) % ROUNDS_BETWEEN_MEASUREMENTS == 0:
            measured.append(measure(server, name, course))
            if measured[-1] >= measured[0] + ENOUGH:
                break
    return measured


def measure(server: Server, name: str, course: Course) -> float:
    """The mean reward of held-out questions. Its calls have no rollout ids, so nothing trains on them."""
    times = ANSWERS_MEASURED // len(course.held_out)
    attempts = [Attempt(question, artifact(name), seed) for question in course.held_out for seed in range(times)]
    rewards = rewards_of(server, course, attempts)
    return sum(rewards) / len(rewards)


def train_round(server: Server, model_id: str, name: str, course: Course, number: int) -> None:
    attempts = [
        Attempt(
            question,
            artifact(name),
            seed=1000 * number + place,
            headers={
                "x-heddle-rollout-id": f"{name}-{number}-{group}-{place}",
                "x-heddle-rollout-group": f"{name}-{number}-{group}",
            },
        )
        for group, question in enumerate(Random(number).sample(course.train, GROUPS))
        for place in range(ATTEMPTS)
    ]
    rewards = rewards_of(server, course, attempts)
    for attempt, reward in zip(attempts, rewards, strict=True):
        post(server, f"/v1/rollouts/{attempt.headers['x-heddle-rollout-id']}/reward", {"reward": reward})
    train(server, model_id, step=number)


def rewards_of(server: Server, course: Course, attempts: Iterable[Attempt]) -> list[float]:
    def rewarded(attempt: Attempt) -> float:
        return course.reward(attempt.question, course.agent(server, attempt))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(rewarded, attempts))


def train(server: Server, model_id: str, step: int) -> None:
    """Runs one job on all attempts of this step of the model; returns when the next step answers."""
    body = {
        "model_id": model_id,
        "source": {"kind": "rollouts", "project_id": "local/compat", "step": step},
        "target": {"kind": "rl", "reward": [{"field": "rollout.reward"}]},
        "experimental_config": {"learning_rate": LEARNING_RATE},
    }
    job = post(server, "/v1/preview/training-jobs/from-source", body)
    while job["status"] in ("queued", "running"):
        time.sleep(0.1)
        job = call(server, "GET", f"/v1/preview/training-jobs/{job['id']}").json
    assert job["status"] == "succeeded", job


def post(server: Server, path: str, body: dict) -> dict:
    answer = call(server, "POST", path, body)
    assert answer.status == 200, answer.text
    return answer.json


def artifact(name: str) -> str:
    return f"wandb-artifact:///local/compat/{name}"
