"""Streams a job's data file: JSON Lines whose hash the server recorded when it wrote them."""

import codecs
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...errors import EngineError


def read_json_lines(path: str, sha256: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields ``(line number from 1, object)``; blank lines and a byte order mark before one are skipped.

    Raises ``not_found`` when the file is not there, ``invalid`` for a line that is not a JSON object
    and, after the last line, when the bytes read are not the ones that were recorded.
    """
    digest = hashlib.sha256()
    if not Path(path).is_file():
        raise EngineError("not_found", f"Data file {path} does not exist.", "data.path")
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, start=1):
            digest.update(line)
            if line.removeprefix(codecs.BOM_UTF8).strip():
                yield number, _parse(line, number)
    if digest.hexdigest() != sha256:
        found = digest.hexdigest()
        raise EngineError("invalid", f"Data file {path} has SHA-256 {found}, expected {sha256}.", "data.sha256")


def _parse(line: bytes, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise EngineError("invalid", f"Line {number} of the data file is not JSON: {error}.", "data") from error
    if not isinstance(value, dict):
        raise EngineError("invalid", f"Line {number} of the data file is {value!r}; an object is needed.", "data")
    return value
