"""Prints train.py's output: plain text that reads well in a terminal and in a log file."""

import asyncio
import json
import time
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

BAR = 40
EIGHTHS = " ▏▎▍▌▋▊▉"
SMOOTHING = 0.25
READY_TIMEOUT_S = 240.0


class Curve:
    """A reward curve that grows downwards, one line per step."""

    def __init__(self) -> None:
        self.mean: float | None = None

    def add(self, step: int, reward: float, roll_out_s: float, train_s: float) -> None:
        """Draws the reward as a bar, with a mark at the running mean."""
        if self.mean is None:
            print(f"step  reward  0{' ' * (BAR - 2)}1   roll-out    train")
            self.mean = reward
        self.mean += SMOOTHING * (reward - self.mean)
        line = mark(bar(reward), self.mean)
        print(f"{step:4}  {reward:6.2f}  {line}  {roll_out_s:6.2f} s {train_s:6.2f} s", flush=True)


def bar(value: float) -> str:
    """A bar of BAR characters for a value from 0 to 1, exact to an eighth of a character."""
    eighths = round(max(0.0, min(1.0, value)) * BAR * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (EIGHTHS[rest] if rest else "")).ljust(BAR)


def mark(line: str, value: float) -> str:
    """The line with a mark at a value from 0 to 1."""
    at = min(BAR - 1, int(value * BAR))
    return f"{line[:at]}┃{line[at + 1 :]}"


def show_rewards(title: str, rewards: dict[str, float]) -> None:
    """Prints one line: the mean over the tasks, then each task."""
    mean = sum(rewards.values()) / len(rewards)
    tasks = "   ".join(f"{task} {value:.2f}" for task, value in rewards.items())
    print(f"{title:24}{mean:.2f}   ({tasks})", flush=True)


def spoken(message: Any) -> str:
    """An answer on one line: its text, or the calls it makes."""
    calls = [f"{c.function.name}({arguments(c)})" for c in message.tool_calls or []]
    return " ".join([*calls, *(message.content or "").split()])


def arguments(call: Any) -> str:
    try:
        return ", ".join(f"{k}={v}" for k, v in json.loads(call.function.arguments).items())
    except (ValueError, AttributeError):
        return call.function.arguments


def side_by_side(titles: list[str], rows: list[tuple[str, list[tuple[str, float]]]], width: int = 30) -> None:
    """Prints a table: the question, then each model's answer with a tick when it is right."""
    print(f"\n{'':26}  " + "  ".join(f"{title:{width}}" for title in titles))
    for question, cells in rows:
        answers = [f"{'✓' if right else '✗'} {fit(text, width - 2)}" for text, right in cells]
        print(f"{fit(question, 26)}  " + "  ".join(answers))
    print(flush=True)


def fit(text: str, width: int) -> str:
    return (text if len(text) <= width else text[: width - 1] + "…").ljust(width)


async def server_ready(url: str) -> None:
    """Waits until the server says that it is ready; SystemExit when it never does."""
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            with urlopen(f"{url}/v1/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (URLError, OSError):
            pass
        await asyncio.sleep(0.1)
    raise SystemExit(f"no Heddle server is ready at {url}")
