"""Runs exports one at a time, each in a process of its own, which can be stopped and yields the processor to chats."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from ..bases import Base
from ..errors import EngineError
from ..fair_pool import FairPool
from .process import remove

_PACKAGE_ROOT = Path(__file__).parents[2]


class Exporter:
    """Used from the event loop only."""

    def __init__(self) -> None:
        self._pool = FairPool(1, 1, "export")

    async def run(self, base: Base, params: dict, planned: Callable[[int], None]) -> dict:
        """`exportResult` of the wire. `planned` gets the size before anything is written. Cancelling leaves nothing."""
        loop = asyncio.get_running_loop()
        export = _Export(_task(base, params), lambda size: loop.call_soon_threadsafe(planned, size))
        try:
            return {"size_bytes": await self._pool.run(params.get("tenant", ""), export.run)}
        except asyncio.CancelledError:
            await asyncio.to_thread(export.stop)
            raise


def _task(base: Base, params: dict) -> dict:
    adapter = params["adapter"]
    return {
        "base": params["base"]["name"],
        "folder": str(base.folder),
        "from_hub": base.from_hub,
        "adapter": adapter and adapter["path"],
        "format": params["format"],
        "dtype": params["dtype"],
        "title": params["title"],
        "output": params["output"]["path"],
        "most_bytes": params.get("most_bytes"),
    }


class _Export:
    def __init__(self, task: dict, planned: Callable[[int], None]):
        self._task, self._planned = task, planned
        self._process: subprocess.Popen | None = None
        self._stopped = False
        self._lock = threading.Lock()

    def run(self) -> int:
        """Writes the export and returns its bytes. Runs in a thread."""
        process = self._start()
        try:
            process.stdin.write(json.dumps(self._task).encode() + b"\n")
            process.stdin.flush()
            return self._listen(process)
        except BrokenPipeError:
            raise self._ended(process) from None
        finally:
            process.kill()
            process.wait()
            with contextlib.suppress(OSError):
                process.stdin.close()
            process.stdout.close()
            output = Path(self._task["output"])
            remove(output.with_name(f"{output.name}.part"))

    def stop(self) -> None:
        """Ends the export. Nothing is written any more when this returns."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()
                self._process.wait()

    def _start(self) -> subprocess.Popen:
        with self._lock:
            if self._stopped:
                raise EngineError("cancelled", "The export was cancelled.")
            self._process = subprocess.Popen(
                [sys.executable, "-m", "heddle_engine.exports.process"],
                cwd=_PACKAGE_ROOT,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            return self._process

    def _listen(self, process: subprocess.Popen) -> int:
        for line in process.stdout:
            message = json.loads(line)
            if "planned" in message:
                self._planned(message["planned"])
            elif "error" in message:
                error = message["error"]
                raise EngineError(error["kind"], error["message"], error["param"])
            else:
                return message["done"]
        raise self._ended(process)

    def _ended(self, process: subprocess.Popen) -> EngineError:
        if self._stopped:
            return EngineError("cancelled", "The export was cancelled.")
        return EngineError(
            "internal",
            f"The process that wrote the export ended with {process.wait()}; the engine's log may say more. "
            "Where it was killed for want of memory, export on a machine with more.",
        )
