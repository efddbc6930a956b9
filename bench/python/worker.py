"""Answers JSON lines: `{"method", "params"}` on standard input, `{"result"}` or `{"error"}` on standard output."""

import json
import os
import sys
import traceback
from collections.abc import Callable


def serve(methods: dict[str, Callable[..., object]]) -> None:
    """Calls `methods[method](**params)` for every line until the input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    # Libraries print progress to standard output, which belongs to the answers.
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"result": methods[request["method"]](**request["params"])}
        except Exception:
            answer = {"error": traceback.format_exc()}
        answers.write(json.dumps(answer) + "\n")
