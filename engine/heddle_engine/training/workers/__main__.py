"""A training worker, started by the engine or by people: `python -m heddle_engine.training.workers …`.

With `--engine HOST:PORT --token-file FILE` it connects to an engine that was started with `--trainers-listen`, as often
as it takes; torchrun starts one for each GPU. Without, its standard input is a socket to the engine that started it.
A worker keeps nothing that is needed again.
"""

import argparse
import logging
import os
import socket
import sys
import time
from pathlib import Path

from ...child_process import end_with_parent
from ...listening import host_and_port, notice_loss, read_token
from ...runtime import tune_runtime

_AGAIN_S = 2.0
_CONNECT_S = 10.0

log = logging.getLogger("heddle_engine.training.workers")


def main() -> None:
    options = _parse()
    logging.basicConfig(
        stream=sys.stderr, level="INFO", format="%(asctime)s %(levelname)s %(name)s %(process)d %(message)s"
    )
    tune_runtime()
    if options.engine is None:
        _run_for_parent(options)
    else:
        _run_for_engine(options)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="heddle_engine.training.workers", description="Compute shares of training.")
    parser.add_argument("--engine", metavar="HOST:PORT", help="where the engine awaits training workers")
    parser.add_argument("--token-file", type=Path, help="file with the token that the engine knows")
    parser.add_argument("--cores", type=int, help="cores to compute on; default: as OMP_NUM_THREADS says")
    parser.add_argument("--trainers", type=int, help="processes that share the memory; default: torchrun's number")
    options = parser.parse_args()
    try:
        if options.engine is not None:
            options.address = host_and_port("--engine", options.engine)
            if options.token_file is None:
                raise ValueError("--engine needs --token-file")
            options.token = read_token("--token-file", options.token_file)
    except ValueError as error:
        parser.error(str(error))
    return options


def _run_for_parent(options: argparse.Namespace) -> None:
    # The end of its input ends it too, but not while one of the engine's children holds the other end.
    end_with_parent()
    connection = socket.socket(fileno=os.dup(0))
    _work(connection, options, engine_gone=lambda: os._exit(0))


def _run_for_engine(options: argparse.Namespace) -> None:
    """With torch imported first: a worker that has a place is at work."""
    __import__("heddle_engine.training.workers.worker")
    while (connection := _connected(options.address, options.token)) is None:
        time.sleep(_AGAIN_S)

    def begin_again() -> None:
        """In the same process for whoever started it, and with nothing left of the engine that is gone."""
        log.warning("the connection to the engine is lost")
        time.sleep(_AGAIN_S)
        os.execv(sys.executable, [sys.executable, "-m", "heddle_engine.training.workers", *sys.argv[1:]])

    _work(connection, options, begin_again)


def _connected(address: tuple[str, int], token: str) -> socket.socket | None:
    """A connection over which the engine has taken this worker; None where it is to be tried again."""
    from .frames import encode, receive

    try:
        connection = socket.create_connection(address, timeout=_CONNECT_S)
        connection.sendall(encode({"token": token}))
    except OSError as error:
        log.info("the engine is not there yet: %s", error)
        return None
    answer = receive(connection)
    content = answer[0] if answer else {}
    if "refused" in content:
        sys.exit(f"The engine refuses this worker: {content['refused']}.")
    if "welcome" not in content:
        log.info("the engine has no place free")
        connection.close()
        return None
    connection.settimeout(None)
    notice_loss(connection)
    return connection


def _work(connection: socket.socket, options: argparse.Namespace, engine_gone) -> None:
    import torch

    from ...bases import default_device
    from ...memory import divide_training_memory
    from ...threads import usable_cores
    from .worker import Worker

    # torchrun's: which of this machine's processes it is, and how many there are.
    here, count = (int(os.environ.get(name, default)) for name, default in (("LOCAL_RANK", 0), ("LOCAL_WORLD_SIZE", 1)))
    device = default_device()
    if device.type == "cuda" and options.engine is not None:
        device = torch.device("cuda", here)
        torch.cuda.set_device(device)
    divide_training_memory(options.trainers or count)
    Worker(connection, device, options.cores or usable_cores(), engine_gone).run()


if __name__ == "__main__":
    main()
