"""The client uses objects made over plain HTTP under /v2, and /v2 shows objects made by the client."""

import asyncio
from typing import Any

import httpx
import weave
from weave.trace.weave_client import WeaveClient

from covers import covers
from started_server import Server
from weave_session import project_name, stored, uri_of

MODEL = """import weave


class Echo(weave.Model):
    suffix: str = "!"

    @weave.op
    def predict(self, text: str) -> str:
        return text + self.suffix
"""

SCORE = """import weave


@weave.op
def score(output: str, want: str) -> dict:
    return {"right": output == want}
"""


def create(server: Server, client: WeaveClient, kind: str, **body: Any) -> dict[str, Any]:
    url = f"{server.url}/v2/{project_name(client)}/{kind}"
    answer = httpx.post(url, json=body, auth=("api", server.key))
    assert answer.status_code == 200, answer.text
    return answer.json()


@covers("v2-sdk-digests")
def test_the_same_content_is_the_same_version(server: Server, client: WeaveClient) -> None:
    """The client publishes content; publishing it over HTTP under the same name makes no new version."""
    rows = [{"n": 1, "half": 0.5, "text": "é\u2028😀"}, {"n": 2**60, "half": 1.0, "text": ""}]
    published = weave.publish(weave.Dataset(name="same", rows=rows))
    client.flush()
    made = create(server, client, "datasets", name="same", rows=rows)
    assert (made["digest"], made["version_index"]) == (uri_of(published).rsplit(":", 1)[1], 0)

    @weave.op
    def shout(text: str) -> str:
        return text.upper()

    ref = weave.publish(shout)
    client.flush()
    read = httpx.get(
        f"{server.url}/v2/{project_name(client)}/ops/shout/versions/latest", auth=("api", server.key)
    ).json()
    assert "text.upper()" in read["code"]
    again = create(server, client, "ops", name="shout", source_code=read["code"])
    assert (again["digest"], again["version_index"]) == (uri_of(ref).rsplit(":", 1)[1], 0)


@covers("v2-sdk-reads")
def test_the_client_evaluates_what_was_made_over_http(server: Server, client: WeaveClient) -> None:
    name = project_name(client)
    rows = [{"text": "a", "want": "a!"}, {"text": "b", "want": "c"}]
    data = create(server, client, "datasets", name="cases", rows=rows)
    scorer_op = create(server, client, "ops", name="right", source_code=SCORE)
    made = create(
        server,
        client,
        "evaluations",
        name="quality",
        dataset=f"weave:///{name}/object/cases:{data['digest']}",
        scorers=[f"weave:///{name}/op/right:{scorer_op['digest']}"],
        eval_attributes={"owner": "team"},
    )
    dataset = weave.ref(f"weave:///{name}/object/cases:v0").get()
    assert [dict(row) for row in dataset.rows] == rows
    evaluation = weave.ref(made["evaluation_ref"]).get()
    assert isinstance(evaluation, weave.Evaluation)

    @weave.op
    def exclaim(text: str) -> str:
        return text + "!"

    summary = asyncio.run(evaluation.evaluate(exclaim))
    assert summary["score"]["right"] == {"true_count": 1, "true_fraction": 0.5}
    assert any(call.func_name == "Evaluation.evaluate" for call in stored(client))


@covers("v2-sdk-reads")
def test_models_and_scorers_show_the_clients_own(server: Server, client: WeaveClient) -> None:
    class Short(weave.Scorer):
        limit: int

        @weave.op
        def score(self, output: str) -> bool:
            return len(output) < self.limit

    weave.publish(Short(name="short", limit=3))
    client.flush()
    at = f"{server.url}/v2/{project_name(client)}"
    (scorer,) = [
        httpx.Response(200, text=line).json()
        for line in httpx.get(f"{at}/scorers", auth=("api", server.key)).text.splitlines()
    ]
    assert (scorer["name"], "/op/Short.score:" in scorer["score_op"]) == ("short", True)
    made = create(server, client, "models", name="Echo", source_code=MODEL, attributes={"suffix": "?"})
    read = weave.ref(made["model_ref"]).get()
    assert (read.name, read.suffix) == ("Echo", "?")
