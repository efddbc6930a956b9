"""Messages through the anthropic package, streaming and not."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import anthropic
import pytest
from anthropic import Anthropic, AsyncAnthropic

from covers import covers
from started_server import Server
from wire import call, create_model

QUESTION: Any = [{"role": "user", "content": "3 + 4 = ?"}]
SEED = {"seed": 7}
ADD: Any = {
    "name": "add",
    "description": "Adds two numbers",
    "input_schema": {
        "type": "object",
        "properties": {"a": {"enum": [3, 4]}, "b": {"enum": [3, 4]}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
}


@pytest.fixture
def client(server: Server) -> Anthropic:
    return Anthropic(base_url=server.url, api_key=server.key)


@pytest.fixture(scope="module")
def trained(server: Server) -> str:
    """The name of a trainable model, which has step 0 from its creation."""
    model = create_model(server, "messages")
    return f"wandb-artifact:///{model['entity']}/compat/messages"


def chat_choice(server: Server, model: str, **more: Any) -> Any:
    body = {"model": model, "messages": QUESTION, "max_tokens": 16, "logprobs": True, **SEED, **more}
    return call(server, "POST", "/v1/chat/completions", body).json["choices"][0]


@covers("messages-create")
@pytest.mark.parametrize("suffix", ["", ":step0"])
def test_the_answer_is_that_of_a_chat(server: Server, client: Anthropic, trained: str, suffix: str) -> None:
    message = client.messages.create(model=trained + suffix, max_tokens=16, messages=QUESTION, extra_body=SEED)
    choice = chat_choice(server, trained + suffix)
    assert message.model == trained + suffix
    assert "".join(block.text for block in message.content) == choice["message"]["content"]
    extra: Any = message.model_extra
    assert extra["prompt_token_ids"] == choice["prompt_token_ids"]
    assert extra["token_ids"] == choice["token_ids"]
    assert extra["logprobs"] == pytest.approx([one["logprob"] for one in choice["logprobs"]["content"]], abs=1e-4)
    assert message.usage.input_tokens == len(extra["prompt_token_ids"])
    assert message.usage.output_tokens == len(extra["token_ids"])
    assert message.stop_reason in ("end_turn", "max_tokens")
    assert message._request_id


@covers("messages-create")
def test_the_base_model_answers_too(server: Server, client: Anthropic) -> None:
    # Version 2 of the package has no arguments `temperature` and `top_k` any more.
    extra = {"temperature": 0.5, "top_k": 5, **SEED}
    asked: Any = {"model": "heddle/tiny", "max_tokens": 4, "messages": QUESTION, "extra_body": extra}
    message = client.messages.create(**asked, system="Be brief.", stop_sequences=["\n\n"])
    assert len(message.model_extra["token_ids"]) == message.usage.output_tokens  # type: ignore[index]
    by_token = Anthropic(base_url=server.url, auth_token=server.key).messages.create(**asked)
    assert by_token.role == "assistant"


@covers("messages-stream")
def test_the_stream_helper_puts_the_same_answer_together(client: Anthropic, trained: str) -> None:
    asked: Any = {"model": trained, "max_tokens": 16, "messages": QUESTION, "extra_body": SEED}
    whole = client.messages.create(**asked)
    with client.messages.stream(**asked) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert text == "".join(block.text for block in whole.content)
    assert [block.text for block in final.content] == [block.text for block in whole.content]
    assert (final.stop_reason, final.usage.output_tokens) == (whole.stop_reason, whole.usage.output_tokens)
    events = list(client.messages.create(**asked, stream=True))
    assert [events[0].type, events[-2].type, events[-1].type] == ["message_start", "message_delta", "message_stop"]
    extra: Any = whole.model_extra
    last: Any = events[-2].model_extra
    assert events[0].message.model_extra["prompt_token_ids"] == extra["prompt_token_ids"]
    assert last["token_ids"] == extra["token_ids"]
    assert last["logprobs"] == pytest.approx(extra["logprobs"], abs=1e-4)


@covers("messages-stream")
async def test_the_async_client_streams(server: Server) -> None:
    client = AsyncAnthropic(base_url=server.url, api_key=server.key)
    async with client.messages.stream(model="heddle/tiny", max_tokens=4, messages=QUESTION) as stream:
        kinds = [event.type async for event in stream]
    await client.close()
    assert kinds[0] == "message_start"
    assert kinds[-1] == "message_stop"


@covers("messages-tools")
@pytest.mark.parametrize("choice", [{"type": "any"}, {"type": "tool", "name": "add"}])
def test_a_tool_is_called_and_its_result_answered(client: Anthropic, choice: Any) -> None:
    asked: Any = {"model": "heddle/tiny", "max_tokens": 64, "tools": [ADD], "extra_body": SEED}
    message = client.messages.create(**asked, messages=QUESTION, tool_choice=choice)
    used = [block for block in message.content if block.type == "tool_use"]
    assert message.stop_reason == "tool_use"
    assert [block.name for block in used] == ["add"]
    assert isinstance(used[0].input, dict)
    said: Any = [block.model_dump() for block in message.content]
    result = {"type": "tool_result", "tool_use_id": used[0].id, "content": "7"}
    turns = [*QUESTION, {"role": "assistant", "content": said}, {"role": "user", "content": [result]}]
    answer = client.messages.create(**asked, messages=turns)
    assert answer.usage.input_tokens > message.usage.input_tokens
    with client.messages.stream(**asked, messages=QUESTION, tool_choice=choice) as stream:
        final = stream.get_final_message()
    (streamed,) = [block for block in final.content if block.type == "tool_use"]
    assert streamed.input == used[0].input


@covers("messages-structured")
def test_an_answer_is_held_to_a_schema(client: Anthropic) -> None:
    schema = {"type": "object", "properties": {"n": {"enum": [1, 2]}}, "required": ["n"], "additionalProperties": False}
    message = client.messages.create(
        model="heddle/tiny",
        max_tokens=100,
        messages=QUESTION,
        extra_body={"output_config": {"format": {"type": "json_schema", "schema": schema}}, **SEED},
    )
    assert json.loads(message.content[0].text)["n"] in (1, 2)


@covers("messages-count-tokens")
def test_the_counted_tokens_are_those_of_the_prompt(client: Anthropic) -> None:
    prompt: Any = {"model": "heddle/tiny", "messages": QUESTION, "system": "Be brief.", "tools": [ADD]}
    counted = client.messages.count_tokens(**prompt)
    assert counted.input_tokens == client.messages.create(**prompt, max_tokens=1).usage.input_tokens


@covers("messages-models")
def test_models_are_listed_and_read(client: Anthropic, trained: str) -> None:
    listed = list(client.models.list(limit=1))
    ids = [model.id for model in listed]
    assert {"heddle/tiny", trained} <= set(ids)
    for model in [listed[ids.index(trained)], client.models.retrieve(trained)]:
        assert (model.type, model.id, model.display_name) == ("model", trained, trained)
        assert datetime.now(UTC) - model.created_at < timedelta(hours=1)
        assert model.to_dict()["lifecycle"] == "active"


@covers("messages-errors")
def test_errors_are_those_of_the_package(server: Server, client: Anthropic) -> None:
    with pytest.raises(anthropic.NotFoundError, match="nobody/none") as missing:
        client.messages.create(model="nobody/none", max_tokens=1, messages=QUESTION)
    assert missing.value.body["error"]["type"] == "not_found_error"  # type: ignore[index]
    with pytest.raises(anthropic.BadRequestError, match="max_tokens"):
        client.messages.create(model="heddle/tiny", max_tokens=0, messages=QUESTION)
    image: Any = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
    with pytest.raises(anthropic.BadRequestError, match="text only"):
        client.messages.create(model="heddle/tiny", max_tokens=1, messages=[{"role": "user", "content": [image]}])
    with pytest.raises(anthropic.BadRequestError, match="maximum context length"):
        client.messages.create(
            model="heddle/tiny", max_tokens=1, messages=[{"role": "user", "content": "1 + 1 " * 4000}]
        )
    with pytest.raises(anthropic.AuthenticationError):
        Anthropic(base_url=server.url, api_key="x" * 48).messages.create(
            model="heddle/tiny", max_tokens=1, messages=QUESTION
        )
