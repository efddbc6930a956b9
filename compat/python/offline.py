"""Refuses every network connection of this process that leaves the machine.

A client that needs a service other than ours would otherwise pass here and fail behind a firewall.
"""

import ipaddress
import sys
from typing import Any


class OutboundBlockedError(ConnectionRefusedError):
    """A client tried to reach another host."""


def block_outbound() -> None:
    """From now on, name look-ups and connections succeed for this machine only."""
    sys.addaudithook(_refuse_foreign)


def _refuse_foreign(event: str, args: tuple[Any, ...]) -> None:
    if event == "socket.connect":
        address = args[1]
        if isinstance(address, tuple):
            _require_loopback(address[0])
    elif event == "socket.getaddrinfo":
        _require_loopback(args[0])


def _require_loopback(host: Any) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return
    try:
        if ipaddress.ip_address(name).is_loopback:
            return
    except ValueError:
        pass
    raise OutboundBlockedError(f"outbound network is blocked in these tests: {name}")
