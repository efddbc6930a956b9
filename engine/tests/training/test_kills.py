"""A job whose process is killed with SIGKILL at random moments ends as if nothing had happened (engine 5.6).

`HEDDLE_KILL_POINTS` sets how many kills; a few by default.
"""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.training.jobs_support import job_params, pair_lines, sampled_groups

POINTS = int(os.environ.get("HEDDLE_KILL_POINTS", "2"))
ENGINE = Path(__file__).parents[2]


def start(params, tmp_path) -> subprocess.Popen:
    file = tmp_path / f"{params['job_id']}.json"
    file.write_text(json.dumps(params))
    command = [sys.executable, "-m", "tests.training.job_process", str(file), str(events_file(params, tmp_path))]
    environment = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
    process = subprocess.Popen(command, cwd=ENGINE, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout.readline() == "ready\n"
    return process


def events_file(params, tmp_path) -> Path:
    return tmp_path / f"{params['job_id']}-events.json"


def run_to_the_end(params, tmp_path) -> None:
    process = start(params, tmp_path)
    process.communicate(timeout=120)
    assert process.returncode == 0


def kill_after(process, num_steps, delay) -> None:
    """Kills the process ``delay`` seconds after it has printed ``num_steps`` gradient steps, or has ended."""
    while num_steps > 0:
        line = process.stdout.readline()
        if not line:
            break
        num_steps -= line == "gradient_step\n"
    time.sleep(delay)
    process.kill()
    process.communicate()


def recorded(params, tmp_path) -> dict:
    return {**params, "record_dir": str(tmp_path / f"{params['job_id']}-record")}


def outcome(params, tmp_path) -> tuple[bytes, list, dict]:
    events = json.loads(events_file(params, tmp_path).read_text())
    for kind, data in events:
        if kind == "gradient_step":
            del data["metrics"]["tokens_per_second"]
    record = {file.name: file.read_bytes() for file in Path(params["record_dir"]).glob("*")}
    return (Path(params["output"]["path"]) / "adapter_model.safetensors").read_bytes(), events, record


@pytest.mark.parametrize("kind", ["rl", "sft", "dpo"])
def test_a_killed_job_ends_bit_for_bit_the_same(kind, model_folders, tmp_path):
    folder = model_folders("qwen3")
    if kind == "rl":
        lines, config = sampled_groups(folder, groups=20), {"packed_sequence_length": 128, "kl_penalty_coef": 0.1}
    elif kind == "dpo":
        lines, config = pair_lines([("in the inn", "at the mill")] * 60), {}
    else:
        question, answer = {"role": "user", "content": "say"}, {"role": "assistant", "content": "in the inn"}
        lines, config = [{"messages": [question, answer]}] * 60, {}
    whole = recorded(job_params(folder, tmp_path, lines, kind, name="whole", **config), tmp_path)
    run_to_the_end(whole, tmp_path)
    expected = outcome(whole, tmp_path)
    count = sum(kind == "gradient_step" for kind, _ in expected[1])
    killed = recorded(job_params(folder, tmp_path, lines, kind, name="killed", **config), tmp_path)
    rng = random.Random(kind)
    for _ in range(POINTS):
        kill_after(start(killed, tmp_path), rng.randint(1, count), rng.random() * 0.1)
    run_to_the_end(killed, tmp_path)
    assert set(expected[2]) == (set() if kind != "rl" else {"turns.jsonl", "trajectories.jsonl", "steps.jsonl"})
    assert outcome(killed, tmp_path) == expected
