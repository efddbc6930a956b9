"""A real engine process and a blocking client that checks every frame against the wire schema."""

import functools
import itertools
import json
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

from jsonschema.validators import validator_for

ENGINE = Path(__file__).parents[2]
SCHEMA = json.loads((ENGINE / "heddle_engine/protocol_schema.json").read_text())


@functools.cache
def _validator(*place):
    """Checks values against the schema at `place`; the schema itself is checked once, not for each frame."""
    schema = functools.reduce(lambda found, name: found[name], place, SCHEMA)
    kind = validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)


def _validate(value, *place):
    _validator(*place).validate(value)


class EngineProcess:
    def __init__(self, folder, *arguments, listen=None, module="heddle_engine"):
        self.path = folder / "engine.sock"
        command = [sys.executable, "-m", module, "--listen", listen or f"unix:{self.path}", *arguments]
        self.log = folder / "engine.log"
        self.process = subprocess.Popen(command, cwd=ENGINE, stdin=subprocess.PIPE, stderr=self.log.open("w"))

    def wait_until_listening(self, port=None):
        for _ in range(600):
            if self.process.poll() is not None:
                raise AssertionError(f"the engine exited: {self.log.read_text()}")
            try:
                return Client(str(self.path) if port is None else port)
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the engine does not listen")

    def close(self):
        self.process.stdin.close()
        self.process.terminate()
        self.process.wait(20)


class Client:
    def __init__(self, address):
        if isinstance(address, str):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(address)
        else:
            self.socket = socket.create_connection(("127.0.0.1", address))
        self.socket.settimeout(60)
        self._file = self.socket.makefile("rb")
        self._ids = itertools.count(1)
        self._methods = {}
        self.heartbeats = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        # A socket stays open as long as a file of it does.
        self._file.close()
        self.socket.close()

    def send_bytes(self, body):
        self.socket.sendall(struct.pack(">I", len(body)) + body)

    def send(self, method, params):
        return self.send_together((method, params))[0]

    def send_together(self, *calls):
        """The ids of calls, each a method and its params, that the engine reads with no pause between them."""
        ids = [next(self._ids) for _ in calls]
        self._methods.update({call_id: method for call_id, (method, _) in zip(ids, calls, strict=True)})
        bodies = [
            json.dumps({"id": call_id, "method": method, "params": params}).encode()
            for call_id, (method, params) in zip(ids, calls, strict=True)
        ]
        self.socket.sendall(b"".join(struct.pack(">I", len(body)) + body for body in bodies))
        return ids

    def receive(self):
        """The next frame that belongs to a call, or None at the end."""
        while True:
            head = self._file.read(4)
            if len(head) < 4:
                return None
            frame = json.loads(self._file.read(struct.unpack(">I", head)[0]))
            self._check(frame)
            if "id" in frame:
                return frame
            self.heartbeats.append(frame["data"])

    def _check(self, frame):
        method = self._methods.get(frame.get("id"))
        if "error" in frame:
            _validate(frame["error"], "error")
        elif "result" in frame and method in SCHEMA["methods"]:
            _validate(frame["result"], "methods", method, "result")
        elif "event" in frame and method in SCHEMA["methods"]:
            _validate(frame["data"], "methods", method, "events", frame["event"])

    def outcome(self, call_id):
        """(events, last frame) of a call; frames of other calls are dropped."""
        events = []
        while (frame := self.receive()) is not None:
            if frame["id"] != call_id:
                continue
            if "event" not in frame:
                return events, frame
            events.append((frame["event"], frame["data"]))
        raise AssertionError("the connection closed")

    def call(self, method, params):
        events, last = self.outcome(self.send(method, params))
        return events, last.get("result", last.get("error"))
