"""An engine with a fault that its process cannot survive; `HEDDLE_TEST_FAULT` names the fault."""

import os
import time

import torch


def lose_device(*_args, **_options):
    """Fails as a kernel that reads where it may not: this call fails, and so does every later one.

    Not before what the work has told is sent: the process ends at once, and what its loop still holds is lost.
    """
    time.sleep(1)
    torch.cuda.is_initialized = lambda: True
    torch.cuda.synchronize = fail
    fail()


def fail():
    raise RuntimeError("CUDA error: an illegal memory access was encountered")


def stumble(*_args):
    raise IndexError("a defect outside of every request")


if __name__ == "__main__":
    from heddle_engine.__main__ import main
    from heddle_engine.model.decoder import Decoder
    from heddle_engine.serving.admission import Admission

    if os.environ["HEDDLE_TEST_FAULT"] == "device":
        Decoder.hidden = lose_device
    else:
        Admission.admit = stumble
    main()
