"""In place of the process that runs vLLM: it is ready, and is killed while it writes its answer to the first call."""

import os
import signal
import sys

from heddle_engine.protocol import encode_frame

if __name__ == "__main__":
    os.write(1, encode_frame({"ready": "0"}))
    sys.stdin.buffer.read(4)
    os.write(1, encode_frame({"id": 1, "started": 0, "prompt": None})[:-3])
    os.kill(os.getpid(), signal.SIGKILL)
