"""Three small tasks with exact rewards, for a model that learns in minutes on a CPU.

| Task    | Question                  | Rewarded answer                              |
|---------|---------------------------|----------------------------------------------|
| add     | `3 + 4 = ?`               | the content `7`                              |
| reverse | `Reverse: red green blue` | the content `blue green red`                 |
| weather | `Weather in Oslo?`        | one tool call, `get_weather {"city": "Oslo"}` |

Every question belongs to one of two sets that share none: train on `train`, measure on `held_out`.
An answer earns 1.0 or 0.0 and nothing between, so a mean reward is a share of correct answers.

Only the standard library is used: copy this file and put your own tasks in its place.
"""

import json
import random
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Literal

Task = Literal["add", "reverse", "weather"]
Split = Literal["train", "held_out"]

TASKS: tuple[Task, ...] = ("add", "reverse", "weather")
COLOURS = ("red", "green", "blue", "black", "white", "pink", "brown", "gold")
CITIES = (
    *("Accra", "Athens", "Berlin", "Boston", "Cairo", "Delhi", "Dublin", "Hanoi", "Havana"),
    *("Kyiv", "Lima", "Lisbon", "Madrid", "Nairobi", "Oslo", "Paris", "Prague", "Quito"),
    *("Riga", "Rome", "Seoul", "Sydney", "Tokyo", "Tunis", "Vienna"),
)
HELD_OUT_SHARE = 5
"""One question in so many is held out."""

GET_WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Current weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


@dataclass(frozen=True)
class Scenario:
    """One question with its one right answer (for `weather`: the city the tool must be asked)."""

    task: Task
    question: str
    answer: str

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation to send, in the shape of the chat completions API."""
        return [{"role": "user", "content": self.question}]

    @property
    def tools(self) -> list[dict[str, Any]] | None:
        """The tools to send with the messages; None for a task that needs none."""
        return [GET_WEATHER] if self.task == "weather" else None

    @property
    def metadata(self) -> dict[str, str]:
        """Plain values to keep beside a trajectory, for filters and charts."""
        return {"task": self.task, "question": self.question, "answer": self.answer}


def all_scenarios(task: Task, split: Split) -> list[Scenario]:
    """Every scenario of one task in one set, always in the same order."""
    if task == "add":
        # a + b and b + a fall in the same set: knowing one would give the other away.
        pairs = _in_split([(a, b) for a in range(10) for b in range(a, 10)], split)
        ordered = [pair for a, b in pairs for pair in sorted({(a, b), (b, a)})]
        return [Scenario("add", f"{a} + {b} = ?", str(a + b)) for a, b in ordered]
    if task == "reverse":
        triples = _in_split(list(permutations(COLOURS, 3)), split)
        return [Scenario("reverse", f"Reverse: {' '.join(words)}", " ".join(reversed(words))) for words in triples]
    if task == "weather":
        return [Scenario("weather", f"Weather in {c}?", c) for c in _in_split(list(CITIES), split)]
    raise ValueError(f"unknown task {task!r}: choose one of {', '.join(TASKS)}")


def sample_scenarios(split: Split, count: int, seed: int, tasks: tuple[Task, ...] = TASKS) -> list[Scenario]:
    """Draw `count` scenarios from one set, the tasks taking turns; the same seed, the same list.

    A scenario comes twice only after all others of its task have come once.
    """
    rng = random.Random(seed)
    pools = {task: all_scenarios(task, split) for task in tasks}
    waiting: dict[Task, list[Scenario]] = {task: [] for task in tasks}
    drawn = []
    for index in range(count):
        task = tasks[index % len(tasks)]
        if not waiting[task]:
            waiting[task] = rng.sample(pools[task], len(pools[task]))
        drawn.append(waiting[task].pop())
    return drawn


def reward(scenario: Scenario, message: Any) -> float:
    """1.0 when the assistant message is exactly the right answer, else 0.0.

    `message` is an OpenAI chat message: a dict, or an object such as a Choice's `message`.
    """
    content = (_get(message, "content") or "").strip()
    tool_calls = _get(message, "tool_calls") or []
    if scenario.task == "weather":
        right = content == "" and _is_weather_call(tool_calls, scenario.answer)
    else:
        right = content == scenario.answer and not tool_calls
    return float(right)


def _in_split(items: list[Any], split: Split) -> list[Any]:
    if split not in ("train", "held_out"):
        raise ValueError(f"unknown split {split!r}: choose train or held_out")
    shuffled = random.Random(0).sample(items, len(items))
    held_out = len(items) // HELD_OUT_SHARE
    return shuffled[:held_out] if split == "held_out" else shuffled[held_out:]


def _is_weather_call(tool_calls: list[Any], city: str) -> bool:
    if len(tool_calls) != 1:
        return False
    function = _get(tool_calls[0], "function")
    try:
        # Parsed as pairs, because a dict would hide a key that is given twice.
        pairs = json.loads(_get(function, "arguments"), object_pairs_hook=list)
    except (TypeError, ValueError):
        return False
    return _get(function, "name") == "get_weather" and pairs == [("city", city)]


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)
