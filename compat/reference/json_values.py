"""Makes random JSON: every kind of value under few keys, so that random paths and literals often match."""

from random import Random
from typing import Any

KEYS = ["a", "b", "n", "s", "list", "obj", "k.dot", "größe", "0"]
INTEGERS = [0, 1, 2, -1, 7, 10, 100, 2**31, 2**53 + 1, 2**63 - 1, -(2**53) - 1]
FLOATS = [0.0, 1.0, 0.5, 1.5, -0.25, 2.0, 1e20, 1e-7, 123456.789]
NUMERIC_TEXTS = ["0", "1", "1.0", "1.5", "10", "-1", "+1", "1e3", ".5", "007"]
WORD_TEXTS = [
    *("", "a", "A", "apple", "Apple", "banana", "band", "true", "false", "True", "null", "nan", "inf"),
    *("größe", "GRÖSSE", "日本語", "🍎", "it's", 'quo"te', "back\\slash", "50%", "a_b", "a.b", " a "),
    *("tab\there", "line\nbreak", "\u0085next", "\u2028sep", "nul\u0000z", "[1, 2]", '{"a": 1}'),
]
TEXTS = [*NUMERIC_TEXTS, *WORD_TEXTS]


def scalar(random: Random) -> Any:
    kind = random.random()
    if kind < 0.25:
        return random.choice(INTEGERS)
    if kind < 0.4:
        return random.choice(FLOATS)
    if kind < 0.5:
        return random.random() < 0.5
    if kind < 0.57:
        return None
    if kind < 0.7:
        return random.choice(NUMERIC_TEXTS)
    return random.choice(WORD_TEXTS)


def value(random: Random, depth: int = 3) -> Any:
    kind = random.random()
    if depth == 0 or kind < 0.6:
        return scalar(random)
    if kind < 0.75:
        return [value(random, depth - 1) for _ in range(random.randrange(4))]
    return mapping(random, depth - 1)


def mapping(random: Random, depth: int = 3) -> dict[str, Any]:
    chosen = random.sample(KEYS, random.randrange(len(KEYS)))
    return {key: value(random, depth) for key in chosen}


def path(random: Random) -> str:
    """A dotted path into a `mapping`; dots inside keys are escaped."""
    steps = [random.choice(KEYS).replace(".", "\\.")]
    while random.random() < 0.3:
        steps.append(random.choice([*KEYS, "0", "1"]).replace(".", "\\."))
    return ".".join(steps)
