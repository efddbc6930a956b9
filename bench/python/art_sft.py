"""ART's own train_sft, unmodified, on rows of a JSONL file of questions and answers."""

import asyncio
import itertools
import json
import threading
import time
from typing import Any

import art
import httpx
from art.serverless.backend import ServerlessBackend

from worker import serve


def first_gradient(url: str, key: str, name: str, file: str, rows: int) -> dict[str, float]:
    """Seconds from the call of train_sft to its first gradient step, and to its end."""
    with open(file, encoding="utf-8") as lines:
        examples = [json.loads(line) for line in itertools.islice(lines, rows)]
    trajectories = [
        art.Trajectory(
            messages_and_choices=[
                {"role": "user", "content": row["question"]},
                {"role": "assistant", "content": row["answer"]},
            ],
            reward=0.0,
        )
        for row in examples
    ]
    return asyncio.run(_train(url, key, name, trajectories))


async def _train(url: str, key: str, name: str, trajectories: list[art.Trajectory]) -> dict[str, float]:
    backend = ServerlessBackend(api_key=key, base_url=f"{url}/v1")
    model: Any = art.TrainableModel(name=name, run_name=name, project="bench-sft", base_model="heddle/tiny")
    await model.register(backend)
    began = time.perf_counter()
    found: list[float] = []
    stop = threading.Event()
    watcher = threading.Thread(target=_watch, args=(url, key, model.id, began, found, stop))
    watcher.start()
    try:
        await model.train_sft(trajectories)
    finally:
        stop.set()
        watcher.join()
        await backend.close()
    return {"first_gradient": found[0], "ended": time.perf_counter() - began}


def _watch(url: str, key: str, model_id: str, began: float, found: list[float], stop: threading.Event) -> None:
    """Waits for the first gradient step. ART itself asks only once a second, which would hide the time to be measured."""
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}) as client:
        while not found and not stop.is_set():
            jobs = client.get("/v1/preview/training-jobs", params={"model_id": model_id}).json()["data"]
            for job in jobs:
                if job["gradient_steps"] > 0:
                    found.append(time.perf_counter() - began)
            time.sleep(0.005)


if __name__ == "__main__":
    serve({"first_gradient": first_gradient})
