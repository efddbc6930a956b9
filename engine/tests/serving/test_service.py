"""The protocol, spoken to a real engine process."""

import asyncio
import json
import os
import signal
import struct
import time
from pathlib import Path

import jsonschema
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from heddle_engine.memory import machine_bytes
from heddle_engine.model.config import DecoderConfig
from heddle_engine.model.lora import initial_lora, write_peft
from heddle_engine.protocol import MAX_FRAME_BYTES, encode_frame, read_frame
from heddle_engine.service import Service
from heddle_engine.serving.batching import MAX_ROWS
from tests.processes import wait_for
from tests.serving.engine_process import SCHEMA, Client, EngineProcess


def test_hello_describes_the_engine(client):
    _, result = client.call("hello", {"protocol": 1, "token": None})
    assert (result["protocol"], result["device"], result["torch_version"]) == (1, "cpu", torch.__version__)
    assert (result["max_rows"], result["memory_bytes"]) == (MAX_ROWS, machine_bytes())


def test_another_protocol_is_refused(client):
    _, error = client.call("hello", {"protocol": 2, "token": None})
    assert error["kind"] == "invalid"
    assert "protocol 2" in error["message"]


def test_chat_equals_transformers(client, base, chat):
    _, result = client.call("chat", chat(sampling={"ignore_eos": True, "top_logprobs": 2}))
    tokenizer = AutoTokenizer.from_pretrained(base["path"])
    model = AutoModelForCausalLM.from_pretrained(base["path"], dtype=torch.float32)
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": "the rain"}], add_generation_prompt=True, return_dict=False
    )
    out = model.generate(torch.tensor([prompt]), max_new_tokens=8, do_sample=False, pad_token_id=0)[0, len(prompt) :]
    assert result["prompt_token_ids"] == prompt
    [choice] = result["choices"]
    count = len(out)
    assert [token["id"] for token in choice["tokens"]][:count] == out.tolist()
    assert result["completion_tokens"] == 8
    with torch.inference_mode():
        logprobs = model(torch.tensor([prompt + out.tolist()])).logits[0].log_softmax(-1)
    for place, token in enumerate(choice["tokens"][:count]):
        row = logprobs[len(prompt) + place - 1]
        assert token["logprob"] == pytest.approx(row[token["id"]].item(), abs=1e-5)
        assert [top["id"] for top in token["top"]] == row.topk(2).indices.tolist()
    spelled = b"".join(bytes(token["bytes"]) for token in choice["tokens"]).decode(errors="replace")
    assert tokenizer.decode([token["id"] for token in choice["tokens"]], skip_special_tokens=False) == spelled


@pytest.mark.parametrize("n", [1, 3])
def test_streamed_deltas_add_up_to_the_result(client, chat, n):
    call = {"sampling": {"temperature": 1, "seed": "7", "max_tokens": 30}, "n": n}
    _, whole = client.call("chat", chat(**call))
    events, last = client.call("chat", chat(**call, stream=True))
    assert events[0][0] == "start"
    assert events[0][1]["prompt_token_ids"] == whole["prompt_token_ids"]
    for choice, ended in zip(whole["choices"], last["choices"], strict=True):
        deltas = [data for kind, data in events if kind == "delta" and data["index"] == choice["index"]]
        assert "".join(delta["content"] for delta in deltas) == choice["content"] == ended["content"]
        streamed = [token for delta in deltas for token in delta["tokens"]]
        assert [token["id"] for token in streamed] == [token["id"] for token in choice["tokens"]]
        assert ended["tokens"] == []
        assert ended["finish_reason"] == choice["finish_reason"]
    assert last["completion_tokens"] == whole["completion_tokens"]
    assert len({choice["content"] for choice in whole["choices"]}) == n


def test_a_second_call_reuses_the_prompt_unless_salted(client, chat):
    text = "a long enough prompt to fill a block of the cache"
    cached = [client.call("chat", chat(text, cache_salt=salt))[1]["cached_tokens"] for salt in ("x", "x", "y")]
    assert cached[0] == cached[2] == 0
    assert cached[1] > 16


def test_a_fresh_adapter_answers_as_its_base_and_one_that_is_not_there_is_named(client, chat, base, tmp_path):
    adapter = {"key": "m@0", "path": str(tmp_path)}
    config = DecoderConfig.from_hf(json.loads((Path(base["path"]) / "config.json").read_text()))
    write_peft(tmp_path, initial_lora(config, rank=4, alpha=8, seed=1), "tiny", config)
    _, with_adapter = client.call("chat", chat(adapter=adapter))
    _, without = client.call("chat", chat())
    ids = [[token["id"] for token in result["choices"][0]["tokens"]] for result in (with_adapter, without)]
    assert ids[0] == ids[1]
    _, error = client.call("chat", chat(adapter={"key": "m@9", "path": str(tmp_path / "absent")}))
    assert error["kind"] == "not_found"
    assert "absent" in error["message"]


def test_cancel_ends_the_call_and_frees_its_place(client, chat):
    running = client.send("chat", chat(sampling={"max_tokens": 480, "ignore_eos": True}, stream=True))
    while "event" not in client.receive():
        pass
    client.send("chat.cancel", {"id": running})
    _, last = client.outcome(running)
    assert last["error"]["kind"] == "cancelled"
    for _ in range(100):
        _, status = client.call("status", {})
        if status["running"] == 0:
            break
        time.sleep(0.02)
    assert status["running"] == 0


def test_a_cancelled_stream_says_what_it_has_used(client, chat):
    running = client.send("chat", chat(sampling={"max_tokens": 480, "ignore_eos": True}, stream=True, n=2))
    start, told = client.receive()["data"], 0
    while told < 6:
        told += len(client.receive()["data"]["tokens"])
    client.send("chat.cancel", {"id": running})
    events, last = client.outcome(running)
    told += sum(len(data["tokens"]) for _, data in events)
    usage = last["error"]["usage"]
    assert usage["prompt_tokens"] == len(start["prompt_token_ids"])
    assert usage["cached_tokens"] == start["cached_tokens"]
    # A step's tokens are counted before they are sent, and a busy machine runs some steps before it reads the cancel.
    assert told <= usage["completion_tokens"] <= told + 64


def test_a_cancelled_chat_says_what_it_has_used(client, chat):
    _, quick = client.call("chat", chat(sampling={"max_tokens": 1}))
    running = client.send("chat", chat(sampling={"max_tokens": 480, "ignore_eos": True}))
    while not (status := client.call("status", {})[1])["running"]:
        time.sleep(0.01)
    before = status["progress"]
    while (progress := client.call("status", {})[1]["progress"]) < before + 20:
        time.sleep(0.01)
    client.send("chat.cancel", {"id": running})
    usage = client.outcome(running)[1]["error"]["usage"]
    assert usage["prompt_tokens"] == len(quick["prompt_token_ids"])
    # Progress counts four for a step: three layers and one sampling. The first step had begun before.
    assert (progress - before) // 4 - 1 <= usage["completion_tokens"] < 480


def test_a_chat_that_never_began_has_used_nothing(client, chat):
    _, failed = client.call("chat", chat(prompt="both", messages=[{"role": "user", "content": "x"}]))
    assert failed["usage"] is None


def test_an_embedding_has_a_place_in_the_batch_until_it_is_cancelled(client, base):
    _, result = client.call("embed", {"base": base, "adapter": None, "prompt": "the rain"})
    assert (len(result["embedding"]), len(result["prompt_token_ids"])) == (64, 5)
    long = {"base": base, "adapter": None, "prompt_token_ids": [1] * 500}
    calls = [client.send("embed", long) for _ in range(40)]
    for call in calls:
        client.send("chat.cancel", {"id": call})
    error = client.outcome(calls[-1])[1]["error"]
    assert error["kind"] == "cancelled"
    while (status := client.call("status", {})[1])["running"] + status["waiting"]:
        time.sleep(0.01)


def test_a_closed_connection_cancels_its_calls(engine, client, chat):
    def running() -> int:
        return client.call("status", {})[1]["running"]

    other = Client(str(engine.path))
    other.send("chat", chat(sampling={"max_tokens": 480, "ignore_eos": True}, n=20))
    wait_for(lambda: running() == 20)
    other.close()
    # They would go on for many more steps than this one has.
    client.call("chat", chat(sampling={"max_tokens": 100, "ignore_eos": True}))
    assert running() == 0


def test_many_calls_on_one_connection(client, chat):
    calls = {client.send("chat", chat(f"number {i}", sampling={"max_tokens": 3 + i})): i for i in range(20)}
    results = {}
    while len(results) < len(calls):
        frame = client.receive()
        results[calls[frame["id"]]] = frame["result"]
    for i, result in results.items():
        assert result["completion_tokens"] <= 3 + i


def test_tokenize_detokenize(client, base, chat):
    _, chatted = client.call("chat", chat())
    prompt = chatted["prompt_token_ids"]
    messages = [{"role": "user", "content": "the rain"}]
    _, tokenized = client.call("tokenize", {"base": base, "messages": messages})
    assert tokenized == {"token_ids": prompt, "max_model_len": 512}
    _, text = client.call("detokenize", {"base": base, "token_ids": prompt})
    assert text == {"text": "<|im_start|>user\nthe rain<|im_end|>\n<|im_start|>assistant\n"}


def test_raw_prompts(client, base):
    common = {"base": base, "adapter": None, "sampling": {"max_tokens": 2, "temperature": 0}}
    _, by_text = client.call("chat", {**common, "prompt": "the rain"})
    _, by_ids = client.call("chat", {**common, "prompt_token_ids": by_text["prompt_token_ids"]})
    assert by_text["choices"][0]["content"] == by_ids["choices"][0]["content"]


@pytest.mark.parametrize(
    ("changes", "kind", "words", "param"),
    [
        ({"content": "x" * 2000}, "invalid", "maximum context length is 512 tokens", "messages"),
        ({"sampling": {"temperature": -1}}, "invalid", "temperature must be", "temperature"),
        ({"prompt": "x"}, "invalid", "messages and prompt", None),
        ({"messages": None}, "invalid", "none of them", None),
        ({"messages": None, "prompt_token_ids": [5, 999]}, "invalid", "token 999", "prompt_token_ids[1]"),
        ({"messages": None, "prompt_token_ids": []}, "invalid", "no tokens", "prompt_token_ids"),
        ({"base": {"name": "no/such-model", "path": None}}, "not_found", "HF_HUB_OFFLINE", "base_model"),
        ({"base": {"name": "x", "path": "/absent"}}, "not_found", "/absent does not exist", "base_model"),
    ],
)
def test_refusals_name_what_is_wrong(client, chat, changes, kind, words, param):
    _, error = client.call("chat", chat(**changes))
    assert (error["kind"], error["param"]) == (kind, param)
    assert words in error["message"]


def test_base_resolve_describes_and_fingerprints(client, base, model_folders, tmp_path):
    _, found = client.call("base.resolve", {"base": base})
    assert (found["architecture"], found["vocab_size"], found["max_model_len"]) == ("Qwen3ForCausalLM", 320, 512)
    for file in model_folders("qwen3").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "chat_template.jinja").write_text("{{ messages }}")
    _, other = client.call("base.resolve", {"base": {"name": "tiny", "path": str(tmp_path)}})
    assert other["fingerprint"] != found["fingerprint"]


def test_unknown_methods_and_parameters_that_are_no_object(client):
    _, error = client.call("sing", {})
    assert "no method 'sing'" in error["message"]
    _, error = client.call("chat", [1])
    assert error["kind"] == "invalid"
    _, error = client.call("chat", {"sampling": {}})
    assert error["kind"] == "invalid"


@pytest.mark.parametrize("body", [b"not json", b"[1]", b'{"method": "status"}', b'{"id": "a", "method": "status"}'])
def test_a_malformed_frame_closes_that_connection_only(engine, client, body):
    other = Client(str(engine.path))
    other.send_bytes(body)
    assert other.receive() is None
    assert client.call("status", {})[1]["running"] == 0


def test_a_frame_that_is_too_long_closes_the_connection(engine):
    other = Client(str(engine.path))
    other.socket.sendall(struct.pack(">I", (32 << 20) + 1))
    assert other.receive() is None


def test_heartbeats(client, base, chat):
    client.call("chat", chat())
    time.sleep(2.2)
    client.call("status", {})
    assert len(client.heartbeats) >= 2
    assert client.heartbeats[-1]["resident_bytes"] > 50_000_000
    jsonschema.validate(client.heartbeats[-1], SCHEMA["heartbeat"])
    assert base["name"] in client.heartbeats[-1]["bases"]


def test_sigusr1_dumps_the_threads(engine, client):
    os.kill(engine.process.pid, signal.SIGUSR1)
    for _ in range(200):
        if "heddle_engine/serving_thread.py" in engine.log.read_text():
            break
        time.sleep(0.05)
    assert "heddle_engine/serving_thread.py" in engine.log.read_text()
    client.call("status", {})


def test_the_engine_ends_with_its_parent(tmp_path):
    process = EngineProcess(tmp_path, "--exit-with-stdin")
    process.wait_until_listening()
    process.process.stdin.close()
    assert process.process.wait(5) == 0


def test_shutdown_lets_chats_finish_and_refuses_new_ones(tmp_path, chat):
    process = EngineProcess(tmp_path)
    client = process.wait_until_listening()
    client.call("chat", chat())
    running = client.send("chat", chat(sampling={"max_tokens": 200, "ignore_eos": True}, stream=True))
    while "event" not in client.receive():
        pass
    shutdown = client.send("shutdown", {"drain_s": 20})
    late = client.send("chat", chat())
    last = {}
    while len(last) < 3:
        frame = client.receive()
        if "event" not in frame:
            last[frame["id"]] = frame
    assert last[running]["result"]["completion_tokens"] == 200
    assert last[late]["error"]["kind"] == "unavailable"
    assert last[shutdown]["result"] == {}
    assert process.process.wait(10) == 0


def test_sigterm_drains(tmp_path):
    process = EngineProcess(tmp_path)
    client = process.wait_until_listening()
    client.call("status", {})
    process.process.terminate()
    assert process.process.wait(10) == 0


def test_results_are_json_without_nan(client, chat):
    _, result = client.call("chat", chat(sampling={"allowed_token_ids": [5], "top_logprobs": 20}))
    json.dumps(result, allow_nan=False)
    assert {token["id"] for token in result["choices"][0]["tokens"]} == {5}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("[" * 5000 + "]" * 5000, "its values are nested too deep"),
        ("1" * 5000, "a whole number has more than 4300 digits"),
    ],
)
def test_a_call_that_python_cannot_read_fails_alone(client, chat, value, reason):
    running = client.send("chat", chat(sampling={"max_tokens": 20, "ignore_eos": True}))
    client.send_bytes(f'{{"id":99,"method":"chat","params":{{"messages":[{{"deep":{value}}}]}}}}'.encode())
    frames = {frame["id"]: frame for frame in (client.receive(), client.receive())}
    assert frames[99]["error"]["kind"] == "invalid"
    assert frames[99]["error"]["message"] == f"The request cannot be read: {reason}."
    assert frames[running]["result"]["completion_tokens"] == 20


def test_arguments_that_python_cannot_read_are_shown_back_as_they_were(client, chat):
    deep = "[" * 5000 + "]" * 5000
    turn = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": deep}}],
    }
    user = {"role": "user", "content": "x"}
    _, result = client.call("tokenize", {"base": chat()["base"], "messages": [user, turn, user]})
    assert len(result["token_ids"]) > 10


@pytest.mark.parametrize("field", ["messages", "prompt"])
def test_a_text_that_cannot_fit_is_not_encoded(client, chat, field):
    text = "the rain " * 2_000_000
    params = chat(text) if field == "messages" else {**chat(), "messages": None, "prompt": text}
    began = time.monotonic()
    _, error = client.call("chat", params)
    assert time.monotonic() - began < 10
    assert (error["kind"], error["param"]) == ("invalid", field)
    assert error["message"].startswith("This model's maximum context length is ")
    assert " characters, more than so many tokens can stand for" in error["message"]


class _Wordy:
    """An engine whose answers have the length that the request names."""

    async def detokenize(self, params: dict, emit) -> dict:
        return {"text": "x" * params["token_ids"][0]}

    def heartbeat(self) -> None:
        return None


async def wordy_answers(folder, *sizes: int) -> list[dict]:
    """The last frames of calls that are made at once for answers of these `sizes`, in their order."""
    path = folder / "wordy.sock"
    engine = asyncio.get_running_loop().create_future()
    engine.set_result(_Wordy())
    async with await asyncio.start_unix_server(Service(engine, None).connect, path):
        reader, writer = await asyncio.open_unix_connection(path)
        for call_id, size in enumerate(sizes):
            writer.write(encode_frame({"id": call_id, "method": "detokenize", "params": {"token_ids": [size]}}))
        frames = [await read_frame(reader) for _ in sizes]
        writer.close()
    return sorted(frames, key=lambda frame: frame["id"])


def test_large_answers_at_once_wait_for_each_other(tmp_path, monkeypatch):
    """Together they are more than may be unsent, which ends a connection and all calls on it."""
    monkeypatch.setattr("heddle_engine.service._MOST_UNSENT", 4 << 20)
    frames = asyncio.run(wordy_answers(tmp_path, *[3 << 20] * 8))
    assert [len(frame["result"]["text"]) for frame in frames] == [3 << 20] * 8


def test_an_answer_that_fits_no_frame_fails_its_call_only(tmp_path):
    too_large, small = asyncio.run(wordy_answers(tmp_path, MAX_FRAME_BYTES, 3))
    assert small["result"] == {"text": "xxx"}
    assert too_large["error"]["kind"] == "invalid"
    assert too_large["error"]["message"].startswith("The answer is too large: 67108")


def test_a_call_that_is_cancelled_before_it_began_is_answered(tmp_path):
    """A call and its cancel arrive together, and both are read before the call begins."""

    async def answers() -> dict[int, dict]:
        path = tmp_path / "wordy.sock"
        engine = asyncio.get_running_loop().create_future()
        engine.set_result(_Wordy())
        async with await asyncio.start_unix_server(Service(engine, None).connect, path):
            reader, writer = await asyncio.open_unix_connection(path)
            call = encode_frame({"id": 1, "method": "detokenize", "params": {"token_ids": [3]}})
            writer.write(call + encode_frame({"id": 2, "method": "chat.cancel", "params": {"id": 1}}))
            frames = [await asyncio.wait_for(read_frame(reader), 5) for _ in range(2)]
            writer.close()
        return {frame["id"]: frame for frame in frames}

    last = asyncio.run(answers())
    assert last[1]["error"]["kind"] == "cancelled"
    assert last[2]["result"] == {}
