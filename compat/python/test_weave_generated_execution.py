"""Work that the server runs itself, with its real engine: completions, runtimes, scoring, evaluations of models."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import weave
from weave.flow.llm_structured_model import LLMStructuredCompletionModel
from weave.scorers import LLMAsAJudgeScorer
from weave.vendor.weave_server_sdk import BadRequestError, NotFoundError, WeaveTrace

from covers import covers
from generated_client import Answered, strict_client, strictly
from started_server import ROOT, Server, started_server
from weave_session import project_name, project_of, uri_of, use_server

MODEL = "heddle/tiny"
WAIT_S = 120.0

pytestmark = covers("generated-execution")


@pytest.fixture(scope="module")
def engine_server() -> Iterator[Server]:
    """A server with an engine, which may fetch from a provider on this machine: the other tests need neither."""
    with started_server(HEDDLE_ENGINE="process", HEDDLE_FETCH_ALLOW="127.0.0.1") as started:
        yield started


@pytest.fixture(scope="module")
def running(engine_server: Server, answered: Answered) -> WeaveTrace:
    return strict_client(engine_server, answered)


@pytest.fixture
def client(engine_server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    use_server(monkeypatch, engine_server)
    with project_of(engine_server) as opened:
        yield opened


class Provider(BaseHTTPRequestHandler):
    """An OpenAI-compatible endpoint."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"role": "assistant", "content": f"{asked['model']} heard you"}
        answers = {
            "/v1/chat/completions": {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]},
            "/v1/images/generations": {"created": 1, "data": [{"url": "https://example.com/cat.png"}]},
        }
        body = json.dumps(answers[self.path]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing on the screen."""


@pytest.fixture
def provider() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


def ask(text: str) -> Any:
    return {"model": MODEL, "messages": [{"role": "user", "content": text}], "max_tokens": 8, "temperature": 0.0}


def test_a_completion_is_recorded(running: WeaveTrace, engine_server: Server) -> None:
    project = f"{engine_server.entity}/completions"
    made = running.completions.create(project_id=project, inputs=ask("one plus one"))
    usage = made.response["usage"]
    assert made.response["choices"][0]["message"]["content"]
    assert made.weave_call_id is not None
    call = running.calls.read(id=made.weave_call_id, project_id=project).call
    assert call is not None
    assert (call.op_name, call.output) == ("weave.completions_create", made.response)
    assert call.summary["usage"] == {MODEL: usage}
    with pytest.raises(NotFoundError, match="nobody/knows"):
        running.completions.create(project_id=project, inputs=ask("x") | {"model": "nobody/knows"})


def test_a_stream_of_chunks(running: WeaveTrace, engine_server: Server) -> None:
    project = f"{engine_server.entity}/streams"
    plain = running.completions.create(project_id=project, inputs=ask("two plus two"), track_llm_call=False)
    first, *chunks = map(strictly, running.completions.create_stream(project_id=project, inputs=ask("two plus two")))
    deltas = [choice["delta"].get("content", "") for chunk in chunks for choice in chunk.choices]
    assert "".join(deltas) == plain.response["choices"][0]["message"]["content"]
    call = running.calls.read(id=first.api_meta.weave_call_id, project_id=project).call
    assert call is not None
    assert call.output["choices"][0]["message"]["content"] == "".join(deltas)


def test_the_client_chats_and_streams(client: Any) -> None:
    asked = ask("two plus two")
    whole = client.chat.completions.create(**asked)
    chunks = client.chat.completions.create(**asked, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == whole.choices[0].message.content


def test_a_runtime_answers_and_paints(running: WeaveTrace, engine_server: Server, provider: str) -> None:
    entity, project = engine_server.entity, f"{engine_server.entity}/runtimes"
    made = running.v2_runtimes.apply(
        "helper", entity=entity, project="runtimes", base_url=provider, runtime_ids=[{"id": "m-1", "max_tokens": 64}]
    )
    (runtime_id,) = made.runtime_ids
    assert (runtime_id.playground_id, runtime_id.max_tokens) == ("custom::helper::m-1", 64)
    answer = running.completions.create(project_id=project, inputs=ask("hi") | {"model": runtime_id.playground_id})
    assert answer.response["choices"][0]["message"]["content"] == "m-1 heard you"
    image = running.images.create(project_id=project, inputs={"model": runtime_id.playground_id, "prompt": "a cat"})
    assert image.response["data"] == [{"url": "https://example.com/cat.png"}]
    with pytest.raises(BadRequestError, match="heddle/tiny"):
        running.images.create(project_id=project, inputs={"model": MODEL, "prompt": "a cat"})


def text_model(name: str, **parameters: Any) -> LLMStructuredCompletionModel:
    return LLMStructuredCompletionModel(
        name=name, llm_model_id=MODEL, default_params={"response_format": "text", "max_tokens": 8, **parameters}
    )


def text_judge() -> LLMAsAJudgeScorer:
    return LLMAsAJudgeScorer(name="critic", model=text_model("inner"), scoring_prompt="{question}? {output}")


def finished(running: WeaveTrace, project: str, call_id: str) -> Any:
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        status = running.evaluations.status(project_id=project, call_id=call_id).status
        if status.code != "running":
            return status
        time.sleep(0.1)
    raise AssertionError("the evaluation did not end")


def test_calls_are_scored_by_a_judge_of_the_sdk(running: WeaveTrace, client: Any) -> None:
    @weave.op
    def shout(question: str) -> str:
        return question.upper()

    _, call = shout.call("how many")
    scorer = uri_of(weave.publish(text_judge()))
    client.flush()
    project = project_name(client)
    assert running.calls.score(project_id=project, call_ids=[call.id], scorer_refs=[scorer]) == {}
    deadline = time.monotonic() + WAIT_S
    while not (found := running.feedback.query(project_id=project).result):
        assert time.monotonic() < deadline, "no score"
        time.sleep(0.1)
    (row,) = found
    assert (row["feedback_type"], row["runnable_ref"]) == ("wandb.runnable.critic", scorer)
    assert isinstance(row["payload"]["output"], str)
    (read,) = client.get_calls(filter={"op_names": [f"weave:///{project}/op/shout:*"]}, include_feedback=True)
    assert read.summary["weave"]["feedback"][0]["id"] == row["id"]


@covers("weave-monitor")
def test_a_monitor_of_the_sdk_scores_what_comes(running: WeaveTrace, client: Any) -> None:
    @weave.op
    def shout(question: str) -> str:
        return question.upper()

    query = {"$expr": {"$eq": [{"$getField": "inputs.question"}, {"$literal": "how many"}]}}
    monitor = weave.Monitor(name="watch", scorers=[text_judge()], op_names=["shout"], query=query)
    trigger = uri_of(monitor.activate())
    client.flush()
    project = project_name(client)
    shout.call("who")
    _, call = shout.call("how many")
    client.flush()
    deadline = time.monotonic() + WAIT_S
    while not (found := running.feedback.query(project_id=project).result):
        assert time.monotonic() < deadline, "no score"
        time.sleep(0.1)
    (row,) = found
    assert (row["feedback_type"], row["trigger_ref"]) == ("wandb.runnable.critic", trigger)
    assert row["weave_ref"] == f"weave:///{project}/call/{call.id}"
    monitor.deactivate()
    # The score of a second, active monitor shows that the server has looked at the call.
    weave.Monitor(name="later", scorers=[text_judge()]).activate()
    client.flush()
    _, other = shout.call("how many")
    client.flush()
    while len(found := running.feedback.query(project_id=project).result) == 1:
        assert time.monotonic() < deadline, "no score"
        time.sleep(0.1)
    assert {row["weave_ref"].split("/")[-1] for row in found} == {call.id, other.id}
    assert len(found) == 2


def test_an_evaluation_of_the_sdk_runs_here(running: WeaveTrace, client: Any) -> None:
    rows = [{"question": "one"}, {"question": "two"}]
    evaluation = weave.Evaluation(name="asking", dataset=weave.Dataset(name="rows", rows=rows), scorers=[text_judge()])
    model = text_model("answerer", messages_template=[{"role": "user", "content": "{question}"}])
    refs = [uri_of(weave.publish(thing)) for thing in (evaluation, model)]
    client.flush()
    project = project_name(client)
    started = running.evaluations.evaluate_model(project_id=project, evaluation_ref=refs[0], model_ref=refs[1])
    assert finished(running, project, started.call_id).code == "complete"
    results = running.v2_eval_results.query(
        entity=client.entity, project=client.project, evaluation_call_ids=[started.call_id]
    )
    trials = [trial for row in results.rows for each in row.evaluations for trial in each.trials]
    assert len(trials) == len(rows)
    assert all(isinstance(trial.scores["critic"], str) for trial in trials)
    (call,) = evaluation_calls(client, project)
    assert call.id == started.call_id
    again = running.evaluations.rescore(
        project_id=project, source_evaluation_run_id=started.call_id, scorer_refs=[uri_of(weave.publish(text_judge()))]
    )
    assert again.call_id == again.evaluation_run_id
    assert finished(running, project, again.call_id).code == "complete"


def evaluation_calls(client: Any, project: str) -> list[Any]:
    return list(client.get_calls(filter={"op_names": [f"weave:///{project}/op/Evaluation.evaluate:*"]}))


def test_a_scorer_of_code_is_refused(running: WeaveTrace, client: Any) -> None:
    @weave.op
    def exact(question: str, output: str) -> bool:
        return question == output

    model = text_model("answerer")
    evaluation = weave.Evaluation(name="coded", dataset=[{"question": "one"}], scorers=[exact])
    refs = [uri_of(weave.publish(thing)) for thing in (evaluation, model)]
    client.flush()
    with pytest.raises(BadRequestError, match=r"op/exact.*SDK"):
        running.evaluations.evaluate_model(project_id=project_name(client), evaluation_ref=refs[0], model_ref=refs[1])
    # The refusal says to run the evaluation where its code is; its model is then asked through the server.
    summary = asyncio.run(
        evaluation.evaluate(text_model("here", messages_template=[{"role": "user", "content": "{question}"}]))
    )
    assert summary["exact"]["true_count"] == 0


def test_the_example_has_calls_judged_and_a_model_evaluated(engine_server: Server) -> None:
    run = subprocess.run(
        [sys.executable, "examples/judge/judge.py", "--url", engine_server.url, "--project", "local/kindness"],
        cwd=ROOT,
        env={**os.environ, "HEDDLE_API_KEY": engine_server.key},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    *before, status = run.stdout.splitlines()
    assert [line.split(" | ") for line in before if " | " in line] == [
        ["kind", "Thank you for asking, it is on its way."],
        ["kind", "Of course, I will gladly help you."],
        ["kind", "Good morning, please do come in."],
        ["rude", "Read the page yourself."],
        ["rude", "That is no business of yours."],
        ["rude", "Go away and leave me alone."],
    ]
    assert json.loads(status) == {"code": "complete", "output": {"kindness": {"kind": {"mean": 0.5}}}}
