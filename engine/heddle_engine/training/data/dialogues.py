"""Lines of a data file that hold a dialogue: `{"messages": […], "tools": […]?}` (training-api 2.5)."""

from typing import Any

from ...bases import Base
from ...errors import EngineError
from .sequences import Sequence, Turn, merge_turns


def _messages_of(line: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Raises ``invalid``, with the number of the line, for what is no dialogue that ends with the assistant."""
    messages = line.get("messages")
    if not isinstance(messages, list) or not messages:
        raise bad_row(number, f"`messages` is {messages!r}, expected a list of chat messages")
    for place, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise bad_row(number, f"messages[{place}] is {message!r}, expected an object with a `role`")
    if messages[-1]["role"] != "assistant":
        raise bad_row(number, f"the last message has role {messages[-1]['role']!r}, expected 'assistant'")
    if not isinstance(line.get("tools"), list | None):
        raise bad_row(number, f"`tools` is {line['tools']!r}, expected a list")
    return messages


def dialogue_sequences(line: dict[str, Any], number: int, base: Base, *, last_turn_only: bool) -> list[Sequence]:
    """The dialogue as sequences, of which the messages of the assistant are trained, or the last of them.

    Raises ``invalid``, with the number of the line, for what is no dialogue or what the chat template refuses.
    """
    messages = _messages_of(line, number)
    try:
        spans = base.renderer.spans(messages, line.get("tools"))
    except EngineError as error:
        raise bad_row(number, error.message) from error
    trained = spans[-1:] if last_turn_only else spans
    return merge_turns([Turn(s.prompt_ids, s.token_ids, [float("nan")] * len(s.token_ids)) for s in trained])


def bad_row(number: int, what: str) -> EngineError:
    return EngineError("invalid", f"Training data, line {number}: {what}", "training_data_url")
