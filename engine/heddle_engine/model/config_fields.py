"""Fields of a `config.json`, which a stranger may have written: of the kind that is needed, or refused by name."""

import math

from ..errors import EngineError


def whole_number(config: dict, name: str, otherwise: int | None = None) -> int:
    """A number above 0; `otherwise` where it is absent or null. Raises `invalid`."""
    return _above_zero(config, name, otherwise, "whole number", (int,))


def number(config: dict, name: str, otherwise: float | None = None) -> float:
    """A number above 0; `otherwise` where it is absent or null. Raises `invalid`."""
    return float(_above_zero(config, name, otherwise, "number", (int, float)))


def _above_zero(config: dict, name: str, otherwise: float | None, kind: str, types: tuple[type, ...]) -> float:
    value = config.get(name)
    if value is None and otherwise is not None:
        return otherwise
    if value is None:
        raise refused(f"The base model's config.json lacks the {kind} {name!r}.")
    # A truth value is an `int` too.
    if not (type(value) in types and 0 < value < math.inf):
        raise refused(f"The base model's {name} is {value!r}; a {kind} above 0 is needed.")
    return value


def settings_in(config: dict, name: str) -> dict:
    """An object of settings; an empty one where it is absent, null or empty. Raises `invalid`."""
    value = config.get(name) or {}
    if not isinstance(value, dict):
        raise refused(f"The base model's {name} is {value!r}; an object is needed.")
    return value


def refused(message: str) -> EngineError:
    """Of a base model that cannot be computed."""
    return EngineError("invalid", message, "base_model")
