"""An engine in which something breaks that cannot be mended in its process; `HEDDLE_TEST_FAULT` says what."""

import os

import torch


def lose_device(*_args, **_options):
    """As a kernel that reads where it may not: this call fails, and so does every later one."""
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
