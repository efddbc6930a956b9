"""The RL loop of openpipe-art: register, roll out, train, serve the new step."""

import json
import math
from pathlib import Path
from typing import Any

import art
import pytest
from openai.types.chat.chat_completion import Choice

from art_session import (
    ART_VERSION,
    QUESTION,
    backend_for,
    bare_client,
    new_model,
    registered,
    rollout,
    train_once,
    varied_group,
)
from covers import covers
from started_server import Server

WEATHER_TOOL: Any = {
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


@covers("art-register")
async def test_register_fills_in_what_the_service_decides(server: Server, name: str) -> None:
    async with registered(server, name) as (_, model):
        assert model.entity == "local"
        assert model.id
        assert model.inference_base_url is not None
        assert model.inference_base_url.rstrip("/") == server.api
        assert model.get_inference_name() == f"wandb-artifact:///local/compat/{name}"


@covers("art-register-again")
async def test_registering_again_gives_the_same_model(server: Server, name: str) -> None:
    async with registered(server, name) as (_, first), registered(server, name) as (_, again):
        assert again.id == first.id


@covers("art-register-unknown-base")
async def test_an_unknown_base_model_is_refused_by_name(server: Server, name: str) -> None:
    import openai

    backend = backend_for(server)
    try:
        with pytest.raises(openai.UnprocessableEntityError) as refused:
            await new_model(name, base_model="nobody/no-such-model").register(backend)
    finally:
        await backend.close()
    (detail,) = refused.value.response.json()["detail"]
    assert detail["loc"] == ["body", "base_model"]
    assert "nobody/no-such-model" in detail["msg"]


@covers("art-register-unsupported-base")
async def test_an_unsupported_architecture_is_refused_at_registration(
    server: Server, name: str, tmp_path: Path
) -> None:
    import openai

    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["Gemma2ForCausalLM"]}))
    backend = backend_for(server)
    try:
        with pytest.raises(openai.UnprocessableEntityError) as refused:
            await new_model(name, base_model=str(tmp_path)).register(backend)
    finally:
        await backend.close()
    (detail,) = refused.value.response.json()["detail"]
    assert detail["loc"] == ["body", "base_model"]
    assert "Gemma2ForCausalLM" in detail["msg"]
    assert "Supported: LlamaForCausalLM, MistralForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM" in detail["msg"]


@covers("art-wrong-key")
async def test_a_wrong_key_is_an_authentication_error(server: Server, name: str) -> None:
    import openai

    backend = backend_for(server, key="x" * 48)
    try:
        with pytest.raises(openai.AuthenticationError):
            await new_model(name).register(backend)
    finally:
        await backend.close()


@covers("art-managed-rollout")
async def test_the_managed_client_gives_trainable_choices(server: Server, name: str) -> None:
    async with registered(server, name) as (_, model):
        trajectory = await rollout(model.openai_client(), model, 1.0)
        assert_trainable(trajectory.messages_and_choices[-1])


@covers("art-bare-rollout")
async def test_a_bare_client_with_no_flags_gives_trainable_choices(server: Server, name: str) -> None:
    async with registered(server, name) as (_, model):
        trajectory = await rollout(bare_client(model), model, 1.0)
        assert_trainable(trajectory.messages_and_choices[-1])


def assert_trainable(choice: Any) -> None:
    """Asserts the fields without which every ART version silently drops a choice."""
    tokens = choice.logprobs.content
    assert len(tokens) == len(choice.token_ids) > 0
    assert all(token.logprob <= 0 and math.isfinite(token.logprob) for token in tokens)
    assert all(token.top_logprobs == [] for token in tokens)
    assert all(isinstance(token_id, int) for token_id in choice.token_ids)
    assert len(choice.prompt_token_ids) > 0
    assert choice.finish_reason in ("stop", "length", "tool_calls")


@covers("art-step", "art-train")
async def test_training_adds_one_step(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        assert await model.get_step() == 0
        result = await train_once(backend, model)
        assert result.step == 1
        assert result.artifact_name == f"local/compat/{name}:step1"
        assert await model.get_step() == 1


@covers("art-bare-rollout", "art-train")
async def test_rollouts_of_a_bare_client_train(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        group = await varied_group(bare_client(model), model)
        result = await backend.train(model, [group], learning_rate=1e-3)
        assert result.step == 1
        assert gradient_steps(result.metrics) >= 1


def gradient_steps(metrics: dict[str, float]) -> float:
    """Number of gradient steps in the metrics; 1 or 0 for versions before 0.5.17, which keep only averages."""
    if ART_VERSION < (0, 5, 17):
        return 1 if "grad_norm" in metrics else 0
    return metrics.get("data/step_num_gradient_steps", 0)


@covers("art-train-metrics")
async def test_metrics_come_back_under_the_clients_names(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        metrics = (await train_once(backend, model)).metrics
    renamed = ART_VERSION >= (0, 5, 17)
    upstream = {
        "policy_loss": "loss/train",
        "entropy": "loss/entropy",
        "grad_norm": "loss/grad_norm",
        "learning_rate": "loss/learning_rate",
        "num_trainable_tokens": f"data/step_{'trainer' if ART_VERSION < (0, 5, 23) else 'trainable_assistant'}_tokens",
    }
    for bare, canonical in upstream.items():
        assert math.isfinite(metrics[canonical if renamed else bare]), bare
    assert metrics["loss/learning_rate" if renamed else "learning_rate"] == pytest.approx(1e-3)
    assert metrics["loss/grad_norm" if renamed else "grad_norm"] > 0
    if renamed:
        assert metrics["data/step_num_gradient_steps"] == 1
        assert metrics["data/step_num_trajectories"] == 8
        assert metrics["data/step_num_groups_submitted"] == 1
        assert metrics["data/step_num_groups_trainable"] == 1
        assert metrics[f"time/step_{'trainer' if ART_VERSION < (0, 5, 23) else 'backend_train'}_s"] > 0
        assert "tokens_per_second" not in metrics


@covers("art-many-steps")
async def test_every_step_answers_while_later_ones_exist(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        assert (await train_once(backend, model)).step == 1
        assert (await train_once(backend, model)).step == 2
        client = model.openai_client()
        names = [*(model.get_inference_name(step) for step in (None, 0, 1, 2))]
        names.append(f"{model.get_inference_name()}:latest")
        sampled = {model: await logprobs(client, model) for model in names}
    untrained, first, second = sampled[names[1]], sampled[names[2]], sampled[names[3]]
    assert sampled[names[0]] == second, "no suffix is the newest step"
    assert sampled[names[4]] == second, ":latest is the newest step"
    assert len({str(each) for each in (untrained, first, second)}) == 3, "each step has weights of its own"


async def logprobs(client: Any, model: str) -> list[float]:
    """Log-probabilities of a greedy answer: a fingerprint of the weights that gave it."""
    completion = await client.chat.completions.create(
        model=model, messages=QUESTION, max_completion_tokens=8, temperature=0
    )
    assert completion.model == model
    return [round(token.logprob, 4) for token in completion.choices[0].logprobs.content]


@covers("art-tools")
async def test_a_tool_call_its_result_and_the_answer_train(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        client = model.openai_client()
        trajectories = [await ask_weather(client, model, reward) for reward in (0.0, 1.0, 0.0, 1.0)]
        result = await backend.train(model, [art.TrajectoryGroup(trajectories)], learning_rate=1e-3)
        assert result.step == 1
        assert gradient_steps(result.metrics) >= 1


@covers("art-tools")
async def test_choices_without_ids_are_trained_on_the_prompt_with_tools_that_they_answered(
    server: Server, name: str
) -> None:
    """LangChain keeps a choice's log-probabilities and drops its ids, as art.langgraph does with it."""
    async with registered(server, name) as (backend, model):
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=QUESTION, tools=[WEATHER_TOOL], n=4, max_completion_tokens=8
        )
        kept = {"finish_reason", "index", "message", "logprobs"}
        trajectories = [
            art.Trajectory(
                messages_and_choices=[*QUESTION, Choice.model_validate(choice.model_dump(include=kept))],
                tools=[WEATHER_TOOL],
                reward=reward,
            )
            for reward, choice in enumerate(completion.choices)
        ]
        result = await backend.train(model, [art.TrajectoryGroup(trajectories)], learning_rate=1e-3)
        assert result.metrics["mismatch_rms"] < 1e-4


async def ask_weather(client: Any, model: art.TrainableModel, reward: float) -> art.Trajectory:
    """One trajectory of a question, a tool call, its result and an answer."""
    question: Any = {"role": "user", "content": "Weather in Oslo?"}
    first = await client.chat.completions.create(
        model=model.get_inference_name(),
        messages=[question],
        tools=[WEATHER_TOOL],
        n=32,
        max_completion_tokens=64,
    )
    called = [choice for choice in first.choices if choice.message.tool_calls]
    assert called, "none of 32 samples called the tool"
    call = called[0].message.tool_calls[0]
    assert called[0].finish_reason == "tool_calls"
    assert call.function.name == "get_weather"
    tool_result: Any = {"role": "tool", "tool_call_id": call.id, "content": "sunny"}
    trajectory = art.Trajectory(
        messages_and_choices=[question, called[0], tool_result],
        tools=[WEATHER_TOOL],
        reward=reward,
    )
    answer = await client.chat.completions.create(
        model=model.get_inference_name(),
        messages=trajectory.messages(),
        tools=[WEATHER_TOOL],
        max_completion_tokens=16,
    )
    trajectory.messages_and_choices.append(answer.choices[0])
    return trajectory
