"""What is sampled with vLLM is what the engine itself samples, or the request fails."""

import hashlib
import json
import os
import signal
from pathlib import Path

import pytest

from tests.processes import wait_for
from tests.serving.engine_process import ENGINE, EngineProcess

BASE = {"name": "heddle/tiny", "path": str(ENGINE / "models/heddle-tiny")}
ROWS = [
    {"messages": [{"role": "user", "content": f"{i}+{i}="}, {"role": "assistant", "content": "always the same answer"}]}
    for i in range(24)
]


def chat(content="2+3=", adapter=None, sampling=(), **changes):
    return {
        "base": BASE,
        "adapter": adapter,
        "messages": [{"role": "user", "content": content}],
        "sampling": {"max_tokens": 24, "temperature": 0, **dict(sampling)},
        **changes,
    }


def job(folder, name, base=BASE, rank=8):
    data = folder / f"{name}.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return {
        "job_id": name,
        "base": base,
        "lora": {"rank": rank, "alpha": 16, "seed": 1},
        "start": None,
        "reference": None,
        "data": {"path": str(data), "sha256": hashlib.sha256(data.read_bytes()).hexdigest()},
        "job": {"kind": "sft", "config": {"batch_size": 8, "learning_rate": 0.02, "assistant_turns": "all"}},
        "work_dir": str(folder / f"{name}-work"),
        "output": {"key": f"{name}@1", "path": str(folder / f"{name}-step1")},
    }


def trained(client, folder, name, **how):
    _, result = client.call("train", job(folder, name, **how))
    return result["output"]


def close(mine, theirs):
    return mine == theirs or abs(mine - theirs) < 1e-3


def assert_same(mine, theirs):
    assert mine["prompt_token_ids"] == theirs["prompt_token_ids"]
    for ours, others in zip(mine["choices"], theirs["choices"], strict=True):
        assert [token["id"] for token in ours["tokens"]] == [token["id"] for token in others["tokens"]]
        for name in ("content", "finish_reason", "stop_reason"):
            assert ours[name] == others[name]
        for a, b in zip(ours["tokens"], others["tokens"], strict=True):
            assert close(a["logprob"], b["logprob"])
            assert [each["id"] for each in a["top"]] == [each["id"] for each in b["top"]]
            assert all(close(x["logprob"], y["logprob"]) for x, y in zip(a["top"], b["top"], strict=True))


def descendants(pid):
    """Processes that `pid` started, and those that they did."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            parents[int(folder.name)] = int(parent)
    found, new = set(), {pid}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return found


def command(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def vllm_processes(engine, name=b"serving.vllm.worker"):
    return [pid for pid in descendants(engine.process.pid) if name in command(pid)]


@pytest.mark.parametrize(
    "sampling",
    [
        {"top_logprobs": 5},
        {"max_tokens": 3},
        {"stop": ["2"], "max_tokens": 40},
        {"stop_token_ids": [20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30], "max_tokens": 40},
        {"min_tokens": 12},
        {"logit_bias": {"40": 100}},
        {"allowed_token_ids": [40, 41, 42, 43]},
        {"presence_penalty": 1.5, "frequency_penalty": 0.5, "repetition_penalty": 1.3},
        {"ignore_eos": True, "max_tokens": 40},
    ],
    ids=str,
)
def test_greedy_answers_have_the_ids_and_the_raw_logprobs_of_the_engines_own_sampler(own, vllm, sampling):
    _, mine = own.call("chat", chat(sampling=sampling))
    _, theirs = vllm.call("chat", chat(sampling=sampling))
    assert_same(mine, theirs)


def test_logprobs_are_those_before_temperature_and_truncation(own, vllm):
    hot = {"temperature": 2.0, "top_p": 0.9, "top_k": 20, "seed": "7", "max_tokens": 12}
    _, sampled = vllm.call("chat", chat(sampling=hot, n=3))
    [one, *others] = sampled["choices"]
    assert any([t["id"] for t in one["tokens"]] != [t["id"] for t in other["tokens"]] for other in others)
    _, again = vllm.call("chat", chat(sampling=hot, n=3))
    assert again["choices"] == sampled["choices"] or all(
        [t["id"] for t in a["tokens"]] == [t["id"] for t in b["tokens"]]
        for a, b in zip(again["choices"], sampled["choices"], strict=True)
    )
    for choice in sampled["choices"]:
        ids = [token["id"] for token in choice["tokens"]]
        scored = {
            "base": BASE,
            "adapter": None,
            "prompt_token_ids": sampled["prompt_token_ids"] + ids,
            "prompt_logprobs": 2,
            "sampling": {"max_tokens": 0},
        }
        _, mine = own.call("chat", scored)
        _, theirs = vllm.call("chat", scored)
        for a, b in zip(mine["prompt_logprobs"][1:], theirs["prompt_logprobs"][1:], strict=True):
            assert (a["id"], a["rank"]) == (b["id"], b["rank"])
            assert close(a["logprob"], b["logprob"])
            assert [each["id"] for each in a["top"]] == [each["id"] for each in b["top"]]
        raw = [token["logprob"] for token in mine["prompt_logprobs"][-len(ids) :]]
        assert all(close(a, token["logprob"]) for a, token in zip(raw, choice["tokens"], strict=True))


def test_prompts_that_fill_a_step_are_sampled_with_their_seeds(vllm):
    drawn = {"temperature": 1.0, "max_tokens": 4, "seed": "3", "ignore_eos": True}
    content = "number " * 20
    _, answer = vllm.call("chat", chat(content, sampling=drawn, n=120))
    assert len(answer["choices"]) == 120
    assert len({tuple(token["id"] for token in choice["tokens"]) for choice in answer["choices"]}) > 1


def test_a_fresh_step_is_served_with_its_weights(own, vllm, tmp_path):
    adapter = trained(vllm, tmp_path, "fresh")
    _, theirs = vllm.call("chat", chat(adapter=adapter, sampling={"top_logprobs": 3}))
    _, mine = own.call("chat", chat(adapter=adapter, sampling={"top_logprobs": 3}))
    assert_same(mine, theirs)
    _, plain = vllm.call("chat", chat())
    assert plain["choices"][0]["content"] != theirs["choices"][0]["content"]


def test_streamed_tokens_are_those_of_the_whole_answer(vllm):
    events, _ = vllm.call("chat", chat(stream=True))
    _, whole = vllm.call("chat", chat())
    deltas = [data for kind, data in events if kind == "delta"]
    assert [token["id"] for delta in deltas for token in delta["tokens"]] == [
        token["id"] for token in whole["choices"][0]["tokens"]
    ]


def test_an_adapter_that_vllm_has_otherwise_than_the_trainer_is_an_error_of_the_request(vllm, tmp_path):
    adapter = trained(vllm, tmp_path, "right")
    other = trained(vllm, tmp_path, "other", rank=4)
    _, error = vllm.call("chat", chat(adapter={"key": adapter["key"], "path": other["path"]}))
    assert error["kind"] == "internal"
    assert f"vLLM computes adapter {adapter['key']} otherwise than the trainer" in error["message"]
    _, answer = vllm.call("chat", chat(adapter=adapter))
    assert answer["choices"][0]["tokens"]


def test_what_vllm_cannot_do_is_refused_by_name(vllm, tmp_path):
    structured = {"kind": "regex", "text": "[0-9]+", "param": "response_format"}
    _, error = vllm.call("chat", chat(structured_output=structured))
    assert (error["kind"], error["param"]) == ("invalid", "response_format")
    assert "HEDDLE_SAMPLER=heddle" in error["message"]
    _, error = vllm.call("embed", {"base": BASE, "adapter": None, "prompt": "text"})
    assert "there are no embeddings" in error["message"]
    _, error = vllm.call("chat", chat(adapter=trained(vllm, tmp_path, "wide", rank=32)))
    assert "The adapter has rank 32, and vLLM was started for at most 16" in error["message"]
    assert "HEDDLE_VLLM_LORA_RANK" in error["message"]


def test_a_cancelled_call_leaves_vllm(vllm):
    call = vllm.send("chat", chat(stream=True, n=100, sampling={"max_tokens": 1900, "ignore_eos": True}))
    while vllm.receive().get("event") != "delta":
        pass
    assert vllm.call("status", {})[1]["running"] == 100
    cancelling = vllm.send("chat.cancel", {"id": call})
    while (frame := vllm.receive())["id"] != call or "error" not in frame:
        assert frame["id"] in (call, cancelling)
    assert frame["error"]["kind"] == "cancelled"
    wait_for(lambda: vllm.call("status", {})[1]["running"] == 0)


def test_a_base_that_vllm_cannot_serve_is_refused_by_name_and_others_go_on(vllm, model_folders):
    base = {"name": "odd/heads", "path": str(model_folders("qwen3"))}  # heads of 16, which vLLM's kernels lack
    _, error = vllm.call("chat", {**chat(), "base": base})
    assert error["kind"] == "invalid"
    assert error["message"].startswith("vLLM cannot serve odd/heads: RuntimeError: ")
    _, answer = vllm.call("chat", chat())
    assert answer["choices"][0]["tokens"]


@pytest.mark.parametrize("name", [b"serving.vllm.worker", b"VLLM::EngineCore"], ids=["vLLM", "its engine core"])
def test_killed_vllm_fails_its_streams_and_starts_again_while_a_job_trains(vllm, vllm_engine, tmp_path, name):
    vllm.call("chat", chat())
    training = vllm.send("train", job(tmp_path, f"beside {name.decode()[:4]}"))
    while vllm.receive()["id"] != training:
        pass
    stream = vllm.send("chat", chat(stream=True, sampling={"max_tokens": 1900, "ignore_eos": True}))
    ended = {}
    while len(ended) < 2:
        frame = vllm.receive()
        if frame["id"] == stream and frame.get("event") == "delta" and stream not in ended:
            os.kill(vllm_processes(vllm_engine, name)[0], signal.SIGKILL)
            ended[stream] = None
        elif "event" not in frame:
            ended[frame["id"]] = frame
    while ended[stream] is None:
        frame = vllm.receive()
        if "event" not in frame:
            ended[frame["id"]] = frame
    assert ended[stream]["error"]["kind"] == "unavailable"
    assert "vLLM ended while it sampled: the process " in ended[stream]["error"]["message"]
    assert "result" in ended[training]
    _, answer = vllm.call("chat", chat(adapter=ended[training]["result"]["output"]))
    assert answer["choices"][0]["tokens"]


def test_an_unloaded_base_has_no_vllm_and_comes_back_with_the_next_chat(vllm_python, tmp_path):
    options = ("--sampler", "vllm", "--vllm-python", vllm_python, "--kv-bytes", str(64 << 20), "--unload-idle-s", "0")
    engine = EngineProcess(tmp_path, *options)
    try:
        client = engine.wait_until_listening()
        client.call("chat", chat())
        wait_for(lambda: not vllm_processes(engine))
        _, answer = client.call("chat", chat())
        assert answer["choices"][0]["tokens"]
    finally:
        engine.close()


def test_nothing_of_vllm_outlives_an_engine_that_is_killed(vllm_engine):
    started = descendants(vllm_engine.process.pid)
    assert vllm_processes(vllm_engine, b"VLLM::Worker")
    os.kill(vllm_engine.process.pid, signal.SIGKILL)
    wait_for(lambda: not any(Path(f"/proc/{pid}/stat").exists() and not is_dead(pid) for pid in started))


def is_dead(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
