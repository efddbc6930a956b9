"""Fixtures of the client suites. One server serves all tests of a session.

The session runs inside the environment of one client set; which tests it collects follows from
what that environment holds.
"""

import asyncio
import inspect
import os
import secrets
import sys
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec

from offline import block_outbound

# litellm, which ART imports, else downloads a price list at import.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["TQDM_DISABLE"] = "1"
# weave's reports of its own errors.
os.environ["WANDB_ERROR_REPORTING"] = "false"
for foreign in ("WANDB_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_PROJECT_ID"):
    os.environ.pop(foreign, None)
block_outbound()

import pytest

from started_server import Server, started_server

IGNORED = {
    # Plain HTTP and SFT are the same in every environment: the one without ART checks them for all.
    "art": ["test_wire.py", "test_sft.py", "test_weave_*.py", "test_otel_*.py"],
    "weave": ["test_wire.py", "test_sft.py", "test_art_*.py", "test_openai_*.py", "test_otel_*.py"],
    "openinference": ["test_wire.py", "test_sft.py", "test_art_*.py", "test_openai_*.py", "test_weave_*.py"],
    "openai": ["test_art_*.py", "test_weave_*.py", "test_otel_*.py"],
    "lm_eval": ["test_[!l]*.py"],
    "anthropic": [
        "test_wire.py",
        "test_sft.py",
        "test_art_*.py",
        "test_openai_*.py",
        "test_weave_*.py",
        "test_otel_*.py",
    ],
    "wandb": ["test_wire.py", "test_sft.py", "test_art_*.py", "test_openai_*.py", "test_weave_*.py", "test_otel_*.py"],
}
for names in (IGNORED[client] for client in IGNORED if client != "wandb"):
    names.append("test_wandb_*.py")
for names in (IGNORED[client] for client in IGNORED if client != "lm_eval"):
    names.append("test_lm_eval.py")
# ART brings weave and wandb along: its environment is known by ART.
CLIENTS = ("art", "weave", "openinference", "openai", "lm_eval", "anthropic", "wandb")
CLIENT = next(name for name in CLIENTS if find_spec(name))
collect_ignore_glob = IGNORED[CLIENT]
if CLIENT not in ("art", "anthropic") or not find_spec("anthropic"):
    collect_ignore_glob = [*collect_ignore_glob, "test_anthropic_*.py"]
if CLIENT == "weave" and not find_spec("weave.vendor"):
    # The generated client came with 0.54.
    collect_ignore_glob = [*collect_ignore_glob, "test_weave_generated_*.py"]
if CLIENT == "art" and tuple(map(int, version("openpipe-art").split(".")[:3])) < (0, 5, 23):
    # Capture came with it.
    collect_ignore_glob = [*collect_ignore_glob, "test_art_captured.py"]
if CLIENT == "art" and (not find_spec("wandb") or tuple(map(int, version("openpipe-art").split(".")[:3])) < (0, 5, 18)):
    # Its own SFT, pull and fork go through wandb, which only some sets have.
    collect_ignore_glob = [*collect_ignore_glob, "test_art_artifacts.py"]


if CLIENT == "weave":
    from weave_session import client, tracer  # noqa: F401  # fixtures of its tests

    if find_spec("weave.vendor"):
        from generated_client import answered, api, project  # noqa: F401  # as well

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The clients of traces need no engine, and their tests none to wait for."""
    with started_server(
        HEDDLE_ENGINE="none" if CLIENT in ("weave", "openinference", "wandb") else "process"
    ) as started:
        yield started
        # At the end of the process wandb waits until it has sent what open runs still hold: the server is gone by then.
        if "wandb" in sys.modules:
            sys.modules["wandb"].teardown()


@pytest.fixture
def name() -> str:
    """A model name that no other test uses."""
    return f"m-{secrets.token_hex(4)}"
