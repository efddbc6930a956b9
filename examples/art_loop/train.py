"""Reinforcement learning with openpipe-art against a Heddle server: three tasks, one model.

    pip install -r requirements.txt
    HEDDLE_API_KEY=… python train.py --url http://127.0.0.1:8080

Each round asks the newest step many questions, rewards the answers and trains on them; the step
that comes out answers the next round. Put your own questions and rewards into tasks.py.
"""

import argparse
import asyncio
import json
import os
import time
import warnings
from dataclasses import asdict, dataclass, field
from typing import Any

# Without these, litellm, which ART imports, asks another host for prices, and tqdm's bars break the curve.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("TQDM_DISABLE", "1")
# pydantic's, about a lock in a class of weave, which ART imports; it would stand between the curve and the answers.
warnings.filterwarnings("ignore", message=r".*is not a Python type", module="pydantic")

import art
from art.serverless.backend import ServerlessBackend

import terminal
from tasks import TASKS, Scenario, reward, sample_scenarios

ROUNDS = 40
GROUPS = 24
"""Questions per round. Their answers are compared within one question, never across."""
ANSWERS = 8
LEARNING_RATE = 2e-3
HELD_OUT = 120
"""Held-out questions; each is asked four times."""


@dataclass
class Report:
    """Measurements of a run; times in seconds, rewards from 0 to 1."""

    first_reward_at: float = 0.0
    train_s: float = 0.0
    steps: int = 0
    gradient_steps: int = 0
    held_out_before: float = 0.0
    held_out_after: float = 0.0
    rewards: list[float] = field(default_factory=list)


async def answer(
    model: art.TrainableModel, scenario: Scenario, n: int = 1, temperature: float = 1.0, served: str | None = None
) -> Any:
    """Asks for `n` answers of the newest step, or of the model named `served`."""
    request: dict[str, Any] = {"tools": scenario.tools} if scenario.tools else {}
    completion = await model.openai_client().chat.completions.create(
        model=served or model.get_inference_name(),
        messages=scenario.messages,
        max_completion_tokens=48,
        temperature=temperature,
        n=n,
        **request,
    )
    return completion.choices


async def rollout(model: art.TrainableModel, scenario: Scenario) -> art.TrajectoryGroup:
    """All answers to one question, each with its reward."""
    return art.TrajectoryGroup(
        [
            art.Trajectory(
                messages_and_choices=[*scenario.messages, choice],
                tools=scenario.tools,
                reward=reward(scenario, choice.message),
                metadata=scenario.metadata,
            )
            for choice in await answer(model, scenario, n=ANSWERS)
        ]
    )


async def held_out_rewards(model: art.TrainableModel) -> dict[str, float]:
    """Mean reward per task on questions that no round trains on."""
    scenarios = sample_scenarios("held_out", HELD_OUT, seed=0)
    answers = await asyncio.gather(*(answer(model, scenario, n=4) for scenario in scenarios))
    earned: dict[str, list[float]] = {task: [] for task in TASKS}
    for scenario, choices in zip(scenarios, answers, strict=True):
        earned[scenario.task] += [reward(scenario, choice.message) for choice in choices]
    return {task: sum(rewards) / len(rewards) for task, rewards in earned.items()}


async def train(backend: ServerlessBackend, model: art.TrainableModel, rounds: int, report: Report) -> None:
    """The loop itself: roll out, train, again."""
    began = time.monotonic()
    curve = terminal.Curve()
    for index in range(rounds):
        started = time.monotonic()
        scenarios = sample_scenarios("train", GROUPS, seed=index)
        groups = await art.gather_trajectory_groups(rollout(model, each) for each in scenarios)
        rewards = [trajectory.reward for group in groups for trajectory in group]
        report.rewards.append(sum(rewards) / len(rewards))
        report.first_reward_at = report.first_reward_at or time.time()
        rolled_out = time.monotonic()
        result = await backend.train(model, groups, learning_rate=LEARNING_RATE)
        trained = time.monotonic()
        await model.log(groups, metrics=result.metrics, step=result.step, split="train")
        report.steps = result.step
        report.gradient_steps += int(result.metrics.get("data/step_num_gradient_steps", 0))
        curve.add(result.step, report.rewards[-1], rolled_out - started, trained - rolled_out)
    report.train_s = time.monotonic() - began


def trace_chats(project: str, url: str, key: str) -> None:
    """From here on weave stores each chat in the project: its pages show it, and a person can label it there."""
    quiet = {"WEAVE_PRINT_CALL_LINK": "false", "WEAVE_LOG_LEVEL": "ERROR"}
    os.environ.update(WANDB_BASE_URL=url, WANDB_API_KEY=key, **quiet)
    import weave

    weave.init(project)


async def compare(model: art.TrainableModel) -> None:
    """Asks the base model and the newest step the same held-out questions, and prints their likeliest answers."""
    step = await model.get_step()
    served = {"base": model.base_model, f"step {step}": model.get_inference_name(step)}
    rows = []
    for scenario in sample_scenarios("held_out", 9, seed=1):
        cells = []
        for name in served.values():
            (choice,) = await answer(model, scenario, temperature=0, served=name)
            cells.append((terminal.spoken(choice.message), reward(scenario, choice.message)))
        rows.append((scenario.question, cells))
    terminal.side_by_side(list(served), rows)


async def main() -> None:
    options = read_options()
    report = Report()
    backend = ServerlessBackend(api_key=options.key, base_url=f"{options.url}/v1")
    model = art.TrainableModel(name=options.name, project="examples", base_model="heddle/tiny")
    await terminal.server_ready(options.url)
    await model.register(backend)
    print(f"{model.entity}/{model.project}/{model.name} learns three tasks, on {model.base_model}\n")
    before = await held_out_rewards(model)
    terminal.show_rewards("held-out reward before", before)
    await train(backend, model, options.rounds, report)
    after = await held_out_rewards(model)
    terminal.show_rewards("held-out reward before", before)
    terminal.show_rewards("held-out reward after", after)
    trace_chats(f"{model.entity}/{model.project}", options.url, options.key)
    await compare(model)
    await backend.close()
    report.held_out_before = sum(before.values()) / len(before)
    report.held_out_after = sum(after.values()) / len(after)
    if options.report:
        with open(options.report, "w") as file:
            json.dump(asdict(report), file)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Teach a small model three tasks.")
    parser.add_argument("--url", default="http://127.0.0.1:8080", help="the Heddle server")
    parser.add_argument("--name", default="three-tasks", help="an existing name learns on")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how many steps to train")
    parser.add_argument("--report", help="file for the measurements, as JSON")
    options = parser.parse_args()
    options.key = os.environ.get("HEDDLE_API_KEY")
    if not options.key:
        parser.error("set HEDDLE_API_KEY to a key of the server (it prints one at its first start)")
    return options


if __name__ == "__main__":
    asyncio.run(main())
