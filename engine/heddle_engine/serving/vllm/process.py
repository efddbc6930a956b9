"""One vLLM process seen from the engine: starts it, carries frames, and tells every call when the process has ended."""

import asyncio
import contextlib
import itertools
import json
import logging
import os
import re
import signal
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ... import progress
from ...child_process import KILLED
from ...errors import EngineError
from ...protocol import MAX_FRAME_BYTES, FrameError, UnreadableCallError, encode_frame, read_frame

_PACKAGE_ROOT = Path(__file__).parents[3]
_WORKER = "heddle_engine.serving.vllm.worker"
_START_S = 900.0
_TICK_S = 5.0
_KEPT_LINES = 200
_ERROR = re.compile(r"^(?:\([^)]*\) )?(?:[A-Z]+ \S+ \S+ \[[^]]*\] )?((?:[\w.]+(?:Error|Exception)): .*)")
"""The last line of a traceback; vLLM puts the name of its process, and perhaps a log line's beginning, before it."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Call:
    """One sequence that vLLM samples. `take` gets its frames; `ended` has no result but may have an EngineError."""

    number: int
    take: Callable[[dict], None]
    ended: "asyncio.Future[None]"


class VllmProcess:
    """Used from the event loop only. `died` is told, once, when the process has ended without being stopped."""

    def __init__(self, child: asyncio.subprocess.Process, flush: Callable[[], None], died: Callable[[str], None]):
        self._child, self._flush, self._died = child, flush, died
        self._calls: dict[int, Call] = {}
        self._leaving: set[int] = set()
        self._numbers = itertools.count(1)
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self._stopped = False
        self._ended: str | None = None
        self.failure: str | None = None
        """Why it ended by itself; None while it runs, and when it was killed."""
        self._tasks = [asyncio.ensure_future(self._forward_lines())]

    @staticmethod
    async def start(
        python: str,
        options: dict,
        environment: dict[str, str],
        flush: Callable[[], None],
        died: Callable[[str], None],
    ) -> "VllmProcess":
        """Returns when vLLM can serve. `options` are those of its engine. Raises EngineError with vLLM's reason."""
        child = await asyncio.create_subprocess_exec(
            *(python, "-m", _WORKER, json.dumps(options)),
            cwd=_PACKAGE_ROOT,
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=MAX_FRAME_BYTES,
            # A group of its own: vLLM starts processes, and all of them end together.
            start_new_session=True,
        )
        process = VllmProcess(child, flush, died)
        try:
            await process._wait_until_ready()
        except BaseException:
            await process.stop()
            raise
        process._tasks.append(asyncio.ensure_future(process._read()))
        return process

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def num_running(self) -> int:
        """Sequences in vLLM, with those that it has not dropped yet."""
        return len(self._calls) + len(self._leaving)

    def begin(self, frame: dict, take: Callable[[dict], None]) -> Call:
        """Send `frame` as a call. `finish` is due in any case."""
        call = Call(next(self._numbers), take, asyncio.get_running_loop().create_future())
        self._calls[call.number] = call
        if self._ended is not None:
            self._fail_calls(self._ended)
        self._send({"generate": call.number, **frame})
        return call

    def finish(self, call: Call) -> None:
        """`call` has all it wants; vLLM stops sampling it unless it has already."""
        if self._calls.pop(call.number, None):
            self._leaving.add(call.number)
            self._send({"cancel": call.number})

    def drop_adapter(self, adapter_id: int) -> None:
        self._send({"drop": adapter_id})

    async def stop(self) -> None:
        """Returns when the process and all that it started are gone."""
        self._stopped = True
        self._kill()
        await self._child.wait()
        for task in self._tasks:
            task.cancel()
        self._fail_calls("it was stopped")

    def _send(self, frame: dict) -> None:
        # To a process that has ended nothing is written: its calls fail in `_read`.
        if not self._child.stdin.is_closing():
            self._child.stdin.write(encode_frame(frame))

    async def _wait_until_ready(self) -> None:
        first = asyncio.ensure_future(read_frame(self._child.stdout, MAX_FRAME_BYTES))
        try:
            for _ in range(int(_START_S / _TICK_S)):
                await asyncio.wait((first,), timeout=_TICK_S)
                progress.advance()  # whoever watches the engine must not take a slow start for a hang
                if first.done():
                    break
            if first.done() and first.result() is not None:
                log.info("vLLM %s serves, process %d", first.result()["ready"], self.pid)
                return
        finally:
            first.cancel()
        if not first.done() or first.cancelled():
            raise EngineError("unavailable", f"vLLM did not start within {_START_S:g} s.", "base_model")
        raise await self._why_not_started()

    async def _why_not_started(self) -> EngineError:
        how = await self._how_it_ended()
        if self._child.returncode and self._child.returncode < 0:
            return EngineError("unavailable", f"vLLM did not start: {how}.", "base_model")
        return EngineError("invalid", how)

    async def _read(self) -> None:
        try:
            await self._read_frames()
        except (FrameError, UnreadableCallError) as error:
            # One that was killed may have written a part of a frame.
            log.error("vLLM wrote a frame that cannot be read: %s", error)
            self._kill()
        if not self._stopped:
            how = await self._how_it_ended()
            log.error("vLLM ended: %s", how)
            self._kill()
            self.failure = None if self._child.returncode == -signal.SIGKILL else how
            self._died(how)
            self._fail_calls(how)

    async def _read_frames(self) -> None:
        while (frame := await read_frame(self._child.stdout, MAX_FRAME_BYTES)) is not None:
            progress.advance()
            if "gone" in frame or "failed" in frame or frame.get("finished"):
                self._leaving.discard(frame["id"])
            if call := self._calls.get(frame["id"]):
                self._deliver(call, frame)
                self._flush()

    def _kill(self) -> None:
        """With all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGKILL)

    def _deliver(self, call: Call, frame: dict) -> None:
        if call.ended.done():
            return
        try:
            if failure := frame.get("failed"):
                raise EngineError(failure["kind"], f"vLLM: {failure['message']}")
            call.take(frame)
            if frame.get("finished") and not call.ended.done():
                raise EngineError("internal", "vLLM ended a sequence for a reason that it was not given.")
        except EngineError as error:
            call.ended.set_exception(error)
        except Exception as error:
            log.exception("a frame of vLLM could not be told")
            call.ended.set_exception(EngineError("internal", f"{type(error).__name__}: {error}"))
        if frame.get("finished") or frame.get("failed"):
            self._calls.pop(call.number, None)

    def _fail_calls(self, how: str) -> None:
        """Those that there are, and all that come."""
        self._ended = how
        calls, self._calls = self._calls, {}
        for call in calls.values():
            if not call.ended.done():
                reason = f"vLLM ended while it sampled: {how}."
                call.ended.set_exception(EngineError("unavailable", reason, "base_model"))

    async def _how_it_ended(self) -> str:
        code = await self._child.wait()
        await asyncio.wait((self._tasks[0],), timeout=1)  # what it said last
        if code == -signal.SIGKILL:
            return f"the process was {KILLED}"
        errors = [match[1] for line in self._lines if (match := _ERROR.match(line))]
        # vLLM's processes fail one after the other; the first says why, unless it was killed.
        causes = [error for error in errors if "EngineDeadError" not in error and "See root cause" not in error]
        return (causes or [f"the process ended with exit code {code}"])[0]

    async def _forward_lines(self) -> None:
        while True:
            try:
                line = await self._child.stderr.readline()
            except ValueError:
                continue  # longer than the buffer
            if not line:
                return
            self._lines.append(line.decode(errors="replace").rstrip())
            log.debug("vLLM: %s", self._lines[-1])
