"""What becomes of calls when the process that runs vLLM ends; vLLM itself is not needed for that."""

import asyncio
import os
import sys

import pytest

from heddle_engine.errors import EngineError
from heddle_engine.serving.vllm import process
from heddle_engine.serving.vllm.process import VllmProcess


def test_calls_fail_when_vllm_is_killed_within_a_frame(monkeypatch):
    """Frames are larger than a pipe's buffer, so that a part of one may be all that has come."""
    monkeypatch.setattr(process, "_WORKER", "tests.serving.torn_worker")
    died = []

    async def outcome(vllm):
        call = vllm.begin({"prompt_ids": [1]}, lambda _frame: None)
        with pytest.raises(EngineError, match=r"vLLM ended while it sampled: the process was killed \(SIGK") as caught:
            await asyncio.wait_for(call.ended, 30)
        return caught.value.kind

    async def scenario():
        vllm = await VllmProcess.start(sys.executable, {}, dict(os.environ), lambda: None, died.append)
        try:
            # The second comes when it is gone.
            return [await outcome(vllm), await outcome(vllm)]
        finally:
            await vllm.stop()

    assert asyncio.run(scenario()) == ["unavailable", "unavailable"]
    assert len(died) == 1
