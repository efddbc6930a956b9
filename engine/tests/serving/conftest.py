"""Starts the engine in a process of its own, one for all tests of a module."""

import pytest

from tests.serving.engine_process import Client, EngineProcess


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    process = EngineProcess(tmp_path_factory.mktemp("engine"))
    process.wait_until_listening()
    yield process
    process.close()


@pytest.fixture
def client(engine):
    with Client(str(engine.path)) as client:
        client.call("hello", {"protocol": 1, "token": None})
        yield client


@pytest.fixture(scope="module")
def base(model_folders):
    return {"name": "tiny", "path": str(model_folders("qwen3"))}


@pytest.fixture
def chat(base):
    def params(content="the rain", sampling=(), **changes):
        return {
            "base": base,
            "adapter": None,
            "messages": [{"role": "user", "content": content}],
            "sampling": {"max_tokens": 8, "temperature": 0, **dict(sampling)},
            **changes,
        }

    return params
