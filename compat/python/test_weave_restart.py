"""A tracing program goes on by itself after its server was killed and started again."""

import threading
import time

import pytest
import weave

from covers import covers
from started_server import Server, server_process
from weave_session import WRITE_PATHS, project_of, stored, use_server

CALLS = 300


@weave.op
def step(number: int) -> int:
    return number * 2


@covers("weave-restart")
@pytest.mark.parametrize("path", WRITE_PATHS)
def test_no_call_is_lost_or_doubled(server: Server, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    # The key is that of the other tests, because weave 0.52.22 keeps the first key of a process.
    with server_process(server.key, HEDDLE_ENGINE="none") as process:
        crashing = process.start()
        use_server(monkeypatch, crashing)
        monkeypatch.setenv("WEAVE_USE_CALLS_COMPLETE", str(path == "complete").lower())

        def crash_twice() -> None:
            for _ in range(2):
                time.sleep(1.5)
                process.kill()
                process.start()

        with project_of(crashing) as client:
            step(-1)
            client.flush()
            crashes = threading.Thread(target=crash_twice)
            crashes.start()
            for number in range(CALLS):
                step(number)
                time.sleep(0.02)
            crashes.join()
            calls = stored(client)
    assert sorted(call.inputs["number"] for call in calls) == list(range(-1, CALLS))
    assert all(call.output == call.inputs["number"] * 2 for call in calls)
    assert all(call.ended_at is not None for call in calls)
