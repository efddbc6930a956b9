"""Objects, models, prompts, datasets and refs: published, found again, changed, deleted."""

from typing import Any

import pytest
import weave
from weave.trace.weave_client import WeaveClient

from covers import covers
from started_server import Server
from weave_session import WRITE_PATHS, project_name, project_of, stored, uri_of, use_server

GONE = r"(?i)deleted|not found"


class Sentiment(weave.Model):
    """A model with settings and a method to call."""

    threshold: float
    words: list[str]

    @weave.op
    def predict(self, text: str) -> dict[str, Any]:
        hits = sum(word in text for word in self.words)
        return {"positive": hits > self.threshold}


class Settings(weave.Object):
    retries: int = 3
    inner: dict[str, Any]


def digest_of(ref: Any) -> str:
    return uri_of(ref).rsplit(":", 1)[1]


@covers("weave-publish")
def test_a_value_is_published_and_read(client: WeaveClient) -> None:
    value = {"a": [1, 2.0, None, True], "nested": {"text": "é\u2028😀"}, "big": 2**60 + 1}
    ref = weave.publish(value, "plain")
    assert uri_of(ref).startswith(f"weave:///{project_name(client)}/object/plain:")
    assert len(digest_of(ref)) == 43
    read = weave.ref(uri_of(ref)).get()
    assert read == value
    assert isinstance(read["a"][1], float)


@covers("weave-publish")
def test_the_same_value_is_one_version(client: WeaveClient) -> None:
    first = weave.publish({"v": 1}, "versioned")
    second = weave.publish({"v": 2}, "versioned")
    assert digest_of(weave.publish({"v": 1}, "versioned")) == digest_of(first) != digest_of(second)
    base = f"weave:///{project_name(client)}/object/versioned"
    assert weave.ref(f"{base}:v0").get() == {"v": 1}
    assert weave.ref(f"{base}:v1").get() == {"v": 2}
    assert weave.ref(f"{base}:latest").get() == {"v": 1}, "what was published last is the latest"
    assert weave.ref("versioned").get() == {"v": 1}


@covers("weave-object-class")
def test_an_object_of_a_class(client: WeaveClient) -> None:
    ref = weave.publish(Settings(retries=5, inner={"deep": [1]}), "settings")
    read = ref.get()
    assert (read.retries, list(read.inner["deep"])) == (5, [1])


@covers("weave-object-class")
def test_an_object_that_was_read_is_changed_and_published_again(client: WeaveClient) -> None:
    """The client sends a ref to the class of the version that it read, instead of the class's name."""
    ref = weave.publish(Settings(retries=5, inner={"deep": [1]}), "changes")
    client.flush()
    for retries in (6, 7):
        read = weave.ref("changes").get()
        read.retries = retries
        weave.publish(read, "changes")
    assert weave.ref("changes:v2").get().retries == 7
    assert ref.get().retries == 5


@covers("weave-ref-path")
def test_refs_reach_into_values(client: WeaveClient) -> None:
    ref = weave.publish({"list": [{"name": "x"}, {"name": "y"}]}, "deep")
    read = ref.get()
    inner = read["list"][1]["name"]
    assert inner == "y"
    uri = f"{uri_of(ref)}/key/list/index/1/key/name"
    assert weave.ref(uri).get() == "y"


@covers("weave-ref-path")
def test_an_object_in_an_object_is_its_ref(client: WeaveClient) -> None:
    inner = weave.publish(Settings(retries=9, inner={}), "inner")
    outer = weave.publish({"settings": inner.get(), "note": "holds one"}, "outer")
    assert outer.get()["settings"].retries == 9
    assert outer.get()["note"] == "holds one"


@covers("weave-model")
def test_a_model_is_called_and_read_back(client: WeaveClient) -> None:
    model = Sentiment(threshold=0.5, words=["good", "fine"])
    assert model.predict("good day") == {"positive": True}
    ref = weave.publish(model, "sentiment")
    (call,) = stored(client)
    assert call.func_name == "Sentiment.predict"
    assert dict(call.output) == {"positive": True}
    assert "weave:///" in str(call.inputs["self"]) or call.inputs["self"].threshold == 0.5
    again = ref.get()
    assert (again.threshold, list(again.words)) == (0.5, ["good", "fine"])
    assert again.predict("bad day") == {"positive": False}


@covers("weave-op-object")
def test_an_op_is_an_object_with_its_code(client: WeaveClient) -> None:
    @weave.op
    def double(number: int) -> int:
        return number * 2

    ref = weave.publish(double)
    assert "/op/double:" in uri_of(ref)
    client.flush()
    read = ref.get()
    assert read(21) == 42


@covers("weave-prompt")
def test_prompts(client: WeaveClient) -> None:
    ref = weave.publish(weave.StringPrompt("Hello {name}"), "greeting")
    assert ref.get().format(name="Ada") == "Hello Ada"
    messages = weave.MessagesPrompt([{"role": "user", "content": "Hi {name}"}])
    read = weave.publish(messages, "messages").get()
    assert read.format(name="Bob") == [{"role": "user", "content": "Hi Bob"}]


@covers("weave-dataset")
def test_a_dataset_is_published_and_read_row_by_row(client: WeaveClient) -> None:
    rows = [{"id": str(index), "n": index, "half": index / 2, "text": "é😀"} for index in range(250)]
    ref = weave.publish(weave.Dataset(name="numbers", rows=rows))
    dataset = weave.ref(uri_of(ref)).get()
    assert len(dataset.rows) == 250
    assert [dict(row) for row in dataset.rows] == rows
    assert dict(dataset.rows[7]) == rows[7]
    assert weave.ref("numbers").get().name == "numbers"
    again = weave.publish(weave.Dataset(name="numbers", rows=rows))
    assert digest_of(again) == digest_of(ref)
    assert digest_of(weave.publish(weave.Dataset(name="numbers", rows=rows[:1]))) != digest_of(ref)


@covers("weave-dataset")
def test_rows_are_added_to_a_dataset(client: WeaveClient) -> None:
    ref = weave.publish(weave.Dataset(name="grows", rows=[{"n": 1}, {"n": 2}]))
    grown = weave.publish(ref.get().add_rows([{"n": 3}]), "grows")
    assert [row["n"] for row in grown.get().rows] == [1, 2, 3]
    assert [row["n"] for row in ref.get().rows] == [1, 2]


@covers("weave-dataset-large")
def test_a_dataset_in_chunks(client: WeaveClient) -> None:
    """More than a thousand rows go up in pieces that the server joins by their digests."""
    rows = [{"n": index, "text": f"row {index}"} for index in range(3500)]
    ref = weave.publish(weave.Dataset(name="large", rows=rows))
    read = weave.ref(uri_of(ref)).get()
    assert [row["n"] for row in read.rows] == list(range(3500))


@covers("weave-dataset-row-ref")
def test_a_rows_ref_names_its_digest(client: WeaveClient) -> None:
    ref = weave.publish(weave.Dataset(name="linked", rows=[{"n": 1}, {"n": 2}]))
    row = weave.ref(uri_of(ref)).get().rows[1]
    assert "/attr/rows/id/" in uri_of(row.ref)
    assert weave.ref(uri_of(row.ref)).get()["n"] == 2

    @weave.op
    def use(row: Any) -> int:
        return row["n"]

    use(row)
    (call,) = stored(client)
    assert call.output == 2


@covers("weave-file")
def test_content_is_stored_as_files(client: WeaveClient) -> None:
    data = bytes(range(256)) * 1000
    ref = weave.publish({"file": weave.Content.from_bytes(data, extension="bin")}, "with-file")
    client.flush()
    assert weave.ref(uri_of(ref)).get()["file"].data == data


@covers("weave-file")
def test_an_object_is_read_while_its_files_are_uploaded(client: WeaveClient) -> None:
    """`publish` returns when the object is stored; its files may still be on their way."""
    for number in range(20):
        ref = weave.publish({"file": weave.Content.from_bytes(b"x" * 1000 * number, extension="bin")}, "at-once")
        assert weave.ref(uri_of(ref)).get()["file"].data == b"x" * 1000 * number


@covers("weave-object-delete")
def test_deleted_versions_are_gone(client: WeaveClient) -> None:
    first = weave.publish({"v": 1}, "mortal")
    second = weave.publish({"v": 2}, "mortal")
    client.delete_object_version(second)
    assert weave.ref("mortal").get() == {"v": 1}
    with pytest.raises(Exception, match=GONE):
        weave.ref(uri_of(second)).get()
    assert client.delete_all_object_versions("mortal") == 1
    with pytest.raises(Exception, match=GONE):
        weave.ref(uri_of(first)).get()


@covers("weave-object-missing")
def test_an_object_that_was_never_there_is_an_error(client: WeaveClient) -> None:
    with pytest.raises(Exception, match=GONE):
        weave.ref(f"weave:///{project_name(client)}/object/nobody:v0").get()


@covers("weave-client-digests")
@pytest.mark.skipif(WRITE_PATHS == ["start-end"], reason="0.52.22 computes no digests itself")
def test_digests_of_the_client_are_the_servers(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client hashes values with refs in their internal form; a difference would be a 409."""
    use_server(monkeypatch, server)
    monkeypatch.setenv("WEAVE_ENABLE_CLIENT_SIDE_DIGESTS", "true")
    with project_of(server) as client:
        inner = weave.publish({"pi": 3.0, "big": 2**60, "text": "é\u2028😀", "e": 1e-07}, "inner")
        outer = weave.publish({"inner": inner.get(), "list": [1.0, 1, None]}, "outer")
        rows = [{"n": index, "half": index / 2, "of": uri_of(inner)} for index in range(10)]
        table = weave.publish(weave.Dataset(name="rows", rows=rows))
        client.flush()
        assert not client.project_id_resolver._disabled_event.is_set(), "a digest differed"
        assert outer.get()["inner"]["pi"] == 3.0
        assert [row["half"] for row in table.get().rows] == [index / 2 for index in range(10)]
