"""Fixtures of the client suites. One server serves all tests of a session.

The session runs inside the environment of one client set, which HEDDLE_CLIENT_SET names; sets.json says which tests are
that set's.
"""

import asyncio
import inspect
import json
import os
import secrets
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from offline import block_outbound

# Without this setting litellm, which ART imports, downloads a price list at import.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["TQDM_DISABLE"] = "1"
# weave would report its own errors to its makers.
os.environ["WANDB_ERROR_REPORTING"] = "false"
for foreign in ("WANDB_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_PROJECT_ID"):
    os.environ.pop(foreign, None)
block_outbound()

import pytest

from started_server import Server, started_server

# The clients of this environment, and their tests.
SETS = json.loads((Path(__file__).parent / "sets.json").read_text())
SET = SETS[os.environ["HEDDLE_CLIENT_SET"]]
SUITES = [*SET["suites"], "test_no_other_host.py"]


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Ignores tests of clients that are not in this environment."""
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    return True if is_test and not any(collection_path.match(suite) for suite in SUITES) else None


if SET["clients"][0] == "weave":
    from weave_session import client, tracer  # noqa: F401  # fixtures of its tests

    if find_spec("weave.vendor"):
        from generated_client import answered, api, project  # noqa: F401  # as well

TEST_TIMEOUT_S = 240.0


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs `async def` tests, each in an event loop of its own.

    ART polls a job without end, so the time limit is here.
    """
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    test = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
    marker = pyfuncitem.get_closest_marker("timeout_s")
    asyncio.run(asyncio.wait_for(test, marker.args[0] if marker else TEST_TIMEOUT_S))
    return True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The server of the session; without an engine for the clients of traces, which need none."""
    with started_server(HEDDLE_ENGINE="none" if SET.get("withoutEngine") else "process") as started:
        yield started
        # wandb waits at the end of the process until open runs are sent, and the server is gone by then: so it ends
        # here.
        if "wandb" in sys.modules:
            sys.modules["wandb"].teardown()


@pytest.fixture
def name() -> str:
    """A model name that no other test uses."""
    return f"m-{secrets.token_hex(4)}"
