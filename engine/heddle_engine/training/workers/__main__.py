"""Starts a training worker: `python -m heddle_engine.training.workers --cores N --trainers N`.

Its standard input is a socket to the engine. It keeps nothing that is needed again, and ends with the engine.
"""

import argparse
import ctypes
import logging
import os
import signal
import socket
import sys

from ...runtime import tune_runtime

_PR_SET_PDEATHSIG = 1


def main() -> None:
    parser = argparse.ArgumentParser(prog="heddle_engine.training.workers", description=__doc__)
    parser.add_argument("--cores", type=int, required=True, help="cores that it computes on")
    parser.add_argument("--trainers", type=int, required=True, help="processes that share the memory for training")
    options = parser.parse_args()
    logging.basicConfig(
        stream=sys.stderr, level="INFO", format="%(asctime)s %(levelname)s %(name)s %(process)d %(message)s"
    )
    # The end of its input ends it too, but not while one of the engine's children holds the other end.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    connection = socket.socket(fileno=os.dup(0))
    tune_runtime()
    from .worker import Worker

    Worker(connection, options.cores, options.trainers).run()


if __name__ == "__main__":
    main()
