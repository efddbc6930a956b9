"""Responses through the openai package, streaming and not."""

from typing import Any, Literal

import openai
import pytest
from openai import OpenAI
from pydantic import BaseModel

from covers import covers
from started_server import Server
from wire import create_model

ASKED: Any = {"input": "3 + 4 = ?", "max_output_tokens": 200, "extra_body": {"seed": 7}}
ADD: Any = {
    "type": "function",
    "name": "add",
    "description": "Adds two numbers",
    "parameters": {
        "type": "object",
        "properties": {"a": {"enum": [3, 4]}, "b": {"enum": [3, 4]}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
    "strict": True,
}


@pytest.fixture
def client(server: Server) -> OpenAI:
    return OpenAI(base_url=server.api, api_key=server.key)


@pytest.fixture(scope="module")
def trained(server: Server) -> str:
    """The name of a trainable model, which has step 0 from its creation."""
    model = create_model(server, "responses")
    return f"wandb-artifact:///{model['entity']}/compat/responses"


def generation(response: Any) -> Any:
    (one,) = response.model_extra["token_generations"]
    return one


@covers("responses-create")
@pytest.mark.parametrize("suffix", ["", ":step0"])
def test_the_answer_is_that_of_a_chat(client: OpenAI, trained: str, suffix: str) -> None:
    response = client.responses.create(model=trained + suffix, **ASKED)
    completion = client.chat.completions.create(
        model=trained + suffix, messages=[{"role": "user", "content": ASKED["input"]}], seed=7, max_tokens=200
    )
    (choice,) = completion.choices
    assert (response.status, response.model) == ("completed", trained + suffix)
    assert response.output_text == choice.message.content
    one = generation(response)
    assert one["prompt_token_ids"] == completion.prompt_token_ids
    assert [token["token_id"] for token in one["output_tokens"]] == choice.token_ids
    expected = [token.logprob for token in choice.logprobs.content]
    assert [token["logprob"] for token in one["output_tokens"]] == pytest.approx(expected, abs=1e-4)
    assert response.usage.output_tokens == len(choice.token_ids)
    assert response._request_id


@covers("responses-stream")
def test_a_stream_carries_the_same_answer(client: OpenAI, trained: str) -> None:
    whole = client.responses.create(model=trained, **ASKED)
    events = list(client.responses.create(model=trained, **ASKED, stream=True))
    assert [event.type for event in events[:2]] == ["response.created", "response.in_progress"]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[-1].type == "response.completed"
    assert events[-1].response.output_text == whole.output_text
    with client.responses.stream(model=trained, **ASKED) as stream:
        text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        final = stream.get_final_response()
    assert text == final.output_text == whole.output_text
    ids = [[token["token_id"] for token in generation(one)["output_tokens"]] for one in (final, whole)]
    assert ids[0] == ids[1]


@covers("responses-stream")
def test_an_answer_that_is_cut_off_is_incomplete(client: OpenAI) -> None:
    events = list(client.responses.create(**{**ASKED, "max_output_tokens": 1}, model="heddle/tiny", stream=True))
    assert events[-1].type == "response.incomplete"
    assert events[-1].response.incomplete_details.reason == "max_output_tokens"


class Sum(BaseModel):
    answer: Literal[7, 8]


@covers("responses-structured")
def test_an_answer_is_parsed_by_the_schema_that_asked_for_it(client: OpenAI, trained: str) -> None:
    response = client.responses.parse(model=trained, text_format=Sum, **ASKED)
    assert isinstance(response.output_parsed, Sum)
    with client.responses.stream(model=trained, text_format=Sum, **ASKED) as stream:
        list(stream)
        assert isinstance(stream.get_final_response().output_parsed, Sum)


@covers("responses-tools")
@pytest.mark.parametrize("choice", ["required", {"type": "function", "name": "add"}])
def test_a_tool_is_called_and_its_output_answered(client: OpenAI, choice: Any) -> None:
    asked: Any = {**ASKED, "model": "heddle/tiny", "tools": [ADD]}
    response = client.responses.create(**asked, tool_choice=choice)
    (made,) = [item for item in response.output if item.type == "function_call"]
    assert made.name == "add"
    output = {"type": "function_call_output", "call_id": made.call_id, "output": "7"}
    kept = client.responses.create(**{**asked, "input": [output]}, previous_response_id=response.id)
    items: Any = [{"role": "user", "content": ASKED["input"]}, *[one.model_dump() for one in response.output], output]
    sent = client.responses.create(**{**asked, "input": items}, store=False)
    assert generation(kept)["prompt_token_ids"] == generation(sent)["prompt_token_ids"]
    with client.responses.stream(**asked, tool_choice=choice) as stream:
        final = stream.get_final_response()
    (streamed,) = [item for item in final.output if item.type == "function_call"]
    assert streamed.arguments == made.arguments


@covers("responses-stored")
def test_stored_answers_are_read_continued_and_deleted(client: OpenAI) -> None:
    first = client.responses.create(model="heddle/tiny", instructions="Be brief.", metadata={"run": "7"}, **ASKED)
    second = client.responses.create(
        model="heddle/tiny", input="And 2 more?", max_output_tokens=8, previous_response_id=first.id
    )
    assert second.usage.input_tokens > first.usage.output_tokens
    read = client.responses.retrieve(first.id)
    assert read.output_text == first.output_text
    assert read.metadata == {"run": "7"}
    items = list(client.responses.input_items.list(second.id, order="asc", limit=1))
    assert [item.role for item in items] == ["user", "assistant", "user"]
    with pytest.raises(openai.BadRequestError, match="has ended"):
        client.responses.cancel(first.id)
    client.responses.delete(first.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(first.id)
    with pytest.raises(openai.NotFoundError, match="previous_response_id"):
        client.responses.create(model="heddle/tiny", input="More", previous_response_id=first.id)


@covers("responses-stored")
def test_a_stream_that_is_being_made_can_be_cancelled(client: OpenAI) -> None:
    stream = client.responses.create(model="heddle/tiny", input="Count", stream=True, extra_body={"ignore_eos": True})
    created = next(stream)
    assert client.responses.cancel(created.response.id).status == "cancelled"
    *_, last = stream
    assert (last.type, last.response.status) == ("response.failed", "cancelled")


@covers("responses-input-tokens")
def test_the_counted_tokens_are_those_of_the_prompt(client: OpenAI) -> None:
    prompt: Any = {"model": "heddle/tiny", "input": ASKED["input"], "instructions": "Be brief.", "tools": [ADD]}
    counted = client.responses.input_tokens.count(**prompt)
    response = client.responses.create(**prompt, max_output_tokens=16)
    assert response.usage is not None
    assert (counted.object, counted.input_tokens) == ("response.input_tokens", response.usage.input_tokens)


@covers("responses-errors")
def test_errors_are_those_of_the_package(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="nobody/none"):
        client.responses.create(model="nobody/none", input="x")
    with pytest.raises(openai.BadRequestError, match="web_search"):
        client.responses.create(model="heddle/tiny", input="x", tools=[{"type": "web_search"}])
    with pytest.raises(openai.BadRequestError, match="background"):
        client.responses.create(model="heddle/tiny", input="x", background=True)
