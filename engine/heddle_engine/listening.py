"""What everything that listens for other machines needs. Imports no torch."""

import ipaddress
import socket
from pathlib import Path

_LEAST_TOKEN = 32


def host_and_port(option: str, text: str) -> tuple[str, int]:
    """Raises ``ValueError`` with a sentence for people."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"{option} {text}: expected HOST:PORT")
    return host.strip("[]"), int(port)


def check_private(option: str, host: str) -> None:
    """Raises ``ValueError`` with a sentence for people where ``host`` is reached from public networks (law 9)."""
    try:
        addresses = {ipaddress.ip_address(info[4][0]) for info in socket.getaddrinfo(host, None)}
    except OSError as error:
        raise ValueError(f"{option} {host}: {error.strerror}") from error
    if not all(address.is_private and not address.is_unspecified for address in addresses):
        raise ValueError(
            f"{option} {host}: name an address of a private network, because what goes over it is not encrypted; "
            "public ones are for a tunnel such as WireGuard, which has private addresses"
        )


def read_token(option: str, file: Path) -> str:
    """Raises ``ValueError`` with a sentence for people."""
    try:
        token = file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{option} {file}: {error}") from error
    if len(token) < _LEAST_TOKEN:
        raise ValueError(
            f"{option} {file}: a token has at least {_LEAST_TOKEN} characters. Make one with openssl rand -hex 32"
        )
    return token


def notice_loss(connection: socket.socket) -> None:
    """A machine whose power or network is gone says nothing; what waits for it must not do so for ever."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 30_000)):
        # Not every system has each of them.
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
