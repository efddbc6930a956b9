"""wandb's own SDK records runs and reads them back."""

import json
import math
import platform
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
import wandb

from covers import covers
from started_server import Server

SILENT = {"WANDB_SILENT": "true", "WANDB_CONSOLE": "wrap"}


@pytest.fixture(autouse=True)
def settings(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    use(server, monkeypatch)
    monkeypatch.chdir(tmp_path)
    yield
    wandb.finish()


def use(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SILENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("WANDB_BASE_URL", server.url)
    monkeypatch.setenv("WANDB_API_KEY", server.key)


@pytest.fixture
def project() -> str:
    return f"runs-{secrets.token_hex(4)}"


def read(path: str) -> Any:
    """The run, read by a new client, which has cached nothing."""
    return wandb.Api().run(path)


def ask(server: Server, query: str) -> Any:
    """What `/graphql` answers, for what the client has no method to read."""
    request = Request(f"{server.url}/graphql", data=json.dumps({"query": query}).encode())
    request.add_header("Content-Type", "application/json")
    request.add_header("Authorization", f"Bearer {server.key}")
    with urlopen(request, timeout=30) as answer:
        return json.load(answer)["data"]


def get(server: Server, path: str) -> Any:
    """What the server's own API answers, as its pages ask it."""
    request = Request(server.url + path, headers={"Authorization": f"Bearer {server.key}"})
    with urlopen(request, timeout=30) as answer:
        return json.load(answer)


@covers("wandb-run")
def test_a_run_is_recorded_and_read_back(server: Server, project: str) -> None:
    config = {"lr": 0.1, "nested": {"a": [1, 2]}, "big": 2**62, "text": "é\u2028"}
    run = wandb.init(
        project=project, name="Shown", config=config, notes="note", tags=["a", "b"], group="g", job_type="train"
    )
    assert (run.entity, run.project) == ("local", project)
    for step in range(60):
        run.log({"loss": 1 / (step + 1), "a.b": step, "d": {"e": step}})
    run.config.update({"later": True})
    run.summary["best"] = 0.5
    path = run.path
    run.finish()
    assert run.url == f"{server.url}/{run.entity}/{project}/runs/{run.id}"
    with urlopen(Request(run.url, headers={"Accept": "text/html"}), timeout=30) as page:
        assert page.headers.get_content_type() == "text/html"
    address = wandb.Api().project(project, "local").url
    with urlopen(Request(address, headers={"Accept": "text/html"}), timeout=30) as page:
        assert page.headers.get_content_type() == "text/html"

    stored = read(path)
    assert (stored.state, stored.name, stored.notes) == ("finished", "Shown", "note")
    assert (stored.tags, stored.group, stored.job_type) == (["a", "b"], "g", "train")
    assert stored.config == {**config, "later": True}
    assert stored.summary["best"] == 0.5
    assert stored.summary["loss"] == 1 / 60
    rows = list(stored.scan_history())
    assert [(row["_step"], row["loss"], row["a.b"], row["d"]) for row in rows] == [
        (step, 1 / (step + 1), step, {"e": step}) for step in range(60)
    ]
    by_key = stored.scan_history(keys=["loss", "d.e"], page_size=7)
    assert [(row["loss"], row["d.e"]) for row in by_key] == [(1 / (step + 1), step) for step in range(60)]
    sampled = stored.history(samples=10, pandas=False)
    assert [sampled[0]["_step"], sampled[-1]["_step"], len(sampled)] == [0, 59, 10]
    assert [run.id for run in wandb.Api().runs(f"local/{project}", {"config.lr": 0.1})] == [stored.id]
    assert len(wandb.Api().runs(f"local/{project}", {"summary_metrics.best": {"$gt": 1}})) == 0
    assert len(wandb.Api().runs(f"local/{project}", {"host": platform.node(), "duration": {"$lt": 600}})) == 1


@covers("wandb-not-finite")
def test_nan_and_infinities_are_read_as_they_were_logged(project: str) -> None:
    run = wandb.init(project=project)
    run.log({"nan": math.nan, "inf": math.inf, "minus": -math.inf})
    path = run.path
    run.finish()
    (row,) = read(path).scan_history()
    assert math.isnan(row["nan"])
    assert (row["inf"], row["minus"]) == (math.inf, -math.inf)
    assert math.isnan(read(path).summary["nan"])


@covers("wandb-files")
def test_files_and_console_are_kept(project: str, tmp_path: Path) -> None:
    run = wandb.init(project=project)
    print("a line of the console")
    (tmp_path / "note é.txt").write_text("content")
    run.save("note é.txt", policy="now")
    path = run.path
    run.finish()
    stored = read(path)
    names = {file.name for file in stored.files()}
    assert {"note é.txt", "output.log", "config.yaml", "wandb-metadata.json", "wandb-summary.json"} <= names
    file = stored.file("note é.txt")
    assert file.size == 7
    with file.download(root=str(tmp_path / "down")) as content:
        assert content.read() == "content"
    with stored.file("output.log").download(root=str(tmp_path / "down")) as console:
        assert "a line of the console" in console.read()
    file.delete()
    assert "note é.txt" not in {file.name for file in read(path).files()}
    gone = read(path).file("note é.txt")
    assert (gone.size, gone.md5, gone.updated_at) == (0, "0", None)
    with pytest.raises(ValueError, match=r"File note é\.txt not found"):
        wandb.restore("note é.txt", run_path=path, root=str(tmp_path / "re"))


@covers("wandb-resume")
def test_a_run_goes_on_where_it_ended(project: str) -> None:
    name = secrets.token_hex(4)
    for session in range(3):
        run = wandb.init(project=project, id=name, resume="allow", config={f"s{session}": session})
        for value in range(10):
            run.log({"value": session * 10 + value})
        run.finish(exit_code=session)
    stored = read(f"local/{project}/{name}")
    rows = list(stored.scan_history())
    assert [(row["_step"], row["value"]) for row in rows] == [(step, step) for step in range(30)]
    assert stored.config == {"s0": 0, "s1": 1, "s2": 2}
    assert stored.state == "failed"
    with pytest.raises(wandb.Error):
        wandb.init(project=project, id=name, resume="never")
    wandb.setup().settings.resume = None


@covers("wandb-define-metric")
def test_a_metric_is_read_over_the_one_that_the_program_defined(server: Server, project: str) -> None:
    run = wandb.init(project=project)
    run.define_metric("epoch", hidden=True)
    run.define_metric("val/*", step_metric="epoch")
    for step in range(6):
        run.log({"epoch": step // 2, "loss": step})
        run.log({"val/accuracy": step / 10})
    name = run.id
    run.finish()
    query = f'{{ project(entityName: "local", name: "{project}") {{ run(name: "{name}") {{ config }} }} }}'
    definitions = json.loads(ask(server, query)["project"]["run"]["config"])["_wandb"]["value"]["m"]
    [place] = [index for index, one in enumerate(definitions, 1) if one.get("1") == "epoch"]
    assert 2 in definitions[place - 1]["6"]
    over = [one["5"] for one in definitions if one.get("2") == "val/*" or one.get("1") == "val/accuracy"]
    assert set(over) == {place}
    [curve] = get(server, f"/v1/runs/local/{project}/{name}/metrics?metric=val/accuracy&x=epoch")["data"]
    assert (curve["x"], curve["min"], curve["max"]) == ([0, 1, 2], [0, 0.2, 0.4], [0.1, 0.3, 0.5])


@covers("wandb-run")
def test_tables_pages_and_charts_are_named_and_their_files_read(server: Server, project: str, tmp_path: Path) -> None:
    """What the page of a run draws them from: platform-wandb 5.3, 7, 8."""
    run = wandb.init(project=project)
    squares = wandb.Table(columns=["x", "y"], data=[[x, x * x] for x in range(4)])
    run.log({"loss": 0.5, "squares": wandb.plot.line(squares, "x", "y", title="Squares")})
    run.log({"rows": wandb.Table(columns=["q", "a"], data=[["1 + 1", "2"]]), "page": wandb.Html("<b>hi</b>")})
    run.finish()
    named = get(server, f"/v1/runs/{run.entity}/{project}/{run.id}/metrics")
    assert named["metrics"] == ["loss"]
    types = {one["name"]: one["type"] for one in named["media"]}
    assert types == {"page": "html-file", "rows": "table-file", "squares_table": "table-file"}
    found = read(f"{run.entity}/{project}/{run.id}")
    (row,) = list(found.scan_history(keys=["rows"]))
    with found.file(row["rows"]["path"]).download(root=str(tmp_path), replace=True) as file:
        assert json.load(file) == {"columns": ["q", "a"], "data": [["1 + 1", "2"]]}
    config = json.loads(found.json_config)
    panel = config["_wandb"]["value"]["visualize"]["squares"]["panel_config"]
    assert (panel["panelDefId"], panel["fieldSettings"]["x"]) == ("wandb/line/v0", "x")
    assert "squares_table" in json.dumps(panel["userQuery"])


@covers("wandb-overwrite")
def test_a_process_that_does_not_resume_writes_over_the_run_step_by_step(project: str) -> None:
    name = secrets.token_hex(4)
    for session, length in enumerate((5, 3)):
        run = wandb.init(project=project, id=name, config={"session": session})
        for value in range(length):
            run.log({"value": session * 10 + value})
        run.finish()
    stored = read(f"local/{project}/{name}")
    rows = [(row["_step"], row["value"]) for row in stored.scan_history()]
    assert rows == [(0, 10), (1, 11), (2, 12), (3, 3), (4, 4)]
    assert (stored.config, stored.summary["value"], stored.state) == ({"session": 1}, 12, "finished")


@covers("wandb-fork")
def test_a_fork_and_a_rewound_run_begin_with_the_rows_they_keep(project: str) -> None:
    run = wandb.init(project=project)
    for value in range(20):
        run.log({"value": value})
    run.summary["of the source"] = "kept"
    name = run.id
    run.finish()
    fork = wandb.init(project=project, fork_from=f"{name}?_step=9")
    fork.log({"value": 100})
    path = fork.path
    fork.finish()
    assert [row["value"] for row in read(path).scan_history()] == [*range(10), 100]
    assert (read(path).summary["of the source"], read(path).summary["value"]) == ("kept", 100)
    rewound = wandb.init(project=project, resume_from=f"{name}?_step=14")
    rewound.log({"value": 200})
    path = rewound.path
    rewound.finish()
    assert [row["value"] for row in read(path).scan_history()] == [*range(15), 200]


@covers("wandb-edit")
def test_a_finished_run_is_edited_and_deleted(project: str) -> None:
    run = wandb.init(project=project)
    run.log({"value": 1})
    path = run.path
    run.finish()
    stored = read(path)
    stored.tags.append("late")
    stored.config["added"] = 1
    stored.summary["score"] = 2
    stored.summary.update()
    stored.update()
    stored = read(path)
    assert (stored.tags, stored.config, stored.summary["score"]) == (["late"], {"added": 1}, 2)
    assert stored.state == "finished"
    stored.delete()
    with pytest.raises(Exception, match="Could not find run"):
        read(path).load(force=True)


@covers("wandb-state")
def test_a_run_is_made_pending_and_marked_failed(project: str) -> None:
    run = wandb.init(project=project)
    path = run.path
    run.finish(exit_code=1)
    for state in ["pending", "failed"]:
        assert read(path).update_state(state)
        assert read(path).state == state
    # 0.25 takes any error of this mutation for the one of a server without it.
    with pytest.raises(wandb.Error, match=r"is failed; only one that is|does not support the update_state operation"):
        read(path).update_state("failed")


@covers("wandb-alert")
def test_an_alert_is_kept_with_its_run_once_in_the_time_to_wait(server: Server, project: str) -> None:
    run = wandb.init(project=project)
    run.alert("Low accuracy", "é is below 0.5", level=wandb.AlertLevel.WARN)
    run.alert("Low accuracy", "still", wait_duration=timedelta(hours=1))
    run.alert("Done", "")
    run.finish()
    alerts = "alerts { edges { node { runName severity title text } } }"
    answer = ask(server, f'{{ project(name: "{project}") {{ run(name: "{run.id}") {{ {alerts} }} }} }}')
    assert [edge["node"] for edge in answer["project"]["run"]["alerts"]["edges"]] == [
        {"runName": run.id, "severity": "INFO", "title": "Done", "text": ""},
        {"runName": run.id, "severity": "WARN", "title": "Low accuracy", "text": "é is below 0.5"},
    ]


@covers("wandb-accounts")
def test_projects_teams_and_users_are_read(server: Server, project: str) -> None:
    wandb.init(project=project).finish()
    api = wandb.Api()
    read_project = api.project(project, server.entity)
    assert read_project.id
    assert datetime.now(UTC) - datetime.fromisoformat(read_project.created_at) < timedelta(hours=1)
    assert list(read_project.sweeps()) == []
    assert list(api.reports(f"{server.entity}/{project}")) == []
    team = api.team(server.entity)
    assert (team.is_team, [member.name for member in team.members]) == (True, ["admin"])
    user = api.user("admin")
    assert user is not None
    assert (user.username, user.teams) == ("admin", [server.entity])


@covers("wandb-refusal")
def test_what_is_not_there_is_refused_and_the_run_goes_on(project: str) -> None:
    with pytest.raises(Exception, match="sweeps are not part of this server"):
        wandb.sweep({"method": "grid", "parameters": {"a": {"values": [1]}}}, project=project)
    with pytest.raises(Exception, match="automations are not part of this server"):
        list(wandb.Api().automations())
    with pytest.raises(Exception, match="automations are not part of this server"):
        list(wandb.Api().integrations("local"))
    with pytest.raises(Exception, match="launch is not part of this server"):
        _ = wandb.Api().run_queue("local", "queue").items
    with pytest.raises(wandb.Error, match="no team"):
        wandb.init(project=project, entity="nobody")
    run = wandb.init(project=project)
    run.log({"value": 1})
    path = run.path
    run.finish()
    assert [row["value"] for row in read(path).scan_history()] == [1]
