"""Two engines, one for all tests: one samples by itself, the other with vLLM."""

import os

import pytest

from tests.serving.engine_process import Client, EngineProcess


@pytest.fixture(scope="session")
def own_engine(tmp_path_factory):
    process = EngineProcess(tmp_path_factory.mktemp("own"))
    process.wait_until_listening()
    yield process
    process.close()


@pytest.fixture(scope="session")
def vllm_python():
    python = os.environ.get("HEDDLE_VLLM_PYTHON")
    assert python, "HEDDLE_VLLM_PYTHON names no Python with vLLM: run these tests with npm test -- vllm"
    return python


@pytest.fixture(scope="session")
def vllm_engine(tmp_path_factory, vllm_python):
    options = ("--sampler", "vllm", "--vllm-python", vllm_python, "--log-level", "DEBUG", "--kv-bytes", str(256 << 20))
    process = EngineProcess(tmp_path_factory.mktemp("vllm"), *options)
    process.wait_until_listening()
    yield process
    process.close()


@pytest.fixture
def own(own_engine):
    with Client(str(own_engine.path)) as client:
        yield client


@pytest.fixture
def vllm(vllm_engine):
    with Client(str(vllm_engine.path)) as client:
        yield client
