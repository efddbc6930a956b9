"""Fixtures of the client suites. One server serves all tests of a session.

The session runs inside the environment of one client set; which tests it collects follows from
what that environment holds.
"""

import asyncio
import inspect
import os
import secrets
from collections.abc import Iterator
from importlib.util import find_spec

from offline import block_outbound

# litellm, which ART imports, else downloads a price list at import.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["TQDM_DISABLE"] = "1"
for foreign in ("WANDB_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_PROJECT_ID"):
    os.environ.pop(foreign, None)
block_outbound()

import pytest

from started_server import Server, started_server

# Plain HTTP and SFT are the same in every environment: the one without ART checks them for all.
collect_ignore_glob = ["test_wire.py", "test_sft.py"] if find_spec("art") else ["test_art_*.py"]


TEST_TIMEOUT_S = 240.0


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs `async def` tests, each in an event loop of its own.

    ART polls a job for ever, so a job that never ends must end here.
    """
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    test = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
    asyncio.run(asyncio.wait_for(test, TEST_TIMEOUT_S))
    return True


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with started_server() as started:
        yield started


@pytest.fixture
def name() -> str:
    """A model name that no other test uses."""
    return f"m-{secrets.token_hex(4)}"
