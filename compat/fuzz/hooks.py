"""Changes most cases to name things that exist, so that they get past the first check.

One case in four stays as it was generated. The case itself decides that, so that a seed gives the same run again.
"""

import json
import os
import zlib
from pathlib import Path
from typing import Any

import schemathesis

KNOWN: dict[str, Any] = json.loads(Path(os.environ["HEDDLE_FUZZ_KNOWN"]).read_text())
UNTOUCHED = 4

# Bodies of this type are any bytes: one that is no archive must be refused as properly as any other.
schemathesis.serializer.alias("application/x-tar", "application/octet-stream")


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
    """`value` with known names in its fields; a field of another type stays, since it is meant to be wrong."""
    if isinstance(value, list):
        return [steered(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _known(name, item) for name, item in value.items()}


def _known(name: str, value: Any) -> Any:
    known = KNOWN.get(name)
    return known if type(known) is type(value) else steered(value)
