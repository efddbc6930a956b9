"""The maintainers' own in-process server on SQLite (PyPI weave 0.52.41), one request a line.

Reads JSON Lines `{"method", "request"}` on standard input: a method of the server and the fields of
its request model. Answers each with one line, `{"result"}` or `{"error"}`.
"""

import inspect
import json
import sys

from weave.trace_server import trace_server_interface as models
from weave.trace_server.sqlite_trace_server import SqliteTraceServer


def main() -> None:
    server = SqliteTraceServer("file:reference?mode=memory&cache=shared")
    server.drop_tables()
    server.setup_tables()
    for line in sys.stdin:
        print(json.dumps(answer(server, json.loads(line))), flush=True)


def answer(server: SqliteTraceServer, message: dict) -> dict:
    try:
        method = getattr(server, message["method"])
        result = method(request_model(method).model_validate(message["request"]))
        return {"result": result.model_dump(mode="json", by_alias=True)}
    except Exception as error:  # The reference's refusals are part of what is compared.
        return {"error": f"{type(error).__name__}: {error}"[:300]}


def request_model(method: object) -> type:
    annotation = next(iter(inspect.signature(method).parameters.values())).annotation
    return getattr(models, annotation.split(".")[-1]) if isinstance(annotation, str) else annotation


main()
