"""An engine that listens on TCP, as servers on other machines use it (law 9, engine 5.2)."""

import base64
import hashlib
import io
import json
import socket
import subprocess
import sys
import tarfile
import time

import pytest
import torch
from safetensors.torch import load

from tests.serving.engine_process import ENGINE, Client, EngineProcess

TOKEN = "a-token-of-more-than-32-characters"
ADAPTER = ("adapter_config.json", "adapter_model.safetensors", "optimizer.safetensors")
ROW = {"messages": [{"role": "user", "content": "say"}, {"role": "assistant", "content": "always the same answer"}]}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class RemoteEngine(EngineProcess):
    def __init__(self, folder, *arguments):
        (folder / "token").write_text(f"{TOKEN}\n")
        self.port = free_port()
        self.data = folder / "data"
        own = ("--token-file", str(folder / "token"), "--data-dir", str(self.data), *arguments)
        super().__init__(folder, *own, listen=f"tcp://127.0.0.1:{self.port}")

    def client(self):
        client = self.wait_until_listening(self.port)
        assert client.call("hello", {"protocol": 1, "token": TOKEN})[1]["protocol"] == 1
        return client


@pytest.fixture(scope="module")
def engine(tmp_path_factory, model_folders):
    process = RemoteEngine(tmp_path_factory.mktemp("remote"), "--models", str(model_folders("qwen3").parent))
    yield process
    process.close()


@pytest.fixture
def client(engine):
    with engine.client() as client:
        yield client


@pytest.fixture
def base(model_folders):
    return {"name": "tiny", "path": str(model_folders("qwen3"))}


def put(client, content):
    digest = hashlib.sha256(content).hexdigest()
    data = base64.b64encode(content).decode()
    answer = client.call("file.put", {"sha256": digest, "size": len(content), "offset": 0, "data": data})[1]
    assert answer == {"have": len(content), "stored": True}
    return digest


def get(client, file):
    answer = client.call("file.get", {"sha256": file["sha256"], "offset": 0})[1]
    content = base64.b64decode(answer["data"])
    assert len(content) == file["size"]
    return content


def job(base, data, name, start=None):
    return {
        "job_id": name,
        "base": base,
        "lora": {"rank": 4, "alpha": 8, "seed": 1},
        "start": start,
        "reference": None,
        "data": {"sha256": data},
        "job": {"kind": "sft", "config": {"batch_size": 4, "learning_rate": 0.02, "assistant_turns": "all"}},
        "is_recorded": False,
        "output": {"key": f"{name}@1"},
    }


def rows(count):
    return (json.dumps(ROW) + "\n").encode() * count


@pytest.mark.parametrize("token", ["guess", "", None, 7, "é" * 40])
def test_a_wrong_token_is_refused_and_logged(engine, base, token):
    stranger = engine.wait_until_listening(engine.port)
    error = stranger.call("hello", {"protocol": 1, "token": token})[1]
    assert (error["kind"], error["param"]) == ("invalid", "token")
    assert stranger.receive() is None
    assert "did not show the engine's token" in engine.log.read_text()
    assert TOKEN not in engine.log.read_text()


def test_nothing_is_done_before_hello_and_a_long_first_call_is_not_read(engine, base):
    stranger = engine.wait_until_listening(engine.port)
    assert stranger.call("base.resolve", {"base": base})[1]["param"] == "token"
    assert stranger.receive() is None
    stranger = engine.wait_until_listening(engine.port)
    stranger.socket.sendall((5000).to_bytes(4, "big"))
    assert stranger.receive() is None
    assert stranger.heartbeats == []


def test_another_protocol_is_named(engine):
    stranger = engine.wait_until_listening(engine.port)
    error = stranger.call("hello", {"protocol": 99, "token": TOKEN})[1]
    assert "The server speaks protocol 99" in error["message"]


def test_no_connection_shuts_the_engine_down(client):
    assert client.call("shutdown", {"drain_s": 0})[1]["kind"] == "invalid"
    assert "resident_bytes" in client.call("status", {})[1]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--listen", "tcp://127.0.0.1:0"), "needs --token-file"),
        (("--listen", "tcp://127.0.0.1:0", "--token-file", "short"), "at least 32 characters"),
        (("--listen", "tcp://127.0.0.1:0", "--token-file", "missing"), "No such file"),
        (("--listen", "tcp://0.0.0.0:0", "--token-file", "token"), "without TLS the token"),
        (("--listen", "tcp://gpu.example:0", "--token-file", "token"), "without TLS the token"),
        (("--listen", "tcp://0.0.0.0:0", "--token-file", "token", "--tls-cert", "token"), "belong together"),
        (("--listen", "tcp://[::1]", "--token-file", "token"), "expected unix:PATH or tcp://HOST:PORT"),
    ],
)
def test_an_engine_that_others_could_misuse_does_not_start(tmp_path, arguments, why):
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "short").write_text("secret")
    named = [str(tmp_path / word) if word in ("token", "short", "missing") else word for word in arguments]
    command = [sys.executable, "-m", "heddle_engine", "--data-dir", str(tmp_path / "data"), *named]
    ended = subprocess.run(command, cwd=ENGINE, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert why in ended.stderr


def test_two_engines_do_not_share_a_folder(engine, tmp_path):
    command = [sys.executable, "-m", "heddle_engine", "--listen", "tcp://127.0.0.1:0"]
    (tmp_path / "token").write_text(TOKEN)
    own = ["--token-file", str(tmp_path / "token"), "--data-dir", str(engine.data)]
    ended = subprocess.run([*command, *own], cwd=ENGINE, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "another engine uses it" in ended.stderr


@pytest.mark.parametrize(
    "named",
    [
        {"name": "/etc", "path": None},
        {"name": "x", "path": "/etc"},
        {"name": "./models", "path": None},
        {"name": "~/x", "path": None},
    ],
)
def test_folders_outside_the_models_are_not_looked_at(client, named):
    error = client.call("base.resolve", {"base": named})[1]
    assert error["kind"] == "not_found"
    assert "in no folder that this engine reads models from" in error["message"]


def test_a_folder_that_leads_out_of_the_models_is_not_looked_at(client, base):
    error = client.call("base.resolve", {"base": {"name": "x", "path": f"{base['path']}/../../.."}})[1]
    assert "in no folder that this engine reads models from" in error["message"]


def test_the_shipped_model_is_the_engines_own(client):
    found = client.call("base.resolve", {"base": {"name": "heddle/tiny", "path": "/on/the/server"}})[1]
    assert found["path"] == str(ENGINE / "models/heddle-tiny")


def test_an_upload_goes_on_where_it_broke_off_and_is_checked(client):
    content = b"abcdefgh"
    digest = hashlib.sha256(content).hexdigest()

    def piece(offset, data):
        encoded = base64.b64encode(data).decode()
        return client.call("file.put", {"sha256": digest, "size": 8, "offset": offset, "data": encoded})[1]

    assert piece(0, b"abc") == {"have": 3, "stored": False}
    assert piece(0, b"abc") == {"have": 3, "stored": False}
    assert client.call("files.lacking", {"sha256": [digest]})[1] == {"lacking": [{"sha256": digest, "have": 3}]}
    assert piece(3, b"WRONG")["kind"] == "invalid"
    assert client.call("files.lacking", {"sha256": [digest]})[1] == {"lacking": [{"sha256": digest, "have": 0}]}
    assert piece(0, b"abcdefgh") == {"have": 8, "stored": True}
    assert piece(0, b"abcdefgh") == {"have": 8, "stored": True}
    assert client.call("files.lacking", {"sha256": [digest]})[1] == {"lacking": []}
    assert get(client, {"sha256": digest, "size": 8}) == content


@pytest.mark.parametrize("digest", ["../token", "x" * 64, "", "A" * 64, None, ["a"]])
def test_only_digests_name_files(client, digest):
    for method, params in (("file.get", {"offset": 0}), ("file.put", {"size": 1, "offset": 0, "data": ""})):
        assert client.call(method, {"sha256": digest, **params})[1]["kind"] == "invalid"


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "state.json", "adapter_model.bin"])
def test_an_adapter_has_the_files_of_an_adapter_only(client, base, name):
    adapter = {"key": "m@1", "files": [{"name": name, "sha256": put(client, b"x"), "size": 1}]}
    error = client.call("chat", {"base": base, "adapter": adapter, "prompt": "a", "sampling": {"max_tokens": 1}})[1]
    assert (error["kind"], "is no file of an adapter" in error["message"]) == ("invalid", True)


@pytest.mark.parametrize("name", ["../x", "", "a/b", "x" * 65])
def test_a_job_has_a_plain_name(client, base, name):
    error = client.call("train", job(base, put(client, rows(4)), name))[1]
    assert (error["kind"], error["param"]) == ("invalid", "job_id")


def test_files_that_have_gone_are_asked_for_again(client, base):
    gone = "0" * 64
    assert client.call("train", job(base, gone, "no-data"))[1]["param"] == "files"
    adapter = {"key": "m@1", "files": [{"name": ADAPTER[0], "sha256": gone, "size": 1}]}
    error = client.call("chat", {"base": base, "adapter": adapter, "prompt": "a", "sampling": {"max_tokens": 1}})[1]
    assert (error["kind"], error["param"]) == ("unavailable", "files")


def test_a_job_is_trained_by_content_and_its_step_answers(client, base, engine):
    data = put(client, rows(8))
    events, result = client.call("train", job(base, data, "whole"))
    assert [event for event, _ in events] == ["training_started", "gradient_step", "gradient_step"]
    made = {file["name"]: file for file in result["files"]}
    assert {*ADAPTER, "manifest.json", "state.json"} == made.keys()
    contents = {name: get(client, file) for name, file in made.items()}
    assert {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()} == {
        name: file["sha256"] for name, file in made.items()
    }
    assert result["manifest_sha256"] == made["manifest.json"]["sha256"]
    adapter = {"key": "whole@1", "files": [made[name] for name in ADAPTER[:2]]}
    chat = {"base": base, "adapter": adapter, "prompt": "say", "sampling": {"max_tokens": 3, "temperature": 0}}
    answer = client.call("chat", chat)[1]["choices"][0]["tokens"]
    again = client.call("train", job(base, data, "whole"))
    assert again == (events, result)
    assert client.call("train.forget", {"job_id": "whole"})[1] == {}
    assert not (engine.data / "jobs/whole").exists()
    assert get(client, made["manifest.json"]) == contents["manifest.json"]
    # The same content under another name is read from its files.
    renamed = {**chat, "adapter": {**adapter, "key": "other@1"}}
    assert client.call("chat", renamed)[1]["choices"][0]["tokens"] == answer
    start = {"key": "whole@1", "files": [made[name] for name in ADAPTER]}
    assert client.call("train", job(base, data, "next", start))[1]["gradient_steps"] == 2


def test_another_content_under_a_known_key_is_another_adapter(client, base):
    sizes = {}
    for name, count in (("first", 4), ("second", 24)):
        made = client.call("train", job(base, put(client, rows(count)), name))[1]["files"]
        adapter = {"key": "same@1", "files": [file for file in made if file["name"] in ADAPTER[:2]]}
        chat = {"base": base, "adapter": adapter, "prompt": "say", "sampling": {"max_tokens": 1, "temperature": 0}}
        sizes[name] = client.call("chat", chat)[1]["choices"][0]["tokens"][0]["logprob"]
    assert sizes["first"] != sizes["second"]


def test_a_job_goes_on_for_the_connection_that_asks_last(engine, base, client):
    data = put(client, rows(400))
    expected = client.call("train", job(base, data, "alone"))
    first = client.send("train", job(base, data, "taken"))
    begun = []
    while len(begun) < 3:
        frame = client.receive()
        begun += [frame["data"]] if "event" in frame else []
    other = engine.client()
    events, result = other.call("train", job(base, data, "taken"))
    assert client.outcome(first)[1]["error"]["kind"] == "unavailable"
    assert [data["number"] for event, data in events if event == "gradient_step"] == list(range(1, 101))
    weights = {file["name"]: file["sha256"] for file in result["files"]}[ADAPTER[1]]
    assert weights == {file["name"]: file["sha256"] for file in expected[1]["files"]}[ADAPTER[1]]


def test_a_job_that_is_cancelled_while_its_files_are_read_does_not_begin(client, base):
    wanted = job(base, put(client, rows(400)), "early")
    training, _ = client.send_together(("train", wanted), ("train.cancel", {"job_id": "early"}))
    events, last = client.outcome(training)
    assert (events, last["error"]["kind"]) == ([], "cancelled")


def test_a_job_that_is_cancelled_while_its_earlier_run_stops_does_not_begin_again(engine, base, client):
    data = put(client, rows(400))
    first = client.send("train", job(base, data, "again"))
    while client.receive().get("event") != "gradient_step":
        pass
    other = engine.client()
    second, _ = other.send_together(("train", job(base, data, "again")), ("train.cancel", {"job_id": "again"}))
    events, last = other.outcome(second)
    assert (events, last["error"]["kind"]) == ([], "cancelled")
    assert client.outcome(first)[1]["error"]["kind"] in ("cancelled", "unavailable")


def test_a_broken_connection_leaves_a_snapshot_and_the_job_goes_on(engine, base, client):
    data = put(client, rows(400))
    lost = engine.client()
    lost.send("train", job(base, data, "broken"))
    for _ in range(3):
        lost.receive()
    lost.socket.shutdown(socket.SHUT_RDWR)
    events, result = client.call("train", job(base, data, "broken"))
    assert [data["number"] for event, data in events if event == "gradient_step"] == list(range(1, 101))
    assert result["gradient_steps"] == 100


def test_the_store_gives_up_what_was_used_longest_ago(tmp_path, monkeypatch):
    from heddle_engine.errors import EngineError
    from heddle_engine.remote import content_store

    monkeypatch.setattr(content_store, "_GRACE_S", -1)
    store = content_store.ContentStore(tmp_path / "store", 25)
    contents = [bytes([place]) * 10 for place in range(3)]
    digests = [hashlib.sha256(content).hexdigest() for content in contents]
    for digest, content in zip(digests[:2], contents, strict=False):
        store.put(digest, 10, 0, content)
    held = store.file(digests[0])
    with store.held(held):
        store.put(digests[2], 10, 0, contents[2])
    assert [entry["sha256"] for entry in store.lacking(digests)] == [digests[1]]
    with pytest.raises(EngineError, match="larger than the engine's store"):
        store.put("a" * 64, 26, 0, b"")


def test_an_export_is_made_of_an_adapter_that_was_sent_and_fetched_by_content(engine, client, base):
    files = client.call("train", job(base, put(client, rows(8)), "exported"))[1]["files"]
    adapter = {"key": "exported@1", "files": [file for file in files if file["name"] in ADAPTER]}
    export = {"base": base, "adapter": adapter, "dtype": None, "title": "t", "tenant": ""}
    events, merged = client.call("checkpoint.export", {**export, "format": "merged"})
    assert [event for event, _ in events] == ["planned"]
    names = {file["name"]: file for file in merged["files"]}
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= names.keys()
    assert merged["size_bytes"] == sum(file["size"] for file in merged["files"])
    trained, plain = (
        load(get(client, {file["name"]: file for file in made["files"]}["model.safetensors"]))
        for made in (merged, client.call("checkpoint.export", {**export, "format": "merged", "adapter": None})[1])
    )
    assert trained.keys() == plain.keys()
    assert any(not torch.equal(trained[name], plain[name]) for name in plain)
    [file] = client.call("checkpoint.export", {**export, "format": "gguf"})[1]["files"]
    assert get(client, file).startswith(b"GGUF")
    assert list((engine.data / "making").iterdir()) == []


def test_an_export_that_is_cancelled_leaves_nothing(engine, client, base):
    export = {"base": base, "adapter": None, "format": "merged", "dtype": None, "title": "t", "tenant": ""}
    client.send("checkpoint.export", export)
    wait_until(lambda: any((engine.data / "making").iterdir()))
    client.socket.shutdown(socket.SHUT_RDWR)
    wait_until(lambda: not any((engine.data / "making").iterdir()))


def test_an_export_that_is_larger_than_the_store_is_refused_before_it_is_written(tmp_path, base, model_folders):
    small = RemoteEngine(tmp_path, "--models", str(model_folders("qwen3").parent), "--store-bytes", "1000")
    try:
        with small.client() as client:
            export = {"base": base, "adapter": None, "format": "merged", "dtype": None, "title": "t", "tenant": ""}
            error = client.call("checkpoint.export", export)[1]
            assert error["kind"] == "disk_full"
            assert "holds 1000 (--store-bytes)" in error["message"]
            assert list((small.data / "making").iterdir()) == []
    finally:
        small.close()


def test_an_adapter_that_was_trained_elsewhere_is_imported_from_an_archive_that_was_sent(engine, client, base):
    files = client.call("train", job(base, put(client, rows(8)), "elsewhere"))[1]["files"]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for file in files:
            if file["name"] in ADAPTER[:2]:
                member = tarfile.TarInfo(file["name"])
                member.size = file["size"]
                tar.addfile(member, io.BytesIO(get(client, file)))
    request = {"base": base, "any_base": True, "tenant": ""}
    digest = put(client, packed.getvalue())
    imported = client.call("adapter.import", {**request, "archive": {"sha256": digest}})[1]
    made = {file["name"]: file for file in imported["files"]}
    assert made["manifest.json"]["sha256"] == imported["manifest_sha256"]
    sent = next(file for file in files if file["name"] == "adapter_model.safetensors")
    assert equal(load(get(client, made["adapter_model.safetensors"])), load(get(client, sent)))
    broken = put(client, packed.getvalue()[:2000])
    error = client.call("adapter.import", {**request, "archive": {"sha256": broken}})[1]
    assert "not a whole tar file" in error["message"]
    assert list((engine.data / "making").iterdir()) == []
    assert client.call("adapter.import", {**request, "archive": {"sha256": "0" * 64}})[1]["param"] == "files"


def equal(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def wait_until(holds):
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_clients_of_tls_reach_it_and_others_do_not(tmp_path):
    fixtures = ENGINE.parent / "server/test/fixtures"
    own = ("--tls-cert", str(fixtures / "localhost.crt"), "--tls-key", str(fixtures / "localhost.key"))
    process = RemoteEngine(tmp_path, *own)
    try:
        import ssl

        context = ssl.create_default_context(cafile=fixtures / "localhost.crt")
        process.wait_until_listening(process.port).close()
        client = Client(process.port)
        client.socket = context.wrap_socket(client.socket, server_hostname="localhost")
        client._file = client.socket.makefile("rb")
        assert client.call("hello", {"protocol": 1, "token": TOKEN})[1]["protocol"] == 1
        plain = Client(process.port)
        plain.send("hello", {"protocol": 1, "token": TOKEN})
        with pytest.raises((OSError, AssertionError)):
            plain.outcome(1)
    finally:
        process.close()
