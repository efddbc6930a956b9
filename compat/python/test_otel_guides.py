"""Blocks of README and guides with OpenTelemetry's own exporters run unchanged."""

import json

from guide_blocks import pages_with, run_blocks
from started_server import Server
from wire import call


def test_a_span_arrives_and_a_score_with_it(server: Server) -> None:
    assert pages_with("opentelemetry") == ["docs/guide/opentelemetry.md"]
    run_blocks("docs/guide/opentelemetry.md", "opentelemetry", server)
    calls = call(server, "POST", "/calls/stream_query", {"project_id": "local/demo"}).text.splitlines()
    assert [json.loads(line)["op_name"] for line in calls] == ["answer"]
    (score,) = call(server, "POST", "/feedback/query", {"project_id": "local/demo"}).json["result"]
    assert (score["feedback_type"], score["payload"]["output"]["score"]) == ("wandb.runnable.relevance", 0.75)
