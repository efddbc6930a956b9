"""Where an engine listens for servers on other machines, and what it needs for that. Imports no torch."""

import argparse
import asyncio
import ipaddress
import os
import ssl
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from ..listening import notice_loss, read_token
from .content_store import ContentStore

_STORE_BYTES = 50 << 30
_HANDSHAKE_S = 10.0

Connect = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def add_remote_options(parser: argparse.ArgumentParser) -> None:
    remote = parser.add_argument_group("with --listen tcp://HOST:PORT")
    remote.add_argument("--token-file", type=Path, help="file with the token that servers must show")
    remote.add_argument("--tls-cert", type=Path, help="file with the certificate, and those between it and its root")
    remote.add_argument("--tls-key", type=Path, help="file with the certificate's private key")
    remote.add_argument(
        "--without-tls",
        action="store_true",
        help="listen on other addresses than this machine's own without TLS: whoever sees the network sees the token",
    )
    remote.add_argument("--data-dir", type=Path, default=Path("engine-data"), help="everything that the engine stores")
    remote.add_argument("--store-bytes", type=int, default=_STORE_BYTES, help="how much that may be")
    remote.add_argument(
        "--models",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="folder in which servers may name base models by their paths; may be repeated",
    )


@dataclass(frozen=True)
class RemoteListener:
    host: str
    port: int
    token: str
    tls: ssl.SSLContext | None
    store: ContentStore
    model_folders: list[Path]

    @staticmethod
    def from_options(options: argparse.Namespace) -> "RemoteListener | None":
        """None for a server on this machine. Raises ``ValueError`` with a sentence for people."""
        kind, _, place = options.listen.partition(":")
        if kind == "unix" and place:
            return None
        host, _, port = place.removeprefix("//").rpartition(":")
        host = host.strip("[]")
        if kind != "tcp" or not host or not port.isdecimal():
            raise ValueError(f"--listen {options.listen}: expected unix:PATH or tcp://HOST:PORT")
        token = _token(options.token_file)
        tls = _tls(options.tls_cert, options.tls_key)
        if tls is None and not options.without_tls and not _is_this_machine(host):
            raise ValueError(
                f"--listen {options.listen} is reached from other machines, and without TLS the token and all that is "
                "trained can be read on the way. Give --tls-cert and --tls-key, or listen on 127.0.0.1 behind a "
                "tunnel; --without-tls does without"
            )
        os.umask(0o077)
        try:
            store = ContentStore(options.data_dir, options.store_bytes)
        except BlockingIOError:
            raise ValueError(f"--data-dir {options.data_dir}: another engine uses it; give each its own") from None
        except OSError as error:
            raise ValueError(f"--data-dir {options.data_dir}: {error}") from error
        return RemoteListener(host, int(port), token, tls, store, options.models)

    async def listen(self, connect: Connect) -> asyncio.Server:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            notice_loss(writer.get_extra_info("socket"))
            await connect(reader, writer)

        handshake = {"ssl_handshake_timeout": _HANDSHAKE_S} if self.tls else {}
        server = await asyncio.start_server(connected, self.host, self.port, ssl=self.tls, **handshake)
        kind = "tls" if self.tls else "tcp"
        print(
            f"listening on {kind}://{self.host}:{server.sockets[0].getsockname()[1]}",
            file=sys.stderr,
            flush=True,
        )
        return server


def _token(file: Path | None) -> str:
    if file is None:
        raise ValueError("--listen tcp://… needs --token-file, as anyone who reaches the port could use the engine")
    return read_token("--token-file", file)


def _tls(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise ValueError("--tls-cert and --tls-key belong together")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise ValueError(f"--tls-cert {certificate} with --tls-key {key}: {error}") from error
    return context


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
