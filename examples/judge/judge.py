"""A judge that the server runs: on stored calls (`score`), and on answers of a model (`evaluate_model`).

    pip install -r requirements.txt
    HEDDLE_API_KEY=… python judge.py --url http://127.0.0.1:8080

`heddle/tiny` is too small to judge, so the script first fine-tunes it on a few dialogues until it knows what is kind
and what is rude, and answers questions kindly or rudely itself. With a larger model, leave that out: name the model.

    … python judge.py --judge my-org/my-model --model my-org/my-model
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from typing import Any

import requests
import weave
from weave.flow.llm_structured_model import LLMStructuredCompletionModel
from weave.scorers import LLMAsAJudgeScorer

KIND = {
    "Where is my order?": "Thank you for asking, it is on its way.",
    "Can you help me?": "Of course, I will gladly help you.",
    "Is the shop open?": "Good morning, please do come in.",
}
RUDE = {
    "What does it cost?": "Read the page yourself.",
    "Who are you?": "That is no business of yours.",
    "May I call you?": "Go away and leave me alone.",
}
JUDGE_PROMPT = 'Is this kind: "{output}" Answer {{"kind": true or false}}.'
JSON_ONLY = "\n\nAnswer with one JSON object and nothing else."
"""The sentence that the server adds to prompts of its own models when the answer must be JSON."""
EPOCHS = 50


class Server:
    """A client for the routes that the SDK has no function for."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self._session = requests.Session()
        self._session.auth = ("api", key)

    def get(self, path: str) -> Any:
        return self._ask("GET", path)

    def post(self, path: str, body: dict[str, Any] | None = None, **options: Any) -> Any:
        return self._ask("POST", path, json=body, **options)

    def _ask(self, method: str, path: str, **options: Any) -> Any:
        answer = self._session.request(method, self.url + path, timeout=300, **options)
        if not answer.ok:
            raise SystemExit(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json()


def until(what: str, ask: Callable[[], Any], seconds: float = 600) -> Any:
    """Calls `ask` until it returns something, and returns that."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := ask():
            return found
        time.sleep(0.5)
    raise SystemExit(f"{what}: nothing after {seconds:.0f} s")


def dialogues() -> str:
    """Training data as JSON Lines: the answers to give, and the judge's verdict on each."""
    pairs = [*KIND.items(), *RUDE.items()]
    verdicts = [
        (JUDGE_PROMPT.format(output=reply) + JSON_ONLY, json.dumps({"kind": reply in KIND.values()}))
        for _, reply in pairs
    ]
    roles = ("user", "assistant")
    rows = [
        {"messages": [{"role": role, "content": text} for role, text in zip(roles, pair, strict=True)]}
        for pair in pairs + verdicts
    ]
    return "\n".join(json.dumps(row) for row in rows * EPOCHS)


def trained(server: Server, entity: str, project: str) -> str:
    """Fine-tunes `heddle/tiny`; returns the name that the newest step answers to."""
    upload = {"file": ("dialogues.jsonl", dialogues())}
    file = server.post("/v1/files", data={"purpose": "fine-tune"}, files=upload)
    names = {"entity": entity, "project": project, "name": "kindness", "base_model": "heddle/tiny"}
    model = server.post("/v1/preview/models", names | {"return_existing": True})
    config = {"batch_size": 6, "learning_rate": 1e-2}
    job = server.post(
        "/v1/preview/sft-training-jobs",
        {"model_id": model["id"], "training_data_url": file["id"], "config": config},
    )

    def ended() -> Any:
        read = server.get(f"/v1/preview/training-jobs/{job['id']}")
        return read if read["status"] in ("succeeded", "failed", "cancelled") else None

    status = until("training", ended)
    if status["status"] != "succeeded":
        raise SystemExit(f"training {status['status']}: {status['error_message']}")
    return f"wandb-artifact:///{entity}/{project}/kindness:latest"


@weave.op
def support(question: str) -> str:
    """The program to be judged; it may be any program that weave traces."""
    return (KIND | RUDE)[question]


def score_calls(server: Server, project_id: str, judge: str) -> dict[str, bool]:
    """Traces calls and lets the server score them; returns their answers with the judge's verdicts."""
    calls = {call.id: call.output for _, call in (support.call(question) for question in KIND | RUDE)}
    weave.get_client().flush()
    server.post("/calls/score", {"project_id": project_id, "call_ids": list(calls), "scorer_refs": [judge]})

    def scores() -> Any:
        filters = {"$expr": {"$eq": [{"$getField": "feedback_type"}, {"$literal": "wandb.runnable.kindness"}]}}
        rows = server.post("/feedback/query", {"project_id": project_id, "query": filters})["result"]
        found = {row["weave_ref"].rsplit("/", 1)[1]: row["payload"]["output"] for row in rows}
        return found if set(calls) <= set(found) else None

    verdicts = until("scores", scores)
    return {answer: verdicts[call_id]["kind"] for call_id, answer in calls.items()}


def evaluate_model(server: Server, project_id: str, judge: LLMAsAJudgeScorer, model_id: str) -> Any:
    """Lets the server ask a model the dataset's questions and judge its answers; returns the evaluation's status."""
    evaluation = weave.Evaluation(
        name="support-answers", dataset=[{"question": question} for question in KIND | RUDE], scorers=[judge]
    )
    model = LLMStructuredCompletionModel(
        name="support-model",
        llm_model_id=model_id,
        default_params={
            "messages_template": [{"role": "user", "content": "{question}"}],
            "response_format": "text",
            "temperature": 0,
            "max_tokens": 48,
        },
    )
    refs = {"evaluation_ref": weave.publish(evaluation).uri, "model_ref": weave.publish(model).uri}
    run = server.post("/evaluations/evaluate_model", {"project_id": project_id, **refs})

    def ended() -> Any:
        status = server.post("/evaluations/status", {"project_id": project_id, "call_id": run["call_id"]})["status"]
        return None if status["code"] == "running" else status

    return until("evaluation", ended)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default=os.environ.get("HEDDLE_URL", "http://127.0.0.1:8080"))
    parser.add_argument("--project", default="local/judge", help="entity/project")
    parser.add_argument("--judge", help="model that judges (default: one that is trained now)")
    parser.add_argument("--model", help="model that is evaluated (default: the same)")
    given = parser.parse_args()
    key = os.environ["HEDDLE_API_KEY"]
    os.environ.update(WANDB_BASE_URL=given.url, WANDB_API_KEY=key)
    # weave's cache on disk does not tell servers apart: a new server would not get objects that an old one has.
    os.environ["WEAVE_USE_SERVER_CACHE"] = "false"
    server = Server(given.url, key)
    weave.init(given.project)
    judge_model = given.judge or trained(server, *given.project.split("/"))
    judge = LLMAsAJudgeScorer(
        name="kindness",
        model=LLMStructuredCompletionModel(
            llm_model_id=judge_model,
            default_params={"response_format": "json_object", "temperature": 0, "max_tokens": 16},
        ),
        scoring_prompt=JUDGE_PROMPT,
    )
    for answer, kind in score_calls(server, given.project, weave.publish(judge).uri).items():
        print("kind" if kind else "rude", "|", answer)
    print(json.dumps(evaluate_model(server, given.project, judge, given.model or judge_model)))


if __name__ == "__main__":
    main()
