"""Chat completions through the openai package, streaming and not."""

import json
import math
import re
from typing import Any, Literal

import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel, Field

from covers import covers
from started_server import Server
from wire import create_model

ASKED: Any = {
    "messages": [{"role": "user", "content": "3 + 4 = ?"}],
    "max_completion_tokens": 16,
    "temperature": 1,
    "seed": 7,
}
GET_WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Current weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


@pytest.fixture
def client(server: Server) -> OpenAI:
    return OpenAI(base_url=server.api, api_key=server.key)


@pytest.fixture(scope="module")
def trained(server: Server) -> str:
    """The name of a trainable model, which has step 0 from its creation."""
    model = create_model(server, "chat")
    return f"wandb-artifact:///{model['entity']}/compat/chat"


@covers("chat-create")
def test_the_base_model_answers(client: OpenAI) -> None:
    completion = client.chat.completions.create(model="heddle/tiny", **ASKED)
    assert completion.id.startswith("chatcmpl-")
    assert completion.object == "chat.completion"
    assert completion.model == "heddle/tiny"
    (choice,) = completion.choices
    assert choice.message.role == "assistant"
    assert choice.message.content
    assert choice.finish_reason in ("stop", "length")
    usage = completion.usage
    assert usage is not None
    assert usage.prompt_tokens > 0
    assert 0 < usage.completion_tokens <= 16
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert completion._request_id


@covers("chat-always-ids", "chat-step-zero")
@pytest.mark.parametrize("suffix", ["", ":step0", ":latest"])
def test_ids_and_logprobs_come_unasked(client: OpenAI, trained: str, suffix: str) -> None:
    completion = client.chat.completions.create(model=trained + suffix, **ASKED)
    (choice,) = completion.choices
    tokens = choice.logprobs.content
    assert len(tokens) == len(choice.token_ids) == completion.usage.completion_tokens
    assert all(math.isfinite(token.logprob) and token.top_logprobs == [] for token in tokens)
    visible = b"".join(bytes(token.bytes) for token in tokens).decode()
    assert visible.startswith(choice.message.content)
    assert len(completion.prompt_token_ids) == completion.usage.prompt_tokens
    assert choice.prompt_token_ids == completion.prompt_token_ids


@covers("chat-logprobs-asked")
def test_a_base_model_gives_logprobs_only_on_request(client: OpenAI, trained: str) -> None:
    plain = client.chat.completions.create(model="heddle/tiny", **ASKED)
    assert plain.choices[0].logprobs is None
    asked = client.chat.completions.create(model="heddle/tiny", **ASKED, logprobs=True)
    assert len(asked.choices[0].logprobs.content) == asked.usage.completion_tokens
    declined = client.chat.completions.create(model=trained, **ASKED, logprobs=False)
    assert declined.choices[0].logprobs is None


@covers("chat-token-names")
def test_tokens_are_named_by_id_on_request(client: OpenAI, trained: str) -> None:
    completion = client.chat.completions.create(
        model=trained,
        **ASKED,
        extra_body={"return_token_ids": True, "return_tokens_as_token_ids": True},
    )
    (choice,) = completion.choices
    names = [token.token for token in choice.logprobs.content]
    assert names == [f"token_id:{token_id}" for token_id in choice.token_ids]


@covers("chat-raw-logprobs")
def test_logprobs_do_not_depend_on_the_temperature(client: OpenAI) -> None:
    def first_logprob(temperature: float) -> float:
        completion = client.chat.completions.create(
            model="heddle/tiny",
            **{**ASKED, "temperature": temperature, "max_completion_tokens": 1},
            logprobs=True,
            extra_body={"top_k": 1},
        )
        return completion.choices[0].logprobs.content[0].logprob

    assert first_logprob(0.25) == pytest.approx(first_logprob(2.0), abs=1e-5)


class Weather(BaseModel):
    city: Literal["Oslo", "Rome"]
    degrees: int = Field(ge=-30, le=40)
    days: list[Literal["sun", "rain"]] = Field(max_length=3)


@covers("chat-response-format")
def test_an_answer_is_parsed_by_the_schema_that_asked_for_it(client: OpenAI, trained: str) -> None:
    asked: Any = {**ASKED, "max_completion_tokens": 200, "n": 8}
    completion = client.chat.completions.parse(model=trained, response_format=Weather, **asked)
    assert all(choice.message.parsed is not None for choice in completion.choices)
    assert {choice.finish_reason for choice in completion.choices} == {"stop"}


@covers("chat-response-format")
def test_a_streamed_answer_is_parsed_as_it_grows(client: OpenAI) -> None:
    asked: Any = {**ASKED, "max_completion_tokens": 200}
    with client.chat.completions.stream(model="heddle/tiny", response_format=Weather, **asked) as stream:
        parsed = [event.parsed for event in stream if event.type == "content.delta"]
        final = stream.get_final_completion()
    assert len(parsed) > 1
    assert isinstance(final.choices[0].message.parsed, Weather)


@covers("chat-response-format")
def test_a_schema_by_its_vllm_name_holds_the_answer(client: OpenAI) -> None:
    extra = {"structured_outputs": {"json": {"type": "object", "maxProperties": 0}}}
    asked: Any = {**ASKED, "max_completion_tokens": 200}
    (choice,) = client.chat.completions.create(model="heddle/tiny", extra_body=extra, **asked).choices
    assert json.loads(choice.message.content or "") == {}


@covers("chat-response-format")
@pytest.mark.parametrize(
    ("extra", "pattern"),
    [
        ({"structured_outputs": {"choice": ["left", "right"]}}, "left|right"),
        ({"guided_regex": "[a-c]{3}[0-9]"}, "[a-c]{3}[0-9]"),
    ],
)
def test_vllm_names_hold_the_answer_too(client: OpenAI, extra: dict[str, Any], pattern: str) -> None:
    completion = client.chat.completions.create(model="heddle/tiny", extra_body=extra, n=8, **ASKED)
    for choice in completion.choices:
        assert re.fullmatch(pattern, choice.message.content or "")


@covers("chat-n")
def test_several_choices_share_one_answer(client: OpenAI) -> None:
    completion = client.chat.completions.create(model="heddle/tiny", **ASKED, n=4)
    assert [choice.index for choice in completion.choices] == [0, 1, 2, 3]
    sampled = sum(len(choice.token_ids) for choice in completion.choices)
    assert completion.usage.completion_tokens == sampled
    assert len({tuple(choice.token_ids) for choice in completion.choices}) > 1


@covers("chat-stop")
def test_a_stop_string_ends_the_answer_before_it(client: OpenAI) -> None:
    completion = client.chat.completions.create(
        model="heddle/tiny",
        messages=[{"role": "user", "content": "Reverse: red green blue"}],
        temperature=0,
        stop=[" "],
        max_completion_tokens=32,
    )
    (choice,) = completion.choices
    assert choice.finish_reason == "stop"
    assert " " not in choice.message.content


@covers("chat-tools")
def test_a_tool_call_and_its_result(client: OpenAI) -> None:
    question: Any = {"role": "user", "content": "Weather in Oslo?"}
    completion = client.chat.completions.create(
        model="heddle/tiny", messages=[question], tools=[GET_WEATHER], n=32, seed=1
    )
    called = [choice for choice in completion.choices if choice.message.tool_calls]
    assert called, "none of 32 samples called the tool"
    (choice, *_) = called
    call = choice.message.tool_calls[0]
    assert choice.finish_reason == "tool_calls"
    assert (call.type, call.function.name) == ("function", "get_weather")
    answer = client.chat.completions.create(
        model="heddle/tiny",
        messages=[
            question,
            choice.message.model_dump(),  # type: ignore[list-item]
            {"role": "tool", "tool_call_id": call.id, "content": "sunny"},
        ],
        tools=[GET_WEATHER],
        max_completion_tokens=8,
    )
    assert answer.choices[0].finish_reason in ("stop", "length", "tool_calls")


@covers("chat-tools")
@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "get_weather"}}])
def test_a_tool_call_that_tool_choice_asks_for_is_made(client: OpenAI, choice: Any) -> None:
    messages: Any = [{"role": "user", "content": "Weather in Oslo?"}]
    request: Any = {"model": "heddle/tiny", "messages": messages, "tools": [GET_WEATHER], "seed": 1, "n": 16}
    free = client.chat.completions.create(**request)
    assert any(not each.message.tool_calls for each in free.choices), "left free, some of 16 answers are no calls"
    completion = client.chat.completions.create(**request, tool_choice=choice, logprobs=True)
    for each in completion.choices:
        assert each.finish_reason == "tool_calls"
        assert [call.function.name for call in each.message.tool_calls] == ["get_weather"]
        assert len(each.logprobs.content) == len(each.token_ids), "what was not sampled is in the prompt"
    assert completion.usage.completion_tokens == sum(len(each.token_ids) for each in completion.choices)
    chunks = list(client.chat.completions.create(**{**request, "n": 1}, tool_choice=choice, stream=True))
    deltas = [delta for chunk in chunks for each in chunk.choices for delta in each.delta.tool_calls or []]
    assert [delta.function.name for delta in deltas] == ["get_weather"]


@covers("chat-stream")
def test_a_stream_carries_the_same_answer(client: OpenAI, trained: str) -> None:
    whole = client.chat.completions.create(model=trained, **ASKED)
    chunks = list(client.chat.completions.create(model=trained, **ASKED, stream=True))
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[0].prompt_token_ids == whole.prompt_token_ids
    parts = [choice for chunk in chunks for choice in chunk.choices]
    (expected,) = whole.choices
    text = "".join(part.delta.content or "" for part in parts)
    assert text == expected.message.content
    ids = [token for part in parts for token in getattr(part, "token_ids", None) or []]
    assert ids == expected.token_ids
    logprobs = [t.logprob for part in parts if part.logprobs for t in part.logprobs.content or []]
    assert logprobs == pytest.approx([t.logprob for t in expected.logprobs.content], abs=1e-4)
    assert [part.finish_reason for part in parts if part.finish_reason] == [expected.finish_reason]
    assert all(chunk.usage is None for chunk in chunks), "nobody asked for usage"


@covers("chat-stream-usage")
def test_usage_comes_last_when_asked(client: OpenAI) -> None:
    chunks = list(
        client.chat.completions.create(
            model="heddle/tiny", **ASKED, stream=True, stream_options={"include_usage": True}
        )
    )
    assert chunks[-1].choices == []
    assert chunks[-1].usage.completion_tokens > 0
    assert all(chunk.usage is None for chunk in chunks[:-1])


@covers("chat-stream-n")
def test_a_stream_opens_every_choice_in_order(client: OpenAI) -> None:
    chunks = list(client.chat.completions.create(model="heddle/tiny", **ASKED, n=3, stream=True))
    parts = [choice for chunk in chunks for choice in chunk.choices]
    opened = [part.index for part in parts if part.delta.role]
    assert opened == [0, 1, 2]
    assert sorted(part.index for part in parts if part.finish_reason) == [0, 1, 2]


@covers("chat-stream-helper")
async def test_the_stream_helper_puts_the_answer_together(server: Server) -> None:
    async with AsyncOpenAI(base_url=server.api, api_key=server.key) as client:
        whole = await client.chat.completions.create(model="heddle/tiny", **ASKED)
        async with client.chat.completions.stream(model="heddle/tiny", **ASKED) as stream:
            events = [event.type async for event in stream]
            final = await stream.get_final_completion()
    assert final.choices[0].message.content == whole.choices[0].message.content
    assert final.choices[0].message.role == "assistant"
    assert "content.delta" in events


@covers("error-unknown-model")
def test_an_unknown_model_is_not_found_at_once(client: OpenAI, trained: str) -> None:
    for model in ("nobody/none", "wandb-artifact:///local/compat/none", f"{trained}:step99"):
        with pytest.raises(openai.NotFoundError) as missing:
            client.chat.completions.create(model=model, **ASKED)
        assert missing.value.code == "model_not_found"
        assert model in missing.value.message


@covers("error-not-offered")
@pytest.mark.parametrize("ask", [lambda c: c.vector_stores.list(), lambda c: c.moderations.create(input="text")])
def test_what_is_not_offered_says_which_path_is_missing(client: OpenAI, ask: Any) -> None:
    with pytest.raises(openai.NotFoundError) as missing:
        ask(client)
    assert "no such path: " in missing.value.message


@covers("error-context-length")
def test_a_prompt_beyond_the_context_is_a_bad_request(client: OpenAI) -> None:
    long: Any = [{"role": "user", "content": "1 + 1 " * 4000}]
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(model="heddle/tiny", messages=long)
    assert refused.value.code == "context_length_exceeded"
    assert "maximum context length" in refused.value.message


@covers("error-validation")
def test_a_wrong_type_names_its_field(client: OpenAI) -> None:
    with pytest.raises((openai.BadRequestError, openai.UnprocessableEntityError)) as refused:
        client.chat.completions.create(
            model="heddle/tiny",
            messages=ASKED["messages"],
            temperature="hot",  # type: ignore
        )
    assert "temperature" in str(refused.value)


@covers("error-wrong-key")
def test_a_wrong_key_is_an_authentication_error(server: Server) -> None:
    client = OpenAI(base_url=server.api, api_key="x" * 48)
    with pytest.raises(openai.AuthenticationError):
        client.chat.completions.create(model="heddle/tiny", **ASKED)


@covers("models-list")
def test_the_list_names_the_base_and_the_trained_models(client: OpenAI, trained: str) -> None:
    models = {model.id: model for model in client.models.list()}
    assert models["heddle/tiny"].object == "model"
    assert models[trained].parent == "heddle/tiny"


@covers("models-retrieve")
@pytest.mark.parametrize("suffix", ["", ":step0"])
def test_a_model_is_found_by_its_artifact_name(client: OpenAI, trained: str, suffix: str) -> None:
    assert client.models.retrieve(trained + suffix).id == trained + suffix


@covers("models-retrieve")
def test_an_unknown_artifact_is_not_found(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("wandb-artifact:///local/compat/none:step1")


@covers("completions-echo")
def test_a_text_is_scored_without_sampling(client: OpenAI, trained: str) -> None:
    for model in ("heddle/tiny", trained):
        completion = client.completions.create(model=model, prompt="3 + 4 = 7", echo=True, max_tokens=0, logprobs=2)
        (choice,) = completion.choices
        found = choice.logprobs
        assert found is not None
        assert found.tokens
        assert found.token_logprobs
        assert found.top_logprobs
        assert found.text_offset
        assert choice.text == "3 + 4 = 7" == "".join(found.tokens)
        assert found.token_logprobs[0] is None
        assert all(value < 0 for value in found.token_logprobs[1:])
        assert all(token in top for token, top in zip(found.tokens[1:], found.top_logprobs[1:], strict=True))
        assert found.text_offset[0] == 0
        assert completion.usage is not None
        assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (len(found.tokens), 0)


@covers("embeddings-create")
def test_texts_have_vectors(client: OpenAI) -> None:
    answer = client.embeddings.create(model="heddle/tiny", input=["3 + 4 = 7", "the rain"])
    as_numbers = client.embeddings.create(model="heddle/tiny", input="the rain", encoding_format="float")
    assert [each.index for each in answer.data] == [0, 1]
    for each in answer.data:
        assert len(each.embedding) == 128
        assert sum(value**2 for value in each.embedding) == pytest.approx(1, abs=1e-5)
    assert answer.data[1].embedding == pytest.approx(as_numbers.data[0].embedding, abs=1e-6)
    assert answer.usage.prompt_tokens == answer.usage.total_tokens > 0
