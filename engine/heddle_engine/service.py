"""The front: accepts connections, runs each call as a task, sends heartbeats."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from .errors import EngineError
from .protocol import (
    PROTOCOL_VERSION,
    FrameError,
    FrameTooLargeError,
    UnreadableCallError,
    encode_frame,
    read_frame,
)

HEARTBEAT_S = 2.0

log = logging.getLogger(__name__)


class Service:
    """Serves one engine to any number of connections. `engine` completes once torch is imported."""

    def __init__(self, engine: Awaitable, token: str | None):
        self._engine = asyncio.ensure_future(engine)
        self._token = token
        self.draining = False
        self.stopped = asyncio.Event()

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = _Connection(self, reader, writer)
        await connection.run()

    async def call(self, method: str, params: dict, emit: Callable[[str, dict], None], trusted: "_Connection") -> dict:
        """The result of `method`; raises EngineError."""
        if method == "hello":
            return await self._hello(params, trusted)
        if self._token is not None and not trusted.authenticated:
            raise EngineError("invalid", "Say hello with the engine's token first.", "token")
        engine = await self._engine
        if method == "shutdown":
            return await self.shutdown(params.get("drain_s", 10.0))
        handler = getattr(engine, _METHODS.get(method, ""), None)
        if handler is None:
            raise EngineError("invalid", f"The engine has no method {method!r}.")
        if self.draining and method not in ("status", "train.cancel"):
            raise EngineError("unavailable", "The engine is shutting down.")
        return await handler(params, emit)

    async def _hello(self, params: dict, connection: "_Connection") -> dict:
        if params.get("protocol") != PROTOCOL_VERSION:
            theirs = params.get("protocol")
            raise EngineError(
                "invalid",
                f"The server speaks protocol {theirs}, this engine {PROTOCOL_VERSION}: use matching versions.",
            )
        if self._token is not None and params.get("token") != self._token:
            raise EngineError("invalid", "The token is not this engine's.", "token")
        connection.authenticated = True
        return (await self._engine).hello()

    async def shutdown(self, drain_s: float) -> dict:
        self.draining = True
        engine = await self._engine
        await engine.drain(drain_s)
        asyncio.get_running_loop().call_later(0.05, self.stopped.set)
        return {}

    def heartbeat(self) -> dict | None:
        return self._engine.result().heartbeat() if self._engine.done() and not self._engine.exception() else None


_METHODS = {
    "status": "status",
    "base.resolve": "base_resolve",
    "chat": "chat",
    "embed": "embed",
    "tokenize": "tokenize",
    "detokenize": "detokenize",
    "train": "train",
    "train.cancel": "train_cancel",
    "adapter.import": "adapter_import",
    "checkpoint.export": "checkpoint_export",
}


class _Connection:
    """One peer: its calls by id, and a writer that never blocks the event loop."""

    def __init__(self, service: Service, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._service, self._reader, self._writer = service, reader, writer
        self._calls: dict[int, asyncio.Task] = {}
        self.authenticated = False

    async def run(self) -> None:
        beating = asyncio.create_task(self._beat())
        try:
            while await self._take():
                pass
        except FrameError as error:
            log.error("closing a connection: %s", error)
        except ConnectionError:
            pass
        finally:
            beating.cancel()
            for task in self._calls.values():
                task.cancel()
            self._writer.close()

    async def _take(self) -> bool:
        """Begin the next call; False where the peer has closed."""
        try:
            frame = await read_frame(self._reader)
        except UnreadableCallError as error:
            self._fail(error.call_id, EngineError("invalid", f"The request cannot be read: {error}."))
            return True
        if frame is not None:
            self._start(frame)
        return frame is not None

    def _start(self, frame: dict) -> None:
        call_id, method = frame.get("id"), frame.get("method")
        if not isinstance(call_id, int) or not isinstance(method, str):
            raise FrameError(f"a call needs a whole-number id and a method, not {call_id!r} and {method!r}")
        if call_id in self._calls:
            raise FrameError(f"call {call_id} is still running")
        params = frame.get("params")
        if not isinstance(params, dict):
            self._fail(call_id, EngineError("invalid", f"params must be an object, not {params!r}."))
        elif method == "chat.cancel":
            self._cancel(call_id, params)
        else:
            task = asyncio.create_task(self._run_call(call_id, method, params))
            self._calls[call_id] = task
            task.add_done_callback(lambda ended: self._end(call_id, ended))

    def _end(self, call_id: int, task: asyncio.Task) -> None:
        """A call may be cancelled before its task has begun, so its answer does not come from there."""
        self._calls.pop(call_id, None)
        if task.cancelled():
            self._fail(call_id, EngineError("cancelled", "The call was cancelled."))

    def _cancel(self, call_id: int, params: dict) -> None:
        if task := self._calls.get(params.get("id")):
            task.cancel()
        self._send({"id": call_id, "result": {}})

    async def _run_call(self, call_id: int, method: str, params: dict) -> None:
        def emit(event: str, data: dict) -> None:
            self._send({"id": call_id, "event": event, "data": data})

        try:
            self._send({"id": call_id, "result": await self._service.call(method, params, emit, self)})
        except EngineError as error:
            self._fail(call_id, error)
        except (KeyError, TypeError, AttributeError) as error:
            log.exception("call %s %s", call_id, method)
            self._fail(call_id, EngineError("invalid", f"The parameters of {method} are malformed: {error!r}."))
        except Exception as error:
            log.exception("call %s %s", call_id, method)
            self._fail(call_id, EngineError("internal", f"{type(error).__name__}: {error}"))

    def _fail(self, call_id: int, error: EngineError) -> None:
        self._send({"id": call_id, "error": error.as_wire()})

    def _send(self, frame: dict) -> None:
        if self._writer.is_closing():
            return
        try:
            self._writer.write(encode_frame(frame))
        except FrameTooLargeError as error:
            if "result" in frame:
                message = f"The answer is too large: {error}. Ask for fewer choices, tokens or top_logprobs, or stream."
                self._fail(frame["id"], EngineError("invalid", message))
        except ValueError as error:
            log.error("frame not sent: %s", error)
            if "result" in frame:
                self._fail(frame["id"], EngineError("internal", f"The result is not JSON: {error}."))

    async def _beat(self) -> None:
        while True:
            if data := self._service.heartbeat():
                self._send({"event": "heartbeat", "data": data})
            await asyncio.sleep(HEARTBEAT_S)
