"""Workers that somebody else starts, on other machines too: torchrun, for instance. They connect, and show a token."""

import contextlib
import hmac
import logging
import socket
import threading
from functools import partial

from ...listening import notice_loss
from .frames import encode, receive
from .group import WorkerGroup
from .member import Member

_GREETING_BYTES = 4096
_GREETING_S = 10.0
_AGAIN_S = 1.0
"""Until the next connection is accepted where the last could not be."""

log = logging.getLogger(__name__)


class ConnectedWorkers(WorkerGroup):
    """Listens for them. Places that none has taken are the engine's own work."""

    def __init__(self, trainers: int, address: tuple[str, int], token: str):
        """Raises ``OSError`` where the address cannot be listened on."""
        super().__init__(trainers)
        self._token = token
        self._placing = threading.Lock()
        self._free = list(self.members)
        self._closed = threading.Event()
        self._listener = socket.create_server(address, backlog=trainers)
        self.port: int = self._listener.getsockname()[1]
        log.info("training workers are awaited on port %d", self.port)
        threading.Thread(target=self._accept, name="workers", daemon=True).start()

    def close(self) -> None:
        self._closed.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for member in self.members:
            member.kill()

    def _accept(self) -> None:
        while True:
            try:
                connection, peer = self._listener.accept()
            except OSError as error:
                if self._closed.is_set():
                    return
                # A lack of file descriptors, for instance, which others give back.
                log.warning("a training worker cannot connect: %s", error)
                self._closed.wait(_AGAIN_S)
                continue
            name = f"{peer[0]}:{peer[1]}"
            threading.Thread(target=self._meet, args=(connection, name), name=f"worker-{name}", daemon=True).start()

    def _meet(self, connection: socket.socket, name: str) -> None:
        with connection:
            connection.settimeout(_GREETING_S)
            greeting = receive(connection, _GREETING_BYTES)
            if greeting is None or not self._knows(greeting[0].get("token")):
                log.warning("a training worker at %s was refused: it did not show the token", name)
                _say(connection, {"refused": "the token is not the engine's"})
                return
            member = self._place()
            if member is None:
                _say(connection, {"full": True})
                return
            try:
                self._serve(connection, member, name)
            finally:
                with self._placing:
                    self._free.append(member)

    def _serve(self, connection: socket.socket, member: Member, name: str) -> None:
        connection.settimeout(None)
        notice_loss(connection)
        log.info("a training worker has come from %s", name)
        if _say(connection, {"welcome": True}):
            member.serve(connection, partial(_cut, connection))
        how = member.lose(f"the connection to {name} is lost", who=f"the one at {name}")
        log.warning("a training worker ended: %s", how)

    def _knows(self, token: object) -> bool:
        return isinstance(token, str) and hmac.compare_digest(token.encode(), self._token.encode())

    def _place(self) -> Member | None:
        with self._placing:
            return self._free.pop(0) if self._free else None


def _cut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _say(connection: socket.socket, content: dict) -> bool:
    try:
        connection.sendall(encode(content))
    except OSError:
        return False
    return True
