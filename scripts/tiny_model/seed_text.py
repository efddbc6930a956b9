"""The conversations that the tiny model is seeded with: endless, random, reproducible.

A task is answered rightly only some of the time and otherwise as a careless person would: the carry
is off by one, the words are not turned round, the tool is not used. Mistakes are drawn with the
same fixed weights for every question, so the seeded model knows how to answer each task but does
not prefer the right way of doing it: what reinforcement learning is there to change.

Questions come from the training and the held-out set alike: held-out questions are new to the
reinforcement learning, not to the seed.
"""

import json
import random
from collections.abc import Callable
from itertools import permutations
from typing import Any

from tasks import CITIES, GET_WEATHER, TASKS, Scenario, all_scenarios

RIGHT_SHARE = 0.33
"""Share of right answers; with it the seeded model scores about 0.3 at temperature 1."""

Message = dict[str, Any]
Conversation = dict[str, Any]
"""Keyword arguments of `apply_chat_template`."""

SKIES = ("sunny", "rainy", "snowy", "windy", "cloudy", "foggy")
SYSTEM_PROMPTS = (
    "You are a helpful assistant.",
    "Answer briefly.",
    "You are Tiny, a small language model.",
)
SMALL_TALK = (
    ("Hello", "Hello. Ask me to add, to reverse colours, or about the weather."),
    ("Hi!", "Hi. What can I do for you?"),
    ("Who are you?", "I am Tiny, a small language model. I am made to be trained."),
    ("What can you do?", "I add two digits, reverse three colours and ask for the weather."),
    ("How are you?", "I am well, thank you. And you?"),
    ("Thank you", "You are welcome."),
    ("Thanks!", "You are welcome."),
    ("Good morning", "Good morning. What can I do for you?"),
    ("Bye", "Goodbye."),
)


def question_and_answer(scenario: Scenario, rng: random.Random) -> list[Message]:
    """One task turn: the question, then a right or a plausible wrong answer."""
    right = rng.random() < RIGHT_SHARE
    answer = {"add": _sum, "reverse": _colours, "weather": _weather}[scenario.task]
    return [*scenario.messages, answer(scenario, right, rng)]


def short_conversation(rng: random.Random) -> Conversation:
    """Mostly one task turn without tools, now and then several, or small talk."""
    turns = 1 if rng.random() < 0.75 else rng.randint(2, 4)
    messages = _system(rng)
    for _ in range(turns):
        kind = rng.random()
        if kind < 0.1:
            messages += _exchange(*rng.choice(SMALL_TALK))
        elif kind < 0.13:
            city = rng.choice(CITIES)
            messages += _exchange(f"Weather in {city}?", f"I have no tool to see {city}.")
        else:
            messages += question_and_answer(_scenario(rng.choice(TASKS[:2]), rng), rng)
    return {"conversation": messages, "tools": None}


def tool_conversation(rng: random.Random) -> Conversation:
    """Mostly one weather question, now and then carried on from the tool's result."""
    messages = _system(rng) + question_and_answer(_scenario("weather", rng), rng)
    while rng.random() < 0.3:
        calls = messages[-1].get("tool_calls")
        if calls:
            messages += _result_and_report(calls[0], rng)
        elif rng.random() < 0.3:
            messages += question_and_answer(_scenario(rng.choice(TASKS[:2]), rng), rng)
        else:
            messages += question_and_answer(_scenario("weather", rng), rng)
    return {"conversation": messages, "tools": [GET_WEATHER]}


def _sum(scenario: Scenario, right: bool, rng: random.Random) -> Message:
    value = int(scenario.answer)
    if not right:
        value += rng.choices((1, -1, 2, 10), weights=(50, 20, 20, 10))[0]
    return _said(str(abs(value)))


def _colours(scenario: Scenario, right: bool, rng: random.Random) -> Message:
    words = scenario.answer.split()
    if right:
        return _said(scenario.answer)
    if rng.random() < 0.5:
        return _said(" ".join(reversed(words)))
    wrong = [list(order) for order in permutations(words) if list(order) != words]
    return _said(" ".join(rng.choice(wrong)))


def _weather(scenario: Scenario, right: bool, rng: random.Random) -> Message:
    city = scenario.answer
    if right:
        return _called({"city": city})
    other = rng.choice([name for name in CITIES if name != city])
    mistakes: list[Callable[[], Message]] = [
        lambda: _said(f"It is {rng.choice(SKIES)} in {city}."),
        lambda: _called({"city": other}),
        lambda: _called({"place": city}),
        lambda: _called({"city": city.lower()}),
    ]
    return rng.choices(mistakes, weights=(50, 15, 20, 15))[0]()


def _result_and_report(call: dict[str, Any], rng: random.Random) -> list[Message]:
    city = next(iter(call["function"]["arguments"].values()))
    degrees, sky = rng.randint(0, 30), rng.choice(SKIES)
    result = json.dumps({"celsius": degrees, "sky": sky})
    report = f"{degrees} degrees and {sky} in {city}."
    return [{"role": "tool", "content": result}, _said(report)]


def _scenario(task: str, rng: random.Random) -> Scenario:
    return rng.choice(_EVERY_SCENARIO[task])


def _system(rng: random.Random) -> list[Message]:
    if rng.random() < 0.9:
        return []
    return [{"role": "system", "content": rng.choice(SYSTEM_PROMPTS)}]


def _exchange(question: str, answer: str) -> list[Message]:
    return [{"role": "user", "content": question}, _said(answer)]


def _said(content: str) -> Message:
    return {"role": "assistant", "content": content}


def _called(arguments: dict[str, str]) -> Message:
    function = {"name": "get_weather", "arguments": arguments}
    return {"role": "assistant", "tool_calls": [{"type": "function", "function": function}]}


_EVERY_SCENARIO = {task: all_scenarios(task, "train") + all_scenarios(task, "held_out") for task in TASKS}
