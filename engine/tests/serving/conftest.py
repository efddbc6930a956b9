"""The engine in a process of its own, one for all tests of a module."""

import pytest

from tests.serving.engine_process import EngineProcess


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    process = EngineProcess(tmp_path_factory.mktemp("engine"))
    process.wait_until_listening()
    yield process
    process.close()
