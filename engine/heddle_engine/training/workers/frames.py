"""What engine and training workers send each other: JSON with tensors beside it, as one safetensors file.

A frame is its length (8 bytes, big-endian), then the file, whose metadata holds the JSON.
"""

import json
import socket
import struct
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

_LENGTH = struct.Struct(">Q")
_MOST_BYTES = 1 << 40

Message = tuple[dict[str, Any], dict[str, Tensor]]


def encode(content: dict[str, Any], tensors: dict[str, Tensor] | None = None) -> bytes:
    # Copies, because safetensors refuses tensors that share memory.
    apart = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in (tensors or {}).items()}
    body = save(apart, {"content": json.dumps(content)})
    return _LENGTH.pack(len(body)) + body


def receive(connection: socket.socket, most: int = _MOST_BYTES) -> Message | None:
    """The next frame; None when the other side is gone, is silent for its timeout, or sends what is no frame."""
    head = _exactly(connection, _LENGTH.size)
    if head is None or _LENGTH.unpack(head)[0] > most:
        return None
    body = _exactly(connection, _LENGTH.unpack(head)[0])
    if body is None:
        return None
    try:
        return _decoded(body)
    except (SafetensorError, ValueError, KeyError, TypeError, struct.error):
        return None


def _decoded(body: bytes) -> Message:
    (size,) = struct.unpack("<Q", body[:8])
    return json.loads(json.loads(body[8 : 8 + size])["__metadata__"]["content"]), load(body)


def _exactly(connection: socket.socket, count: int) -> bytes | None:
    buffer = bytearray(count)
    view = memoryview(buffer)
    while view:
        try:
            got = connection.recv_into(view)
        except OSError:
            return None
        if got == 0:
            return None
        view = view[got:]
    return bytes(buffer)
