"""Starts an engine: `python -m heddle_engine --listen unix:PATH | tcp://HOST:PORT`.

A server starts one on its own machine and names files by their paths. One that listens on TCP is started by people,
on a machine with a GPU for instance; the servers that reach it need its token, and name files by their content.

Listens before torch is imported, so that a server connects at once; calls wait until it is there.
"""

import argparse
import asyncio
import faulthandler
import gc
import logging
import os
import signal
import sys
import threading
from pathlib import Path

from .remote.remote_listener import RemoteListener, add_remote_options
from .runtime import tune_runtime
from .service import Service
from .settings import Settings
from .text.sandbox import Sandbox

_DRAIN_S = 10.0
_VITAL_THREADS = ("serving", "training")
_SOFTWARE_FAULT = 70
"""Exit code (EX_SOFTWARE of sysexits.h)."""

log = logging.getLogger(__name__)


def main() -> None:
    options = _parse(sys.argv[1:])
    logging.basicConfig(
        stream=sys.stderr, level=options.log_level, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    threading.excepthook = _end_with_thread
    if options.exit_with_stdin:
        threading.Thread(target=_exit_with_stdin, name="stdin", daemon=True).start()
    tune_runtime()
    asyncio.run(_serve(options))


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="heddle_engine", description="Serve and train LoRA adapters over one base model."
    )
    parser.add_argument("--listen", required=True, metavar="unix:PATH|tcp://HOST:PORT")
    add_remote_options(parser)
    parser.add_argument("--exit-with-stdin", action="store_true", help="exit when standard input closes")
    Settings.add_options(parser)
    parser.add_argument("--log-level", default="INFO")
    options = parser.parse_args(arguments)
    try:
        options.remote = RemoteListener.from_options(options)
        options.settings = Settings.from_options(options)
    except ValueError as error:
        parser.error(str(error))
    return options


def _exit_with_stdin() -> None:
    """The parent holds the other end; when it is gone there is nobody to work for and nothing to save."""
    while sys.stdin.buffer.read(65536):
        pass
    os._exit(0)


def _end_with_thread(failed: threading.ExceptHookArgs) -> None:
    """Ends the process, because the computing thread cannot go on; the server starts another, which resumes the jobs.

    Left alone the calls of a thread that is gone, or whose GPU is, would wait or fail until somebody looks.
    """
    name = failed.thread.name if failed.thread else "unknown"
    error = failed.exc_value or failed.exc_type()
    log.critical("the %s thread failed", name, exc_info=error)
    if name in _VITAL_THREADS:
        logging.shutdown()
        os._exit(_SOFTWARE_FAULT)


async def _serve(options: argparse.Namespace) -> None:
    remote: RemoteListener | None = options.remote
    service = Service(_make_engine(options.settings, remote), remote and remote.token)
    server = await (remote.listen(service.connect) if remote else _listen(options.listen, service))
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, lambda: asyncio.ensure_future(service.shutdown(_DRAIN_S)))
    async with server:
        await service.stopped.wait()
    # Threads inside a long operator would hold an orderly exit up; everything durable is on disk.
    logging.shutdown()
    os._exit(0)


async def _make_engine(settings: Settings, remote: RemoteListener | None):
    sandbox = Sandbox(settings.chat_template_ms / 1000)
    sandbox.start()
    await asyncio.get_running_loop().run_in_executor(None, _import_engine)
    from .engine import Engine

    engine = Engine(settings, sandbox)
    if remote is None:
        return engine
    from .remote.remote_calls import RemoteCalls

    return RemoteCalls(engine, remote.store, remote.model_folders)


def _import_engine() -> None:
    """Import torch and all that rests on it outside the collector's sight.

    Its hundreds of thousands of objects live as long as the process; looking through them again and
    again slows the start and later stops a decode step for tens of milliseconds.
    """
    gc.disable()
    __import__("heddle_engine.engine")
    gc.freeze()
    gc.enable()


async def _listen(address: str, service: Service) -> asyncio.Server:
    path = address.removeprefix("unix:")
    Path(path).unlink(missing_ok=True)
    server = await asyncio.start_unix_server(service.connect, path)
    os.chmod(path, 0o600)
    return server


if __name__ == "__main__":
    main()
