"""Frames between server and engine: a 4-byte big-endian length, then UTF-8 JSON (server/src/wire/engine/frames.ts)."""

import asyncio
import json
import re
import struct
import sys

PROTOCOL_VERSION = 1
MAX_FRAME_BYTES = 64 * 1024 * 1024
MAX_CALL_BYTES = 32 * 1024 * 1024
_LENGTH = struct.Struct(">I")
# The server begins every call with its id.
_CALL_ID = re.compile(rb'\{"id":(\d{1,15}),')


class FrameError(Exception):
    """The peer does not speak the protocol; the connection cannot go on."""


class UnreadableCallError(Exception):
    """Python cannot read the JSON of a frame that came whole. `call_id` names the call to answer with this."""

    def __init__(self, call_id: int, reason: str):
        super().__init__(reason)
        self.call_id = call_id


class FrameTooLargeError(ValueError):
    """A message that fits in no frame; the peer would close the connection over it."""


async def read_frame(reader: asyncio.StreamReader, most: int = MAX_CALL_BYTES) -> dict | None:
    """The next frame, or None when the peer closed between frames. Raises FrameError and UnreadableCallError."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        if length > most:
            raise FrameError(f"a call of {length} bytes; at most {most} are allowed")
        body = await reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise FrameError("the connection closed inside a frame") from error
        return None
    try:
        frame = json.loads(body)
    except (ValueError, RecursionError) as error:
        reason = _why_unreadable(error)
        if match := _CALL_ID.match(body):
            raise UnreadableCallError(int(match[1]), reason) from error
        raise FrameError(f"a frame cannot be read: {reason}") from error
    if not isinstance(frame, dict):
        raise FrameError(f"a frame is a {type(frame).__name__}, not an object")
    return frame


def _why_unreadable(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON: {error}"
    if isinstance(error, RecursionError):
        return "its values are nested too deep"
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    return f"a whole number has more than {sys.get_int_max_str_digits()} digits"


def encode_frame(frame: dict) -> bytes:
    """The bytes of a frame. Raises ValueError for NaN and infinity, which JSON lacks, and FrameTooLargeError."""
    body = json.dumps(frame, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(
        "utf-8", "surrogatepass"
    )
    if len(body) > MAX_FRAME_BYTES:
        raise FrameTooLargeError(f"{len(body)} bytes, and a frame has at most {MAX_FRAME_BYTES}")
    return _LENGTH.pack(len(body)) + body
