"""Training jobs through the protocol, beside chats."""

import hashlib
import json
import time
from pathlib import Path

import pytest
import torch

from heddle_engine.model.decoder import NoLora
from heddle_engine.model.lora import read_peft
from heddle_engine.training.packed.packed_forward import batch_logprobs, lay_out
from heddle_engine.training.trainable_lora import TrainableLora
from tests.training.builders import sequence
from tests.training.jobs_support import cpu_bases

ROWS = [
    {
        "messages": [
            {"role": "user", "content": f"number {i}"},
            {"role": "assistant", "content": "always the same answer"},
        ]
    }
    for i in range(40)
]


@pytest.fixture
def job(base, tmp_path):
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in ROWS))

    def params(name, batch_size=4, **changes):
        return {
            "job_id": name,
            "base": base,
            "lora": {"rank": 4, "alpha": 8, "seed": 1},
            "start": None,
            "reference": None,
            "data": {"path": str(data), "sha256": hashlib.sha256(data.read_bytes()).hexdigest()},
            "job": {
                "kind": "sft",
                "config": {"batch_size": batch_size, "learning_rate": 0.02, "assistant_turns": "all"},
            },
            "work_dir": str(tmp_path / f"{name}-work"),
            "output": {"key": f"{name}@1", "path": str(tmp_path / f"{name}-step1")},
            **changes,
        }

    return params


def chat(base, adapter=None, **sampling):
    return {
        "base": base,
        "adapter": adapter,
        "messages": [{"role": "user", "content": "number 3"}],
        "sampling": {"max_tokens": 30, "temperature": 0, **sampling},
    }


def test_a_job_trains_and_its_adapter_is_served(client, base, job):
    events, result = client.call("train", job("learn"))
    kinds = [kind for kind, _ in events]
    assert kinds[0] == "training_started"
    losses = [data["metrics"]["loss"] for kind, data in events if kind == "gradient_step"]
    assert len(losses) == 10
    assert losses[-1] < 0.7 * losses[0]
    _, trained = client.call("chat", chat(base, result["output"]))
    _, plain = client.call("chat", chat(base))
    assert trained["choices"][0]["content"] != plain["choices"][0]["content"]
    prompt = trained["prompt_token_ids"]
    answer = client.call("tokenize", {"base": base, "prompt": "always the same"})[1]["token_ids"]
    here = cpu_bases().load(base)
    lora = TrainableLora(read_peft(Path(result["output"]["path"]), here.config), here.decoder.device)
    batch = lay_out([sequence(prompt + answer, len(prompt))], here.decoder.device)
    with torch.no_grad():
        before, after = (batch_logprobs(here.decoder, batch, view, 1024)[0].sum() for view in (NoLora(), lora))
    assert after > before + 5


def test_the_name_of_an_adapter_tells_its_content(client, base, job, tmp_path):
    """A job that is cancelled as it ends leaves its adapter in a slot, and the step becomes another one."""

    def made(name, batch_size):
        output = {"key": "m@1", "path": str(tmp_path / name)}
        return client.call("train", job(name, batch_size, output=output))[1]

    def logprob(adapter):
        return client.call("chat", chat(base, adapter, max_tokens=1))[1]["choices"][0]["tokens"][0]["logprob"]

    kept, cancelled = made("kept", 40), made("cancelled", 4)
    names = [f"m@1#{result['manifest_sha256']}" for result in (kept, cancelled)]
    assert [result["output"]["key"] for result in (kept, cancelled)] == names
    path = kept["output"]["path"]
    read = logprob({"key": "read from the files", "path": path})
    assert logprob({"key": names[0], "path": path}) == pytest.approx(read, abs=1e-5)
    assert abs(logprob({"key": names[1], "path": str(tmp_path / "cancelled")}) - read) > 1e-2


def test_chats_go_on_while_a_job_runs(client, base, job):
    training = client.send("train", job("busy", batch_size=1))
    while client.receive().get("event") != "gradient_step":
        pass
    waits = []
    for _ in range(5):
        start = time.monotonic()
        call = client.send("chat", chat(base, max_tokens=5))
        frames = []
        while (frame := client.receive())["id"] != call:
            frames.append(frame)
        assert frame["result"]["completion_tokens"] <= 5
        waits.append(time.monotonic() - start)
        if any("result" in other for other in frames):
            break
    else:
        _, last = client.outcome(training)
        assert last["result"]["gradient_steps"] == 40
    assert max(waits) < 10


def test_cancel_ends_a_job_at_its_gradient_step(client, job):
    training = client.send("train", job("stopped", batch_size=1))
    while client.receive().get("event") != "gradient_step":
        pass
    client.send("train.cancel", {"job_id": "stopped"})
    _, last = client.outcome(training)
    assert last["error"]["kind"] == "cancelled"
    for _ in range(100):
        if client.call("status", {})[1]["training"] == 0:
            break
        time.sleep(0.05)
    _, error = client.call("train.cancel", {"job_id": "stopped"})
    assert error["kind"] == "not_found"


def test_a_job_runs_once_at_a_time(client, job):
    first = client.send("train", job("twin", batch_size=1))
    while client.receive().get("event") != "gradient_step":
        pass
    _, error = client.call("train", job("twin", batch_size=1))
    assert error["kind"] == "invalid"
    assert "twin" in error["message"]
    client.send("train.cancel", {"job_id": "twin"})
    client.outcome(first)


def test_two_jobs_take_turns(client, job):
    calls = [client.send("train", job(name, batch_size=1)) for name in ("left", "right")]
    order, ended = [], 0
    while ended < 2:
        frame = client.receive()
        if frame.get("event") == "gradient_step":
            order.append(calls.index(frame["id"]))
        ended += "result" in frame
    assert sorted(order) == [0] * 40 + [1] * 40
    # Only the steps in which both jobs ran: from the later job's first step to the last step of the one that ended
    # first.
    ends = [len(order) - 1 - order[::-1].index(name) for name in (0, 1)]
    together = order[order.index(1 - order[0]) : min(ends)]
    assert len(together) > 10
    assert [0] * 3 not in [together[i : i + 3] for i in range(len(together))]
    assert [1] * 3 not in [together[i : i + 3] for i in range(len(together))]


def test_wrong_data_is_refused_by_name(client, job, tmp_path):
    _, error = client.call("train", job("absent", data={"path": str(tmp_path / "no.jsonl"), "sha256": "0" * 64}))
    assert error["kind"] == "not_found"
    assert "no.jsonl" in error["message"]
