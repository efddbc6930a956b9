"""Frames between server and engine: a 4-byte big-endian length, then UTF-8 JSON (server/src/wire/engine/frames.ts)."""

import asyncio
import json
import struct

PROTOCOL_VERSION = 1
MAX_FRAME_BYTES = 64 * 1024 * 1024
_LENGTH = struct.Struct(">I")


class FrameError(Exception):
    """The peer does not speak the protocol; the connection cannot go on."""


async def read_frame(reader: asyncio.StreamReader) -> dict | None:
    """The next frame, or None where the peer closed between frames."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        if length > MAX_FRAME_BYTES:
            raise FrameError(f"a frame of {length} bytes; at most {MAX_FRAME_BYTES} are allowed")
        body = await reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise FrameError("the connection closed inside a frame") from error
        return None
    try:
        frame = json.loads(body)
    except ValueError as error:
        raise FrameError(f"a frame is not JSON: {error}") from error
    if not isinstance(frame, dict):
        raise FrameError(f"a frame is a {type(frame).__name__}, not an object")
    return frame


def encode_frame(frame: dict) -> bytes:
    """Raises ValueError for NaN and infinity, which JSON lacks."""
    body = json.dumps(frame, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(
        "utf-8", "surrogatepass"
    )
    return _LENGTH.pack(len(body)) + body
