"""Logs rows and artifacts with wandb's own client, unmodified, and reads them back."""

import json
import os
import shutil
import time
from pathlib import Path

import wandb
from wandb.apis.public.history import HistoryScan
from wandb.proto.wandb_api_pb2 import HistoryRow, ParquetHistoryItem as HistoryItem

from worker import serve

READABLE_TIMEOUT_S = 300.0


def log_rows(project: str, name: str, steps: int, keys: int) -> dict[str, float]:
    """Seconds until the client has taken all rows, and until its public API reads the last one."""
    run = wandb.init(project=project, id=name)
    began = time.perf_counter()
    for step in range(steps):
        run.log({f"metric_{key}": step + key / 7 for key in range(keys)})
    logged = time.perf_counter() - began
    run.finish()
    deadline = time.monotonic() + READABLE_TIMEOUT_S
    while wandb.Api().run(f"local/{project}/{name}").lastHistoryStep != steps - 1:
        if time.monotonic() > deadline:
            raise RuntimeError("the last row cannot be read")
    return {"logged": logged, "readable": time.perf_counter() - began}


def log_rows_offline(project: str, name: str, steps: int, keys: int) -> dict[str, float]:
    """Seconds in which the client writes the rows to its own file, with no server to send them to."""
    run = wandb.init(project=project, id=name, mode="offline")
    began = time.perf_counter()
    for step in range(steps):
        run.log({f"metric_{key}": step + key / 7 for key in range(keys)})
    run.finish()
    return {"seconds": time.perf_counter() - began}


def convert_rows(steps: int, keys: int) -> dict[str, float]:
    """Seconds in which the client makes its own messages of rows into dicts, as the last act of a scan."""
    items = [HistoryItem(key=f"metric_{key}", value_json=json.dumps(key / 7)) for key in range(keys)]
    row = HistoryRow(history_items=items)
    began = time.perf_counter()
    for _ in range(steps):
        HistoryScan._convert_history_row_to_dict(row)
    return {"seconds": time.perf_counter() - began}


def scan_rows(project: str, name: str, steps: int, page_size: int) -> dict[str, float]:
    began = time.perf_counter()
    rows = sum(1 for _ in wandb.Api().run(f"local/{project}/{name}").scan_history(page_size=page_size))
    seconds = time.perf_counter() - began
    if rows != steps:
        raise RuntimeError(f"{rows} rows instead of {steps}")
    return {"seconds": seconds}


def make_files(folder: str, files: int, file_bytes: int) -> None:
    """Makes files, each with other bytes than every other file of this benchmark."""
    path = Path(folder)
    path.mkdir(parents=True)
    for number in range(files):
        with (path / f"{number:05d}.bin").open("wb") as file:
            left = file_bytes
            while left > 0:
                left -= file.write(os.urandom(min(left, 1 << 24)))


def log_artifact(project: str, name: str, folder: str) -> dict[str, float]:
    """Seconds until the artifact is committed."""
    run = wandb.init(project=project)
    artifact = wandb.Artifact(name, type="dataset")
    began = time.perf_counter()
    artifact.add_dir(folder)
    added = time.perf_counter() - began
    run.log_artifact(artifact).wait()
    seconds = time.perf_counter() - began
    run.finish()
    return {"seconds": seconds, "added": added}


def download_artifact(project: str, name: str, folder: str) -> dict[str, float]:
    """Seconds of a download into an empty folder, past the client's own cache."""
    began = time.perf_counter()
    wandb.Api().artifact(f"local/{project}/{name}:latest").download(root=folder, skip_cache=True)
    seconds = time.perf_counter() - began
    shutil.rmtree(folder)
    return {"seconds": seconds}


if __name__ == "__main__":
    serve(
        {
            "log_rows": log_rows,
            "log_rows_offline": log_rows_offline,
            "scan_rows": scan_rows,
            "convert_rows": convert_rows,
            "make_files": make_files,
            "log_artifact": log_artifact,
            "download_artifact": download_artifact,
        }
    )
