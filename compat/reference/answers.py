"""Answers of a server, in a form in which two of them can be compared."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True)
class Answer:
    """An HTTP status and a parsed body."""

    status: int
    body: Any


def canonical(value: Any) -> str:
    """JSON text with sorted keys. `1`, `1.0` and `true` stay different, as they do on the wire."""
    return json.dumps(value, sort_keys=True)


def moment(value: str | datetime | None) -> str | None:
    """A time in one spelling: UTC, microseconds; a naive one is UTC (calls 1.5)."""
    if value is None:
        return None
    time = datetime.fromisoformat(value) if isinstance(value, str) else value
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    return time.astimezone(UTC).isoformat(timespec="microseconds")
