"""The front: accepts connections, runs each call as a task, sends heartbeats."""

import asyncio
import contextlib
import hmac
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

_HELLO_BYTES = 4096
_HELLO_S = 10.0
_MOST_STRANGERS = 64
"""Connections that have not shown the token yet."""

_MOST_UNSENT = 256 * 1024 * 1024
"""Bytes that wait for a peer that does not read."""

_MUCH_UNSENT = 1024 * 1024
"""Bytes behind which no further result is written. More than a transport holds before it asks its writers to wait."""

log = logging.getLogger(__name__)


class Service:
    """Serves one engine to any number of connections. `engine` completes once torch is imported.

    With a token, connections come from other machines: each must show it first, and none may shut the engine down.
    """

    def __init__(self, engine: Awaitable, token: str | None):
        self._engine = asyncio.ensure_future(engine)
        self._token = token
        self._strangers = 0
        self.draining = False
        self.stopped = asyncio.Event()

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = _Connection(self, reader, writer)
        if self._token is not None and not await self._is_admitted(connection, writer):
            writer.close()
            return
        await connection.run()

    async def _is_admitted(self, connection: "_Connection", writer: asyncio.StreamWriter) -> bool:
        """Whether the connection says hello with the token. Until then little of it is read, and nothing answered."""
        peer = writer.get_extra_info("peername")
        if self._strangers >= _MOST_STRANGERS:
            log.warning("a connection from %s is refused: %s others have not said hello yet", peer, self._strangers)
            return False
        self._strangers += 1
        try:
            async with asyncio.timeout(_HELLO_S):
                if not await connection.greet():
                    log.warning("a connection from %s was refused: it did not show the engine's token", peer)
                    return False
        except (FrameError, UnreadableCallError, ConnectionError, TimeoutError) as error:
            log.warning("a connection from %s said no hello: %s", peer, str(error) or "it was silent")
            return False
        finally:
            self._strangers -= 1
        return True

    def has_token(self, hello: dict) -> bool:
        """Whether a first call shows the token."""
        params = hello.get("params")
        token = params.get("token") if hello.get("method") == "hello" and isinstance(params, dict) else None
        return isinstance(token, str) and hmac.compare_digest(token.encode(), (self._token or "").encode())

    async def call(self, method: str, params: dict, emit: Callable[[str, dict], None]) -> dict:
        """The result of `method`; raises EngineError."""
        if method == "hello":
            return await self._hello(params)
        engine = await self._engine
        if method == "shutdown":
            if self._token is not None:
                raise EngineError("invalid", "An engine that listens for other machines is stopped on its own.")
            return await self.shutdown(params.get("drain_s", 10.0))
        handler = getattr(engine, _METHODS.get(method, ""), None)
        if handler is None:
            raise EngineError("invalid", f"The engine has no method {method!r}.")
        if self.draining and method not in ("status", "train.cancel"):
            raise EngineError("unavailable", "The engine is shutting down.")
        return await handler(params, emit)

    async def _hello(self, params: dict) -> dict:
        if params.get("protocol") != PROTOCOL_VERSION:
            theirs = params.get("protocol")
            raise EngineError(
                "invalid",
                f"The server speaks protocol {theirs}, this engine {PROTOCOL_VERSION}: use matching versions.",
            )
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
    "train.forget": "train_forget",
    "files.lacking": "files_lacking",
    "file.put": "file_put",
    "file.get": "file_get",
    "adapter.import": "adapter_import",
    "checkpoint.export": "checkpoint_export",
}


class _Connection:
    """One peer: its calls by id, and a writer that never blocks the event loop."""

    def __init__(self, service: Service, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._service, self._reader, self._writer = service, reader, writer
        self._calls: dict[int, asyncio.Task] = {}

    async def greet(self) -> bool:
        """Whether the first call is a hello with the service's token; answers it if so, else refuses it."""
        hello = await read_frame(self._reader, _HELLO_BYTES)
        if hello is None:
            raise ConnectionError("it closed")
        if self._service.has_token(hello):
            self._start(hello)
            return True
        if isinstance(hello.get("id"), int):
            self._fail(hello["id"], EngineError("invalid", "The token is not this engine's.", "token"))
        return False

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
            result = await self._service.call(method, params, emit)
            await self._sent_most()
            self._send({"id": call_id, "result": result})
        except EngineError as error:
            self._fail(call_id, error)
        except (KeyError, TypeError, AttributeError) as error:
            log.exception("call %s %s", call_id, method)
            self._fail(call_id, EngineError("invalid", f"The parameters of {method} are malformed: {error!r}."))
        except Exception as error:
            log.exception("call %s %s", call_id, method)
            self._fail(call_id, EngineError("internal", f"{type(error).__name__}: {error}"))

    async def _sent_most(self) -> None:
        """Large results wait for each other: together they may be more than a peer that reads can take at once."""
        with contextlib.suppress(OSError):
            while not self._writer.is_closing() and self._writer.transport.get_write_buffer_size() > _MUCH_UNSENT:
                await self._writer.drain()

    def _fail(self, call_id: int, error: EngineError) -> None:
        self._send({"id": call_id, "error": error.as_wire()})

    def _send(self, frame: dict) -> None:
        if self._writer.is_closing():
            return
        if self._writer.transport.get_write_buffer_size() > _MOST_UNSENT:
            log.error("closing a connection that does not read what it asked for")
            self._writer.transport.abort()
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
