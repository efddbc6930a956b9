"""wandb's own SDK logs artifacts and reads them back."""

import secrets
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import wandb

from covers import covers
from started_server import Server

SILENT = {"WANDB_SILENT": "true", "WANDB_CONSOLE": "wrap"}


@pytest.fixture(autouse=True)
def settings(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    places = {
        "WANDB_BASE_URL": server.url,
        "WANDB_API_KEY": server.key,
        # A cache for each test, so that downloads come from this server and not from an earlier test's cache.
        "WANDB_CACHE_DIR": str(tmp_path / "cache"),
        "WANDB_DATA_DIR": str(tmp_path / "data"),
    }
    for name, value in {**SILENT, **places}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    yield
    wandb.finish()


@pytest.fixture
def project() -> str:
    return f"artifacts-{secrets.token_hex(4)}"


def logged(project: str, artifact: wandb.Artifact, **how: Any) -> wandb.Artifact:
    with wandb.init(project=project) as run:
        return run.log_artifact(artifact, **how).wait(60)


def with_file(name: str, content: str, *, path: str = "a.txt", **how: Any) -> wandb.Artifact:
    artifact = wandb.Artifact(name, "dataset", **how)
    with artifact.new_file(path) as file:
        file.write(content)
    return artifact


def found(project: str, name: str) -> wandb.Artifact:
    """The artifact, read by a new client, which has cached nothing."""
    return wandb.Api().artifact(f"local/{project}/{name}")


def files_in(folder: str | Path) -> dict[str, bytes]:
    root = Path(folder)
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@covers("wandb-artifact")
def test_files_and_folders_come_back_byte_for_byte(project: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    contents = {"a.txt": b"a", "deep/b \xc3\xa9.bin".encode("latin1").decode(): bytes(range(256)), "empty": b""}
    contents |= {f"many/{n:03}.txt": f"content {n}".encode() for n in range(150)}
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (tmp_path / "single").write_bytes(b"a single file")
    artifact = wandb.Artifact("data", "dataset", description="d", metadata={"rows": 3, "nested": {"a": [1]}})
    artifact.add_dir(str(folder), name="dir")
    artifact.add_file(str(tmp_path / "single"), name="one/file")
    logged(project, artifact, aliases=["first"])

    stored = found(project, "data:latest")
    assert (stored.version, stored.type, stored.state, stored.description) == ("v0", "dataset", "COMMITTED", "d")
    assert (stored.metadata, sorted(stored.aliases)) == ({"rows": 3, "nested": {"a": [1]}}, ["first", "latest"])
    expected = {"one/file": b"a single file"} | {f"dir/{name}": content for name, content in contents.items()}
    assert files_in(stored.download(root=str(tmp_path / "down"))) == expected
    assert stored.digest == artifact.digest
    assert (stored.file_count, stored.size) == (len(expected), sum(map(len, expected.values())))
    assert {file.name for file in stored.files(per_page=40)} == set(expected)
    assert Path(stored.get_entry("one/file").download(root=str(tmp_path / "entry"))).read_bytes() == b"a single file"
    assert stored.verify(root=str(tmp_path / "down")) is None


@covers("wandb-artifact-versions")
def test_versions_aliases_and_deletion(project: str) -> None:
    for content in ("one", "two", "one"):
        logged(project, with_file("data", content))
    assert found(project, "data:latest").version == "v0", "the same files are the same version"
    logged(project, with_file("data", "three"))
    api = wandb.Api()
    versions = list(api.artifacts("dataset", f"local/{project}/data"))
    assert [one.version for one in versions] == ["v2", "v1", "v0"]
    second = found(project, "data:v1")
    second.aliases.append("best")
    second.save()
    assert found(project, "data:best").version == "v1"
    third = found(project, "data:v2")
    third.aliases.append("best")
    third.save()
    assert found(project, "data:best").version == "v2"
    assert found(project, "data:v1").aliases == []
    with pytest.raises(Exception, match="best"):
        found(project, "data:v2").delete()
    found(project, "data:v2").delete(delete_aliases=True)
    with pytest.raises(wandb.Error):
        found(project, "data:best")
    assert found(project, "data:latest").version == "v1"
    assert [kind.name for kind in api.artifact_types(f"local/{project}")] == ["dataset"]
    (collection,) = api.artifact_collections(f"local/{project}", "dataset")
    assert collection.name == "data"
    assert api.artifact_exists(f"local/{project}/data:v1")
    assert not api.artifact_exists(f"local/{project}/data:v7")
    collection.delete()
    assert not api.artifact_exists(f"local/{project}/data:v1")


@covers("wandb-artifact-incremental")
def test_an_incremental_artifact_and_a_draft_add_to_a_version(project: str, tmp_path: Path) -> None:
    first = wandb.Artifact("data", "dataset")
    for path in ("a.txt", "b.txt"):
        with first.new_file(path) as file:
            file.write(f"old {path}")
    logged(project, first)
    more = wandb.Artifact("data", "dataset", incremental=True)
    for path in ("b.txt", "c.txt"):
        with more.new_file(path) as file:
            file.write(f"new {path}")
    logged(project, more)
    expected = {"a.txt": b"old a.txt", "b.txt": b"new b.txt", "c.txt": b"new c.txt"}
    assert files_in(found(project, "data:v1").download(root=str(tmp_path / "merged"))) == expected
    draft = found(project, "data:v1").new_draft()
    draft.remove("a.txt")
    with draft.new_file("d.txt") as file:
        file.write("new d.txt")
    logged(project, draft)
    del expected["a.txt"]
    expected["d.txt"] = b"new d.txt"
    assert files_in(found(project, "data:v2").download(root=str(tmp_path / "draft"))) == expected


@covers("wandb-artifact-reference")
def test_references_are_kept(project: str, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "far.txt").write_text("far away")
    artifact = wandb.Artifact("refs", "dataset")
    artifact.add_reference(f"file://{tmp_path}/outside", name="local")
    artifact.add_reference("https://example.invalid/data.csv", name="web.csv", checksum=False)
    logged(project, artifact)
    stored = found(project, "refs:latest")
    assert stored.get_entry("web.csv").ref == "https://example.invalid/data.csv"
    assert stored.get_entry("local/far.txt").ref == f"file://{tmp_path}/outside/far.txt"
    assert [file.name for file in stored.files()] == ["local/far.txt", "web.csv"]
    logged(project, with_file("origin", "shared"))
    other = wandb.Artifact("other", "dataset")
    other.add_reference(found(project, "origin:v0").get_entry("a.txt").ref_url(), name="linked.txt")
    logged(project, other)
    down = found(project, "other:v0").download(root=str(tmp_path / "down"))
    assert files_in(down) == {"linked.txt": b"shared"}


@covers("wandb-artifact-lineage")
def test_who_made_and_used_it(project: str) -> None:
    with wandb.init(project=project) as maker:
        maker.log_artifact(with_file("data", "x")).wait(60)
    with wandb.init(project=project) as user:
        used = user.use_artifact("data:latest")
        assert Path(used.file()).read_text() == "x"
    stored = found(project, "data:v0")
    made_by = stored.logged_by()
    assert made_by is not None
    assert made_by.id == maker.id
    assert [run.id for run in stored.used_by()] == [user.id]
    api = wandb.Api()
    assert [one.name for one in api.run(f"local/{project}/{maker.id}").logged_artifacts()] == ["data:v0"]
    assert [one.name for one in api.run(f"local/{project}/{user.id}").used_artifacts()] == ["data:v0"]


@covers("wandb-artifact-edit")
def test_it_is_edited_and_linked(project: str) -> None:
    logged(project, with_file("data", "x", metadata={"a": 1}))
    stored = found(project, "data:v0")
    stored.description = "changed"
    stored.metadata["b"] = 2
    stored.tags = ["good one"]
    stored.ttl = timedelta(days=3)
    stored.save()
    stored = found(project, "data:v0")
    assert (stored.description, stored.metadata, stored.tags) == ("changed", {"a": 1, "b": 2}, ["good one"])
    assert stored.ttl == timedelta(days=3)
    stored.link(f"local/{project}/releases", aliases=["stable"])
    assert found(project, "releases:stable").digest == stored.digest


@covers("wandb-artifact-table")
def test_a_logged_table_is_read_back(project: str) -> None:
    with wandb.init(project=project) as run:
        run.log({"rows": wandb.Table(columns=["a", "b"], data=[[1, "x"], [2, "y"]])})
    table = found(project, f"run-{run.id}-rows:latest").get("rows")
    assert table.data == [[1, "x"], [2, "y"]]
