"""OpenTelemetry's exporters, and the instrumentations of two vendors on a scripted chat."""

import json
import logging
import secrets
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from openai import OpenAI
from openinference.instrumentation.openai import OpenAIInstrumentor as OpenInference
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.openai import OpenAIInstrumentor as OpenLLMetry
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status, StatusCode

from covers import covers
from started_server import Server

ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1_767_323_045,
    "model": "scripted-1",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": "let me look",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "search", "arguments": '{"q": "looms"}'},
                    }
                ],
            },
        }
    ],
    "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
}
QUESTION: Any = [{"role": "user", "content": "What is a heddle?"}]
SEARCH: Any = {"type": "function", "function": {"name": "search", "parameters": {"type": "object", "properties": {}}}}


class ScriptedChat(BaseHTTPRequestHandler):
    """Answers every request with ANSWER."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keeps quiet."""


@pytest.fixture(scope="module")
def chat() -> Iterator[OpenAI]:
    """A client of a model that always gives the same answer."""
    service = ThreadingHTTPServer(("127.0.0.1", 0), ScriptedChat)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    with OpenAI(base_url=f"http://127.0.0.1:{service.server_port}/v1", api_key="none") as client:
        yield client
    service.shutdown()


class Project:
    """A project to which spans are exported, and reads of it from the server."""

    def __init__(self, server: Server) -> None:
        self.name = f"o-{secrets.token_hex(5)}"
        self.id = f"{server.entity}/{self.name}"
        self._api = httpx.Client(base_url=server.url, auth=("api", server.key))
        self.resource = Resource.create({"wandb.entity": server.entity, "wandb.project": self.name})

    def post(self, path: str, **body: Any) -> httpx.Response:
        return self._api.post(path, json={"project_id": self.id, **body}).raise_for_status()

    def agent_spans(self) -> list[dict[str, Any]]:
        spans: list[dict[str, Any]] = self.post("/agents/spans/query").json()["spans"]
        return spans

    def calls(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.post("/calls/stream_query").text.splitlines()]


@pytest.fixture
def project(server: Server) -> Project:
    return Project(server)


def provider(server: Server, resource: Resource, **exporter: Any) -> TracerProvider:
    traces = TracerProvider(resource=resource)
    settings = {"headers": {"wandb-api-key": server.key}, **exporter}
    traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{server.url}/otel/v1/traces", **settings)))
    return traces


@covers("otel-exporter")
@pytest.mark.parametrize("compression", list(Compression))
def test_spans_of_the_exporter_are_calls(server: Server, project: Project, compression: Compression) -> None:
    traces = provider(server, project.resource, compression=compression)
    tracer = traces.get_tracer("tests")
    with tracer.start_as_current_span("outer") as outer:
        outer.set_attribute("input.value", '{"n": 1}')
        with tracer.start_as_current_span("inner") as inner:
            inner.add_event("seen", {"at": 3})
            inner.set_status(Status(StatusCode.ERROR, "went wrong"))
    assert traces.force_flush()
    traces.shutdown()
    calls = {call["op_name"]: call for call in project.calls()}
    assert calls["outer"]["id"] == f"{outer.get_span_context().span_id:016x}"
    assert calls["outer"]["trace_id"] == f"{outer.get_span_context().trace_id:032x}"
    assert calls["outer"]["inputs"] == {"input.value": {"n": 1}}
    assert calls["inner"]["parent_id"] == calls["outer"]["id"]
    assert calls["inner"]["exception"] == "went wrong"
    assert calls["inner"]["attributes"]["otel_span"]["events"][0]["attributes"] == {"at": 3}


@covers("otel-exporter")
def test_the_environment_of_the_exporter_is_enough(
    server: Server, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url)
    headers = f"Authorization=Bearer%20{server.key},project_id={project.id}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", headers)
    traces = TracerProvider()
    traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    traces.get_tracer("tests").start_span("alone").end()
    assert traces.force_flush()
    traces.shutdown()
    assert [call["op_name"] for call in project.calls()] == ["alone"]


@covers("otel-refusal")
def test_a_refusal_is_told_and_not_sent_again(
    server: Server, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    foreign = Resource.create({"wandb.entity": "nobody", "wandb.project": "none"})
    traces = provider(server, foreign)
    with caplog.at_level(logging.ERROR):
        traces.get_tracer("tests").start_span("lost").end()
        traces.force_flush()
        traces.shutdown()
    assert [record.getMessage() for record in caplog.records] == [
        "Failed to export spans batch code: 403, reason: Forbidden"
    ]


@covers("otel-openinference")
def test_openinference_on_a_chat(server: Server, project: Project, chat: OpenAI) -> None:
    traces = provider(server, project.resource)
    OpenInference().instrument(tracer_provider=traces)
    try:
        chat.chat.completions.create(model="scripted", messages=QUESTION, tools=[SEARCH], temperature=0.5)
    finally:
        OpenInference().uninstrument()
    traces.force_flush()
    traces.shutdown()
    (call,) = project.calls()
    assert call["inputs"]["input.value"]["messages"] == QUESTION
    assert call["output"]["output.value"]["choices"] == ANSWER["choices"]
    assert call["attributes"]["kind"] == "LLM"
    assert call["attributes"]["model"] == "scripted-1"
    assert call["attributes"]["model_parameters"]["temperature"] == 0.5
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    assert call["summary"]["usage"]["scripted-1"].items() >= usage.items()
    (span,) = project.agent_spans()
    assert (span["span_id"], span["operation_name"]) == (call["id"], "chat")


@covers("otel-openllmetry")
def test_openllmetry_on_a_chat(server: Server, project: Project, chat: OpenAI) -> None:
    traces = provider(server, project.resource)
    OpenLLMetry().instrument(tracer_provider=traces)
    try:
        chat.chat.completions.create(model="scripted", messages=QUESTION, tools=[SEARCH], temperature=0.5)
    finally:
        OpenLLMetry().uninstrument()
    traces.force_flush()
    traces.shutdown()
    (call,) = project.calls()
    asked = {"role": "user", "parts": [{"type": "text", "content": "What is a heddle?"}]}
    assert call["inputs"] == {"gen_ai.input.messages": [asked]}
    (answered,) = call["output"]["gen_ai.output.messages"]
    tool_call = {"type": "tool_call", "id": "call_1", "name": "search", "arguments": {"q": "looms"}}
    assert tool_call in answered["parts"]
    assert call["attributes"]["operation"] == "chat"
    assert call["attributes"]["tools"][0]["name"] == "search"
    assert call["attributes"]["model"] == "scripted-1"
    assert call["attributes"]["model_parameters"]["temperature"] == 0.5
    usage = call["summary"]["usage"]["scripted-1"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (11, 7, 18)
    (span,) = project.agent_spans()
    assert (span["span_id"], span["operation_name"]) == (call["id"], "chat")
    assert (span["request_model"], span["input_tokens"], span["output_tokens"]) == ("scripted", 11, 7)


@covers("otel-evaluation-events")
def test_evaluation_results_in_logs_are_scores(server: Server, project: Project) -> None:
    traces = provider(server, project.resource)
    logs = LoggerProvider(resource=project.resource)
    exporter = OTLPLogExporter(f"{server.url}/otel/v1/logs", headers={"wandb-api-key": server.key})
    logs.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    with traces.get_tracer("tests").start_as_current_span("answer"):
        logs.get_logger("tests").emit(
            event_name="gen_ai.evaluation.result",
            attributes={
                "gen_ai.evaluation.name": "relevance",
                "gen_ai.evaluation.score.value": 0.75,
                "gen_ai.evaluation.explanation": "on topic",
            },
        )
    traces.force_flush()
    logs.force_flush()
    traces.shutdown()
    logs.shutdown()
    (call,) = project.calls()
    (row,) = project.post("/feedback/query").json()["result"]
    assert row["weave_ref"] == f"weave:///{project.id}/call/{call['id']}"
    assert row["feedback_type"] == "wandb.runnable.relevance"
    assert row["payload"]["output"] == {"score": 0.75, "explanation": "on topic"}
