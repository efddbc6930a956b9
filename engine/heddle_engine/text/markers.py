"""Markers in text that grows: what may still become one is held back."""

from collections.abc import Iterable


def begun(text: str, markers: Iterable[str]) -> int:
    """Length of the longest end of `text` that begins one of the markers and is not the whole of it."""
    longest = 0
    for marker in markers:
        lengths = range(min(len(marker) - 1, len(text)), longest, -1)
        longest = next((length for length in lengths if text.endswith(marker[:length])), longest)
    return longest
