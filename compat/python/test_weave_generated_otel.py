"""OpenTelemetry spans sent by the generated client, whose method sends any body that it is given."""

from typing import Any

from weave.vendor.weave_server_sdk import WeaveTrace

from covers import covers


@covers("generated-otel")
def test_spans_are_exported(api: WeaveTrace, project: str) -> None:
    assert api.otel.export() == {}
    span: Any = {
        "traceId": "5b8aa5a2d2c872e8321cf37308d69df2",
        "spanId": "051581bf3cb55c13",
        "name": "ask",
        "startTimeUnixNano": "1767323045123456789",
        "endTimeUnixNano": "1767323046123456789",
    }
    body = {"resourceSpans": [{"scopeSpans": [{"spans": [span, span | {"spanId": "ab"}]}]}]}
    answer: Any = api.otel.export(extra_body=body, extra_headers={"project_id": project})
    assert answer["partialSuccess"]["rejectedSpans"] == "1"
    call = api.calls.read(id=span["spanId"], project_id=project).call
    assert call is not None
    assert (call.op_name, call.trace_id) == ("ask", span["traceId"])
