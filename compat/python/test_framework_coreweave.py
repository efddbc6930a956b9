"""CoreWeave's SDK for agents: conversations recorded by hand and by its openai patch, read back from the server."""

import secrets
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from coreweave.forge.agentlens import tracing

from covers import covers
from started_server import Server
from wire import call

QUESTION = "3 + 4 = ?"


@pytest.fixture
def project(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Initializes the SDK as users do, by the variables that the platform's other clients read."""
    monkeypatch.setenv("WANDB_BASE_URL", server.url)
    monkeypatch.setenv("WANDB_API_KEY", server.key)
    name = f"local/lens-{secrets.token_hex(4)}"
    tracing.init(name)
    yield name
    tracing.shutdown()


def turns(server: Server, project: str, conversation: str) -> list[Any]:
    assert tracing.force_flush()
    body = {"project_id": project, "conversation_id": conversation}
    answer = call(server, "POST", "/agents/conversations/chat", body)
    assert answer.status == 200, answer.text
    return answer.json["turns"]


def said(found: list[Any], kind: str) -> list[str]:
    return [message[kind]["text"] for turn in found for message in turn["messages"] if message["type"] == kind]


@covers("coreweave-conversation")
def test_a_conversation_is_read_back_as_it_was_recorded(server: Server, project: str) -> None:
    with tracing.start_conversation(agent_name="helper", conversation_id="c-1", conversation_name="Order") as talk:
        for question in ("Where is my order?", "And when does it come?"):
            with talk.start_turn(user_message=question) as turn:
                with turn.start_llm(model="m-1", provider_name="openai") as asked:
                    asked.record(
                        input_messages=[tracing.Message(role="user", content=question)],
                        output_messages=[tracing.Message(role="assistant", content="I look it up.")],
                        usage=tracing.Usage(input_tokens=100, output_tokens=20),
                    )
                with turn.start_tool(name="lookup", arguments='{"id": 1}') as looked:
                    looked.result = "on its way"
    found = turns(server, project, "c-1")
    assert len(found) == 2
    assert said(found, "user_message") == ["Where is my order?", "And when does it come?"]
    assert said(found, "assistant_message") == ["I look it up."] * 2
    tools = [message["tool_call"] for turn in found for message in turn["messages"] if message["type"] == "tool_call"]
    assert [(one["tool_name"], one["tool_arguments"], one["tool_result"]) for one in tools] == [
        ("lookup", '{"id": 1}', "on its way")
    ] * 2
    assert [(turn["agent_name"], turn["total_input_tokens"], turn["total_output_tokens"]) for turn in found] == [
        ("helper", 100, 20)
    ] * 2
    agents = call(server, "POST", "/agents/query", {"project_id": project}).json["agents"]
    assert [(agent["agent_name"], agent["invocation_count"]) for agent in agents] == [("helper", 2)]


@covers("coreweave-openai")
def test_chats_through_the_patched_openai_client_are_spans_of_their_turn(server: Server, project: str) -> None:
    client = openai.OpenAI(base_url=server.api, api_key=server.key)
    asked: Any = {
        "model": "heddle/tiny",
        "messages": [{"role": "user", "content": QUESTION}],
        "max_tokens": 8,
        "seed": 7,
    }
    with tracing.start_conversation(agent_name="asker", conversation_id="c-2") as talk:
        with talk.start_turn(user_message=QUESTION):
            whole = client.chat.completions.create(**asked)
        with talk.start_turn(user_message=QUESTION):
            stream_options = {"include_usage": True}
            chunks = list(client.chat.completions.create(**asked, stream=True, stream_options=stream_options))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == whole.choices[0].message.content
    assert whole.usage is not None
    found = turns(server, project, "c-2")
    tokens = [(turn["total_input_tokens"], turn["total_output_tokens"]) for turn in found]
    assert tokens == [(whole.usage.prompt_tokens, whole.usage.completion_tokens)] * 2
    assert said(found, "assistant_message") == [text, text]


@covers("coreweave-key")
def test_a_wrong_key_is_refused_and_the_program_goes_on(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"local/lens-{secrets.token_hex(4)}"
    tracing.init(name, api_key="x" * 40, base_url=f"{server.url}/traces")
    with (
        tracing.start_conversation(agent_name="nobody", conversation_id="c-3") as talk,
        talk.start_turn(user_message="Hi"),
    ):
        pass
    tracing.force_flush()
    tracing.shutdown()
    answer = call(server, "POST", "/agents/query", {"project_id": name})
    assert answer.status in (403, 404)
