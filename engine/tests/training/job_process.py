"""Runs one training job as a process of its own: `python -m tests.training.job_process PARAMS_FILE EVENTS_FILE`.

Prints a line for every gradient step, so that whoever kills it knows how far it came.
"""

import json
import sys
from pathlib import Path

import torch

from heddle_engine.bases import Bases
from heddle_engine.training.jobs import TrainingJob


def main(params_file: str, events_file: str) -> None:
    torch.set_num_threads(2)
    params = json.loads(Path(params_file).read_text())
    job = TrainingJob(params, Bases(torch.device("cpu"), torch.float32).load(params["base"]))
    print("ready", flush=True)
    events = []
    for event in job.run():
        if event is not None:
            events.append([event.kind, event.data])
            print(event.kind, flush=True)
    Path(events_file).write_text(json.dumps(events))


if __name__ == "__main__":
    main(*sys.argv[1:])
