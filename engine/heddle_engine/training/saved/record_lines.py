"""Lines that say by themselves whether they are whole: the SHA-256 of a JSON text, a space, the text."""

import base64
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

_HASH_LENGTH = 64


def write_line(out: BinaryIO, value: dict[str, Any]) -> int:
    """Returns how many bytes it takes."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    return out.write(b"%s %s\n" % (hashlib.sha256(text).hexdigest().encode(), text))


def whole_lines(file: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """The whole lines of ``file`` up to the first torn one, each with what it says; none where there is no file."""
    if not file.exists():
        return
    with file.open("rb") as content:
        for line in content:
            text = line[_HASH_LENGTH + 1 : -1]
            if not line.endswith(b"\n") or hashlib.sha256(text).hexdigest().encode() != line[:_HASH_LENGTH]:
                return
            yield line, json.loads(text)


class NewFile:
    """A file that appears under its name when it is whole."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._temporary = file.with_suffix(".tmp")
        self.out = self._temporary.open("wb")

    def finish(self) -> None:
        self.out.close()
        os.replace(self._temporary, self._file)


def floats(values: np.ndarray) -> str:
    """Little-endian float32 in base64; NaN where unknown."""
    return base64.b64encode(np.asarray(values, "<f4").tobytes()).decode()


def integers(values: Any) -> str:
    """Little-endian int32 in base64."""
    return base64.b64encode(np.asarray(values, "<i4").tobytes()).decode()


def marks(values: np.ndarray) -> str:
    """A byte each, 0 or 1, in base64."""
    return base64.b64encode(np.asarray(values, np.uint8).tobytes()).decode()
