"""Lets most cases reach past the first check: fields that name things name things that are there.

Every fourth case stays as it was made. Which ones is decided by the case itself, so that a seed
gives the same run again.
"""

import json
import os
import zlib
from pathlib import Path
from typing import Any

import schemathesis

KNOWN: dict[str, Any] = json.loads(Path(os.environ["HEDDLE_FUZZ_KNOWN"]).read_text())
UNTOUCHED = 4


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: schemathesis.Case, kwargs: dict[str, Any]) -> None:
    del context, kwargs
    mark = zlib.crc32(repr((case.path_parameters, case.query, case.body)).encode())
    if mark % UNTOUCHED == 0:
        return
    for name, value in (case.path_parameters or {}).items():
        case.path_parameters[name] = KNOWN.get(name, value)
    if isinstance(case.body, dict | list):
        case.body = steered(case.body)


def steered(value: Any) -> Any:
    """The same with known names; what has another type than the known value was meant to be wrong."""
    if isinstance(value, list):
        return [steered(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _known(name, item) for name, item in value.items()}


def _known(name: str, value: Any) -> Any:
    known = KNOWN.get(name)
    return known if type(known) is type(value) else steered(value)
