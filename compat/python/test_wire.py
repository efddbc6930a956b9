"""Facts of the wire that clients rely on, tested without their libraries: paths, bodies, headers, pages."""

from typing import Any

import pytest

from covers import covers
from started_server import Server
from wire import Answer, call, create_model, pages

CHAT = {
    "model": "heddle/tiny",
    "messages": [{"role": "user", "content": "3 + 4 = ?"}],
    "max_tokens": 4,
}


@covers("http-prefix", "http-trailing-slash")
@pytest.mark.parametrize("prefix", ["", "/some/prefix", "/forge/api/training"])
@pytest.mark.parametrize("end", ["", "/"])
def test_chat_answers_under_any_prefix(server: Server, prefix: str, end: str) -> None:
    answer = call(server, "POST", f"{prefix}/v1/chat/completions{end}", CHAT)
    assert answer.status == 200, answer.text
    assert answer.json["choices"][0]["message"]["role"] == "assistant"


@covers("http-prefix")
def test_training_answers_under_a_prefix(server: Server, name: str) -> None:
    body = {"project": "compat", "name": name, "base_model": "heddle/tiny", "return_existing": True}
    created = call(server, "POST", "/some/prefix/v1/preview/models", body)
    assert created.status == 200, created.text
    listed = call(server, "GET", f"/v1/preview/models/{created.json['id']}/checkpoints")
    assert [checkpoint["step"] for checkpoint in listed.json["data"]] == [0]


@covers("http-empty-delete")
def test_delete_with_a_json_type_and_no_body(server: Server, name: str) -> None:
    model = create_model(server, name)
    answer = call(
        server,
        "DELETE",
        f"/v1/preview/models/{model['id']}",
        headers={"Content-Type": "application/json"},
    )
    assert answer.status == 200, answer.text
    assert answer.json == {"model_id": model["id"], "deleted_checkpoints": 1, "deleted_run": True}


@covers("http-health")
@pytest.mark.parametrize("path", ["/v1/health", "/v1/system-check", "/v1/preview/base-models"])
def test_open_pages_need_no_key(server: Server, path: str) -> None:
    answer = call(server, "GET", path, key=None)
    assert answer.status == 200, answer.text
    assert answer.headers["content-type"].split(";")[0].endswith("json")


@covers("base-models")
def test_base_models_is_a_plain_list_of_names(server: Server) -> None:
    assert "heddle/tiny" in call(server, "GET", "/v1/preview/base-models").json


@covers("error-no-key")
def test_a_missing_key_names_the_clients_that_send_none(server: Server) -> None:
    body = {"project": "compat", "name": "x", "base_model": "heddle/tiny"}
    # The user agent of openpipe-art's training client.
    headers = {"User-Agent": "Client/Python 2.38.0"}
    answer = call(server, "POST", "/v1/preview/models", body, key=None, headers=headers)
    assert answer.status == 401
    assert "Authorization" in answer.text
    assert "openpipe-art" in answer.text
    assert "openai" in answer.text


@covers("error-unknown-ids")
@pytest.mark.parametrize("path", ["models/none/checkpoints", "training-jobs/none/events"])
def test_unknown_ids_are_not_found(server: Server, path: str) -> None:
    answer = call(server, "GET", f"/v1/preview/{path}")
    assert answer.status == 404
    assert isinstance(answer.json["detail"], str)


@covers("error-training-validation")
@pytest.mark.parametrize(
    ("reward", "where"),
    [(None, "reward"), ("1", "reward")],
    ids=["null", "text"],
)
def test_a_reward_that_is_no_number_is_refused_whole(server: Server, name: str, reward: Any, where: str) -> None:
    model = create_model(server, name)
    group = {"trajectories": [{"messages_and_choices": [], "reward": reward}]}
    answer = call(
        server,
        "POST",
        "/v1/preview/training-jobs",
        {"model_id": model["id"], "trajectory_groups": [group]},
    )
    assert answer.status == 422, answer.text
    assert answer.json["detail"][0]["loc"] == [
        *("body", "trajectory_groups", 0, "trajectories", 0),
        where,
    ]


def finished_job(server: Server, model: dict[str, Any]) -> str:
    """Runs a job of at most three gradient steps to its end; returns its id."""
    import time

    asked = {**CHAT, "model": f"wandb-artifact:///{model['entity']}/compat/{model['name']}"}
    completion = call(server, "POST", "/v1/chat/completions", {**asked, "n": 8}).json
    trajectories = [
        {"messages_and_choices": [*CHAT["messages"], choice], "reward": float(index % 2)}
        for index, choice in enumerate(completion["choices"])
    ]
    job = call(
        server,
        "POST",
        "/v1/preview/training-jobs",
        {"model_id": model["id"], "trajectory_groups": [{"trajectories": trajectories}]},
    )
    assert job.status == 200, job.text
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        events = pages(server, f"/v1/preview/training-jobs/{job.json['id']}/events", 100)
        if events and events[-1]["type"] in ("training_ended", "training_failed"):
            assert events[-1]["type"] == "training_ended", events[-1]
            return job.json["id"]
        time.sleep(0.1)
    raise AssertionError("the job did not end within 60 s")


@covers("events-paging")
def test_every_page_size_gives_the_same_events(server: Server, name: str) -> None:
    job = finished_job(server, create_model(server, name))
    path = f"/v1/preview/training-jobs/{job}/events"
    whole = pages(server, path, 100)
    kinds = [event["type"] for event in whole]
    assert kinds[0] == "training_started"
    assert kinds[-1] == "training_ended"
    assert kinds.count("gradient_step") == whole[0]["data"]["num_sequences"] >= 1
    assert len({event["id"] for event in whole}) == len(whole)
    for limit in (1, 20, None):
        assert pages(server, path, limit) == whole


@covers("events-are-numbers")
def test_a_gradient_step_holds_only_numbers(server: Server, name: str) -> None:
    job = finished_job(server, create_model(server, name))
    events = pages(server, f"/v1/preview/training-jobs/{job}/events", 100)
    steps = [event["data"] for event in events if event["type"] == "gradient_step"]
    for data in steps:
        assert {"policy_loss", "entropy", "grad_norm", "learning_rate"} <= set(data)
        for key, value in data.items():
            assert isinstance(value, (int, float)), (key, value)


@covers("checkpoints-paging")
def test_checkpoints_page_in_both_directions(server: Server, name: str) -> None:
    model = create_model(server, name)
    for _ in range(2):
        finished_job(server, model)
    path = f"/v1/preview/models/{model['id']}/checkpoints"
    assert [item["step"] for item in pages(server, path, 1)] == [0, 1, 2]
    newest = call(server, "GET", f"{path}?limit=1&order=desc").json
    assert [item["step"] for item in newest["data"]] == [2]
    assert newest["has_more"] is True


@pytest.mark.parametrize("limit", ["0", "101", "many"])
@covers("checkpoints-paging")
def test_a_limit_outside_its_bounds_is_refused(server: Server, name: str, limit: str) -> None:
    model = create_model(server, name)
    answer = call(server, "GET", f"/v1/preview/models/{model['id']}/checkpoints?limit={limit}")
    assert_detail(answer, ["query", "limit"])


def assert_detail(answer: Answer, loc: list[Any]) -> None:
    assert answer.status == 422, answer.text
    detail = answer.json["detail"][0]
    assert detail["loc"] == loc
    assert detail["msg"]
    assert detail["type"]


@covers("log-route")
def test_the_log_of_art_0_5_7_reaches_the_checkpoint(server: Server, name: str) -> None:
    """The body of art 0.5.7 repeats model_id, has exceptions in the group, and no metadata."""
    model = create_model(server, name)
    answered = {
        "finish_reason": "stop",
        "index": 0,
        "logprobs": None,
        "message": {
            "content": "7",
            "refusal": None,
            "role": "assistant",
            "annotations": None,
            "audio": None,
            "function_call": None,
            "tool_calls": None,
        },
    }
    trajectory = {
        "messages_and_choices": [*CHAT["messages"], answered],
        "tools": None,
        "additional_histories": [],
        "auto_metrics": {},
        "metadata": {},
        "logs": [],
    }
    error = {"type": "<class 'ValueError'>", "message": "no \u0000", "traceback": ""}
    group = {
        "trajectories": [
            {**trajectory, "reward": 1.0, "metrics": {"duration": 2.0}},
            {**trajectory, "reward": 0.0, "metrics": {"duration": 4.0}},
        ],
        "exceptions": [error, error],
    }
    answer = call(
        server,
        "POST",
        f"/v1/preview/models/{model['id']}/log",
        {"model_id": model["id"], "trajectory_groups": [group], "split": "val"},
    )
    assert answer.status == 200, answer.text
    assert answer.headers["content-type"].split(";")[0].endswith("json")
    listed = call(server, "GET", f"/v1/preview/models/{model['id']}/checkpoints").json
    assert listed["data"][0]["metrics"] == {
        "val/reward": 0.5,
        "val/exception_rate": 0.5,
        "val/reward_std_dev": 0.5,
        "val/duration": 3.0,
    }
