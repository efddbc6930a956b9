"""Fields of a `config.json` that must have a value of some kind."""

from ..errors import EngineError


def whole_number(config: dict, name: str) -> int:
    """Raises `invalid`."""
    if not isinstance(config.get(name), int):
        raise refused(f"The base model's config.json lacks the whole number {name!r}.")
    return config[name]


def refused(message: str) -> EngineError:
    """Of a base model that cannot be computed."""
    return EngineError("invalid", message, "base_model")
