"""Rollouts that openpipe-art 0.5.23 captures: it sends the clients' recorded calls instead of choices."""

from collections.abc import Awaitable, Callable
from typing import Any

import art
import pytest
from anthropic import AsyncAnthropic

from art_session import QUESTION, backend_for, bare_client, new_model, registered
from covers import covers
from started_server import Server
from wire import call


async def captured_chat(client: Any, model: art.TrainableModel, seed: int, **asked: Any) -> art.Trajectory:
    """One chat inside a trajectory; longer answers earn more."""
    with art.Trajectory(reward=0.0, metadata={"env": {"seed": seed, "path": ["a", None]}}) as trajectory:
        answer = await client.chat.completions.create(
            model=model.get_inference_name(), messages=QUESTION, max_completion_tokens=16, seed=seed, **asked
        )
        if asked.get("stream"):
            async for _ in answer:
                pass
    trajectory.reward = earned(trajectory.exchanges.chat_completions)
    return trajectory


def earned(exchanges: list[Any]) -> float:
    ids = [token for exchange in exchanges for choice in exchange.response.choices for token in choice.token_ids]
    assert ids, "nothing was captured"
    return sum(ids) % 101 / 100


def group_of(trajectories: list[art.Trajectory]) -> art.TrajectoryGroup:
    assert len({trajectory.reward for trajectory in trajectories}) > 1, "equal answers"
    return art.TrajectoryGroup(trajectories)


def assert_learned(result: Any) -> None:
    """Asserts that the step trained on the sampled tokens."""
    assert result.step == 1
    assert result.metrics["data/step_num_gradient_steps"] >= 1
    assert result.metrics["loss/grad_norm"] > 0
    assert result.metrics["loss/train"] != 0
    assert result.metrics["mismatch_max"] < 0.05
    assert result.metrics["trajectories_untrainable"] == 0


@covers("art-captured-chat")
@pytest.mark.parametrize("stream", [False, True])
async def test_captured_chats_train(server: Server, name: str, stream: bool) -> None:
    async with registered(server, name) as (backend, model):
        client = bare_client(model)
        asked = {"stream": True} if stream else {}
        trajectories = [await captured_chat(client, model, seed, **asked) for seed in range(6)]
        assert_learned(await backend.train(model, [group_of(trajectories)], learning_rate=1e-3))


@covers("art-captured-completions")
async def test_captured_completions_train(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        client = bare_client(model)
        trajectories = []
        for seed in range(6):
            with art.Trajectory(reward=0.0) as trajectory:
                await client.completions.create(
                    model=model.get_inference_name(),
                    prompt="3 + 4 =",
                    max_tokens=8,
                    seed=seed,
                    logprobs=1,
                    extra_body={"return_token_ids": True},
                )
            trajectory.reward = earned(trajectory.exchanges.completions)
            trajectories.append(trajectory)
        assert_learned(await backend.train(model, [group_of(trajectories)], learning_rate=1e-3))


async def captured_response(
    _server: Server, model: art.TrainableModel, seed: int, stream: bool = False
) -> art.Trajectory:
    client: Any = bare_client(model)
    # A high limit for streams, because ART drops a stream that its limit cut off.
    limit = 200 if stream else 16
    with art.Trajectory(reward=0.0) as trajectory:
        answer = await client.responses.create(
            model=model.get_inference_name(),
            input=QUESTION[0]["content"],
            max_output_tokens=limit,
            stream=stream,
            extra_body={"seed": seed},
        )
        if stream:
            async for _ in answer:
                pass
    (exchange,) = trajectory.exchanges.responses
    (one,) = exchange.response.token_generations
    return rewarded(trajectory, [token["token_id"] for token in one["output_tokens"]])


async def captured_message(
    server: Server, model: art.TrainableModel, seed: int, stream: bool = False
) -> art.Trajectory:
    with art.Trajectory(reward=0.0) as trajectory:
        async with AsyncAnthropic(base_url=server.url, api_key=server.key) as client:
            answer: Any = await client.messages.create(
                model=model.get_inference_name(),
                messages=QUESTION,
                max_tokens=16,
                stream=stream,
                extra_body={"seed": seed},
            )
            if stream:
                async for _ in answer:
                    pass
    (exchange,) = trajectory.exchanges.messages
    return rewarded(trajectory, exchange.response.token_ids)


def rewarded(trajectory: art.Trajectory, ids: list[int]) -> art.Trajectory:
    assert ids, "nothing was captured"
    trajectory.reward = sum(ids) % 101 / 100
    return trajectory


@covers("art-captured-responses")
@pytest.mark.parametrize("stream", [False, True])
async def test_captured_responses_train(server: Server, name: str, stream: bool) -> None:
    async with registered(server, name) as (backend, model):
        trajectories = [await captured_response(server, model, seed, stream) for seed in range(6)]
        assert_learned(await backend.train(model, [group_of(trajectories)], learning_rate=1e-3))


@covers("art-captured-messages")
@pytest.mark.parametrize("stream", [False, True])
async def test_captured_messages_train(server: Server, name: str, stream: bool) -> None:
    async with registered(server, name) as (backend, model):
        trajectories = [await captured_message(server, model, seed, stream) for seed in range(6)]
        assert_learned(await backend.train(model, [group_of(trajectories)], learning_rate=1e-3))


async def as_chat(_server: Server, model: art.TrainableModel, seed: int) -> art.Trajectory:
    return await captured_chat(bare_client(model), model, seed)


async def as_choices(server: Server, model: art.TrainableModel, seed: int) -> art.Trajectory:
    captured = await as_chat(server, model, seed)
    (exchange,) = captured.exchanges.chat_completions
    return art.Trajectory(messages_and_choices=[*QUESTION, exchange.response.choices[0]], reward=captured.reward)


async def as_completion(_server: Server, model: art.TrainableModel, seed: int) -> art.Trajectory:
    """A text completion whose prompt is the question as the chat template renders it."""
    with art.Trajectory(reward=0.0) as trajectory:
        await bare_client(model).completions.create(
            model=model.get_inference_name(),
            prompt=f"<|im_start|>user\n{QUESTION[0]['content']}<|im_end|>\n<|im_start|>assistant\n",
            max_tokens=16,
            seed=seed,
            logprobs=1,
            extra_body={"return_token_ids": True},
        )
    trajectory.reward = earned(trajectory.exchanges.completions)
    return trajectory


@covers("art-captured-same-gradient")
async def test_the_same_rollouts_give_the_same_gradient_by_every_protocol(server: Server, name: str) -> None:
    protocols: list[Callable[[Server, art.TrainableModel, int], Awaitable[art.Trajectory]]] = [
        as_choices,
        as_chat,
        as_completion,
        captured_response,
        captured_message,
    ]
    results = []
    for place, protocol in enumerate(protocols):
        async with registered(server, f"{name}-{place}") as (backend, model):
            trajectories = [await protocol(server, model, seed) for seed in range(6)]
            result = await backend.train(model, [group_of(trajectories)], learning_rate=1e-3)
            assert_learned(result)
            results.append([result.metrics[metric] for metric in ("loss/grad_norm", "loss/train", "loss/entropy")])
    for other in results[1:]:
        assert other == pytest.approx(results[0], rel=1e-6, abs=1e-6)


@covers("art-captured-dialogue")
async def test_turns_and_a_judge_in_one_trajectory_train_as_one_dialogue(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        client = bare_client(model)
        trajectories = []
        for seed in range(4):
            with art.Trajectory(reward=0.0) as trajectory:
                await two_turns(client, model, seed)
                await client.chat.completions.create(model="heddle/tiny", messages=QUESTION, max_completion_tokens=2)
            own = [one for one in trajectory.exchanges.chat_completions if one.model != "heddle/tiny"]
            trajectory.reward = earned(own)
            trajectories.append(trajectory)
        assert_learned(await backend.train(model, [group_of(trajectories)], learning_rate=1e-3))


async def two_turns(client: Any, model: art.TrainableModel, seed: int) -> None:
    messages: list[Any] = [*QUESTION]
    for text in ("And 2 more?", ""):
        answer = await client.chat.completions.create(
            model=model.get_inference_name(), messages=messages, max_completion_tokens=8, seed=seed
        )
        said = {"role": "assistant", "content": answer.choices[0].message.content}
        messages += [said, {"role": "user", "content": text}]


@covers("art-captured-mixed")
async def test_choices_and_captured_chats_train_in_one_group(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        client = bare_client(model)
        trajectories = [await captured_chat(client, model, seed) for seed in range(4)]
        handed_on = [
            art.Trajectory(
                messages_and_choices=[*QUESTION, one.exchanges.chat_completions[0].response.choices[0]],
                reward=one.reward,
            )
            for one in trajectories[2:]
        ]
        assert_learned(await backend.train(model, [group_of(trajectories[:2] + handed_on)], learning_rate=1e-3))


@covers("art-captured-broken-stream")
async def test_a_stream_that_broke_off_is_not_trained_and_the_others_are(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        client = bare_client(model)
        trajectories = [await captured_chat(client, model, seed, stream=True) for seed in range(4)]
        with art.Trajectory(reward=-1.0) as broken:
            async with await client.chat.completions.create(
                model=model.get_inference_name(), messages=QUESTION, max_completion_tokens=200, stream=True
            ) as stream:
                async for _ in stream:
                    break
        assert not broken.exchanges
        result = await backend.train(model, [group_of([*trajectories, broken])], learning_rate=1e-3)
        assert (result.step, result.metrics["trajectories_untrainable"]) == (1, 1)
        assert result.metrics["loss/grad_norm"] > 0
        assert any("nothing was captured" in warning for warning in warnings_of(server, model))


def warnings_of(server: Server, model: art.TrainableModel) -> list[str]:
    return call(server, "GET", f"/v1/preview/training-jobs?model_id={model.id}").json["data"][0]["warnings"]


@covers("art-captured-nothing")
async def test_a_job_of_empty_rollouts_fails_and_says_why(server: Server, name: str) -> None:
    backend = backend_for(server)
    model = new_model(name)
    await model.register(backend)
    try:
        empty = [art.Trajectory(reward=float(index)) for index in range(2)]
        with pytest.raises(RuntimeError, match=r"although rewards differ.*nothing was captured"):
            await backend.train(model, [art.TrajectoryGroup(empty)])
        assert await model.get_step() == 0
    finally:
        await backend.close()


@covers("art-captured-nothing")
async def test_an_empty_rollout_among_others_is_counted_and_told(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        trajectories = [await captured_chat(bare_client(model), model, seed) for seed in range(4)]
        group = group_of([*trajectories, art.Trajectory(reward=-1.0)])
        result = await backend.train(model, [group], learning_rate=1e-3)
        assert result.step == 1
        assert result.metrics["trajectories_untrainable"] == 1
        assert any("nothing was captured" in warning for warning in warnings_of(server, model))
