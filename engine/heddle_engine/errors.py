"""The one exception that crosses the engine protocol."""

from typing import Literal

ErrorKind = Literal["invalid", "not_found", "out_of_memory", "disk_full", "cancelled", "unavailable", "internal"]


class EngineError(Exception):
    """A failed call, in the protocol's terms.

    `kind` is one of the closed list of the wire schema; `param` names the request field at fault in
    the caller's words (`temperature`, `tools[0]`), where there is one; `usage` what a chat that had
    begun has used.
    """

    def __init__(self, kind: ErrorKind, message: str, param: str | None = None, usage: dict | None = None):
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.message = message
        self.param = param
        self.usage = usage

    def as_wire(self) -> dict:
        return {"kind": self.kind, "message": self.message, "param": self.param, "usage": self.usage}
