"""Refuses every network connection of this session to another machine, and remembers the hosts.

Otherwise a client that needs another service would pass here and fail behind a firewall. A client that ignores the
refusal is found as well: elsewhere it would tell that host about its user.
"""

import ipaddress
import os
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

refused: list[str] = []
"""Hosts that this process, or one that it started, tried to reach."""

KNOWN = {"pypi.org"}
"""weave asks this host at each start for its newest version. No setting stops that; it goes on without an answer."""
if os.environ.get("HEDDLE_CLIENT_SET") == "weave-0.52.22":
    KNOWN.add("o151352.ingest.us.sentry.io")
    """This version reports its sessions and errors to its makers, and does not know WANDB_ERROR_REPORTING yet."""

CERTIFICATE = Path(__file__).resolve().parents[2] / "server/test/fixtures/localhost.crt"


class OutboundBlockedError(ConnectionRefusedError):
    """A client tried to reach another host."""


def block_outbound() -> None:
    """Lets name look-ups and connections succeed for this machine only, from now on.

    Processes that this one starts, in any language, get a proxy that refuses everything.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), _RefusingProxy)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    proxy = f"http://127.0.0.1:{server.server_port}"
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        os.environ[name] = os.environ[name.lower()] = proxy
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = "127.0.0.1,localhost,::1"
    own_names.update((socket.gethostname(), socket.gethostname().split(".")[0]))
    sys.addaudithook(_refuse_foreign)
    _trust_one_certificate()


def _trust_one_certificate() -> None:
    """Makes clients load one certificate instead of all authorities, since no server here needs those.

    weave makes 24 connection pools for each project; each takes 22 ms to load all authorities, 0.5 ms to load this one.
    """
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        os.environ[name] = str(CERTIFICATE)


def _remember(host: str) -> None:
    if host not in KNOWN:
        refused.append(host)


own_names = {None, "", "localhost"}


class _RefusingProxy(BaseHTTPRequestHandler):
    """Answers 403 to whatever it is asked to fetch or to connect to."""

    def _refuse(self) -> None:
        _remember(urlsplit(self.path if "://" in self.path else f"//{self.path}").hostname or self.path)
        self.send_error(403, "outbound network is blocked in these tests")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._refuse
        raise AttributeError(name)

    def log_message(self, *args: Any) -> None:
        pass


def _refuse_foreign(event: str, args: tuple[Any, ...]) -> None:
    if event == "socket.connect":
        address = args[1]
        if isinstance(address, tuple):
            _require_loopback(address[0])
    elif event == "socket.getaddrinfo":
        _require_loopback(args[0])


def _require_loopback(host: Any) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if name in own_names:
        return
    try:
        if ipaddress.ip_address(name).is_loopback:
            return
    except ValueError:
        pass
    _remember(str(name))
    raise OutboundBlockedError(f"outbound network is blocked in these tests: {name}")
