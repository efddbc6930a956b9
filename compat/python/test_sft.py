"""Fine-tuning on dialogues: uploaded with the openai package, or fetched from an https address.

The rows are 16 short problems of GSM8K (fixtures/gsm8k, MIT licence), which the model learns by heart.
"""

import json
import re
import ssl
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from openai import OpenAI

from covers import covers
from started_server import ROOT, Server, started_server
from wire import call, create_model, pages

ROWS = (ROOT / "compat/fixtures/gsm8k/train-short.jsonl").read_bytes()
CERTIFICATES = ROOT / "server/test/fixtures"
EPOCHS = 60
FORM = re.compile(r"<<.*>>.*#### \d", re.DOTALL)
"""Matches every answer of the data: a calculation in double angle brackets, then the result after four hashes."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """Address of the data on an https server of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(ROWS)

        def log_message(self, *args: Any) -> None:
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "localhost.crt", CERTIFICATES / "localhost.key")
    https = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    https.socket = context.wrap_socket(https.socket, server_side=True)
    threading.Thread(target=https.serve_forever, daemon=True).start()
    yield f"https://localhost:{https.server_port}/train.jsonl"
    https.shutdown()


@pytest.fixture(scope="module")
def sft_server() -> Iterator[Server]:
    """A server that may fetch from this machine and knows the certificate of `site`."""
    certificate = str(CERTIFICATES / "localhost.crt")
    with started_server(HEDDLE_FETCH_ALLOW="localhost", NODE_EXTRA_CA_CERTS=certificate) as started:
        yield started


@covers("sft-upload")
def test_an_uploaded_file_is_learnt_and_answers_take_its_form(sft_server: Server, tmp_path: Path, name: str) -> None:
    client = OpenAI(base_url=sft_server.api, api_key=sft_server.key)
    file = tmp_path / "train.jsonl"
    file.write_bytes(ROWS * EPOCHS)
    uploaded = client.files.create(file=file, purpose="fine-tune")
    model = create_model(sft_server, name)
    losses = train(sft_server, model["id"], uploaded.id, {"batch_size": 8, "learning_rate": 1e-2})
    assert len(losses) == 2 * EPOCHS
    assert sum(losses[-8:]) / 8 < losses[0] / 4
    trained = f"wandb-artifact:///{model['entity']}/{model['project']}/{name}:step1"
    assert count_in_form(client, "heddle/tiny") == 0
    assert count_in_form(client, trained) >= 4


@covers("sft-https")
def test_the_same_data_from_an_https_address(sft_server: Server, site: str, name: str) -> None:
    losses = train(sft_server, create_model(sft_server, name)["id"], site, {"batch_size": 2, "learning_rate": 5e-3})
    assert len(losses) == 8
    assert losses[-1] < losses[0]


def train(server: Server, model_id: str, data: str, config: dict[str, Any]) -> list[float]:
    """Runs one job to its end; returns the loss of every gradient step."""
    body = {"model_id": model_id, "training_data_url": data, "config": config}
    job = call(server, "POST", "/v1/preview/sft-training-jobs", body)
    assert job.status == 200, job.text
    path = f"/v1/preview/training-jobs/{job.json['id']}/events"
    events = pages(server, path, 100)
    while not events or events[-1]["type"] not in ("training_ended", "training_failed"):
        time.sleep(0.2)
        events = pages(server, path, 100)
    assert events[-1]["type"] == "training_ended", events[-1]
    return [event["data"]["loss"] for event in events if event["type"] == "gradient_step"]


def count_in_form(client: OpenAI, model: str) -> int:
    """Number of answers to the 16 questions that have the form of the data's answers."""
    answers = [answer(client, model, question) for question in questions()]
    return sum(FORM.search(text) is not None for text in answers)


def questions() -> list[str]:
    return [json.loads(row)["messages"][0]["content"] for row in ROWS.splitlines()]


def answer(client: OpenAI, model: str, question: str) -> str:
    completion = client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": question}], temperature=0, max_tokens=120
    )
    return completion.choices[0].message.content or ""
