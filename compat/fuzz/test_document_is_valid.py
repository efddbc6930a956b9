"""openapi-spec-validator accepts the served document as OpenAPI 3.1; compat/node asks another validator."""

import json
from urllib.request import urlopen

from openapi_spec_validator import OpenAPIV31SpecValidator

from started_server import started_server


def test_the_document_is_valid() -> None:
    with (
        started_server(HEDDLE_ENGINE="none", HEDDLE_LOG="error") as server,
        urlopen(f"{server.url}/openapi.json") as answer,
    ):
        document = json.load(answer)
    assert document["openapi"] == "3.1.0"
    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []
