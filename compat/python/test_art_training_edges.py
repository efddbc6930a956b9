"""Training jobs with little, nothing or nonsense to learn, as ART sends them."""

import art
import pytest
from openai.types.chat.chat_completion import Choice

from art_session import ART_VERSION, QUESTION, group_with, registered, rollout, train_once
from covers import covers
from started_server import Server
from wire import call


def events_of(server: Server, job_id: str) -> list[dict]:
    page = call(server, "GET", f"/v1/preview/training-jobs/{job_id}/events?limit=100").json
    assert page["has_more"] is False
    return page["data"]


async def created_jobs(backend: object) -> list[str]:
    """Notes the ids of the jobs that a backend creates from now on."""
    ids: list[str] = []
    jobs = backend._client.training_jobs  # type: ignore[attr-defined]
    create = jobs.create

    async def noting(**fields: object) -> object:
        job = await create(**fields)
        ids.append(job.id)
        return job

    jobs.create = noting
    return ids


@covers("art-cancel")
async def test_a_cancelled_job_ends_the_polling_and_the_model_trains_on(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        group = await group_with(model.openai_client(), model, [0.0, 1.0])
        # The job has many gradient steps, so that it cannot end before the cancel comes.
        long = art.TrajectoryGroup(group.trajectories * 400)
        jobs = backend._client.training_jobs  # type: ignore[attr-defined]
        create = jobs.create

        async def cancelling(**fields: object) -> object:
            job = await create(**fields)
            cancelled = call(server, "POST", f"/v1/preview/training-jobs/{job.id}/cancel").json
            assert cancelled["status"] == "cancelled"
            return job

        jobs.create = cancelling
        with pytest.raises(RuntimeError, match="Training job failed: cancelled by admin"):
            await backend.train(model, [long])
        jobs.create = create
        assert await model.get_step() == 0
        assert (await backend.train(model, [group])).step == 1


async def test_a_paused_job_keeps_the_client_waiting_until_it_is_resumed(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        group = await group_with(model.openai_client(), model, [0.0, 1.0])
        # The job has so many gradient steps that it cannot end before the pause comes.
        long = art.TrajectoryGroup(group.trajectories * 100)
        jobs = backend._client.training_jobs  # type: ignore[attr-defined]
        create, list_events = jobs.create, jobs.events.list
        ids: list[str] = []
        polls = 0

        async def pausing(**fields: object) -> object:
            job = await create(**fields)
            ids.append(job.id)
            paused = call(server, "POST", f"/v1/preview/training-jobs/{job.id}/pause").json
            assert paused["status"] == "paused"
            return job

        def polling(**fields: object) -> object:
            nonlocal polls
            polls += 1
            if polls == 2:
                job = call(server, "GET", f"/v1/preview/training-jobs/{ids[0]}").json
                assert job["status"] == "paused"
                call(server, "POST", f"/v1/preview/training-jobs/{ids[0]}/resume")
            return list_events(**fields)

        jobs.create, jobs.events.list = pausing, polling
        assert (await backend.train(model, [long])).step == 1
        assert polls >= 2
    kinds = [event["type"] for event in events_of(server, ids[0])]
    assert kinds[0] == "training_started"
    assert kinds[-1] == "training_ended"


@covers("art-equal-rewards")
async def test_equal_rewards_move_the_step_without_a_gradient(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        jobs = await created_jobs(backend)
        group = await group_with(model.openai_client(), model, [1.0, 1.0, 1.0, 1.0])
        result = await backend.train(model, [group])
        assert result.step == 1
    kinds = [event["type"] for event in events_of(server, jobs[0])]
    assert kinds == ["training_started", "training_ended"]


@covers("art-empty-groups")
async def test_no_groups_and_empty_groups_move_the_step(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        assert (await backend.train(model, [])).step == 1
        assert (await backend.train(model, [art.TrajectoryGroup([])])).step == 2


@covers("art-exceptions")
async def test_a_group_with_exceptions_moves_the_step(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        failed = art.TrajectoryGroup([ValueError("the rollout failed: \u0000 \u2028"), OSError()])
        assert len(failed.exceptions) == 2
        assert (await backend.train(model, [failed])).step == 1


@covers("art-exceptions")
async def test_exceptions_beside_trajectories_are_tolerated(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        client = model.openai_client()
        outcomes = [
            await rollout(client, model, 0.0),
            await rollout(client, model, 1.0),
            ValueError("the third rollout failed"),
        ]
        result = await backend.train(model, [art.TrajectoryGroup(outcomes)], learning_rate=1e-3)
        assert result.step == 1
    if ART_VERSION >= (0, 5, 17):
        assert result.metrics["data/step_num_trajectories"] == 3, "the client counts what it sent, exceptions included"


@covers("art-train")
async def test_line_separators_in_a_message_are_trained_on(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        client = model.openai_client()
        question = [{"role": "user", "content": "3 + 4\u2028\u2029\u0085 = ?"}]
        completion = await client.chat.completions.create(
            model=model.get_inference_name(), messages=question, n=8, max_completion_tokens=4, seed=1
        )
        trajectories = [
            art.Trajectory(messages_and_choices=[*question, choice], reward=index)
            for index, choice in enumerate(completion.choices)
        ]
        result = await backend.train(model, [art.TrajectoryGroup(trajectories)], learning_rate=1e-3)
        assert result.step == 1
        assert len(result.metrics) > 1, "a gradient step was made"


@covers("art-declined-logprobs")
async def test_rollouts_that_decline_logprobs_are_trained_on(server: Server, name: str) -> None:
    """The choices have the sampled ids, and the server kept the ids' logprobs."""
    async with registered(server, name) as (backend, model):
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=QUESTION, n=8, max_completion_tokens=4, seed=1, logprobs=False
        )
        assert all(choice.logprobs is None for choice in completion.choices)
        trajectories = [
            art.Trajectory(messages_and_choices=[*QUESTION, choice], reward=index)
            for index, choice in enumerate(completion.choices)
        ]
        result = await backend.train(model, [art.TrajectoryGroup(trajectories)], learning_rate=1e-3)
        assert len(result.metrics) > 1, "a gradient step was made"


@covers("art-failed-job")
async def test_a_failed_job_raises_and_leaves_the_step(server: Server, name: str) -> None:
    async with registered(server, name) as (backend, model):
        group = await group_with(model.openai_client(), model, [0.0, 1.0])
        turns = group.trajectories[0].messages_and_choices
        turns[-1] = sampled_elsewhere(turns[-1])
        with pytest.raises(RuntimeError, match=r"Training job failed: .*10000000"):
            await backend.train(model, [group])
        assert await model.get_step() == 0
        assert (await train_once(backend, model)).step == 1, "the next job starts from the last step"


def sampled_elsewhere(choice: Choice) -> Choice:
    """The choice as a server with another vocabulary gives it, with ids that Heddle's model does not have."""
    standard = choice.model_dump(include={"finish_reason", "index", "message", "logprobs"})
    ids = [10_000_000 for _ in choice.logprobs.content]
    return Choice.model_validate({**standard, "token_ids": ids, "prompt_token_ids": choice.prompt_token_ids})


@covers("art-foreign-choices")
async def test_choices_without_ids_and_logprobs_are_left_out(server: Server, name: str) -> None:
    """A plain assistant message is context, never a target: the job ends with nothing to learn."""
    async with registered(server, name) as (backend, model):
        trajectories = [
            art.Trajectory(messages_and_choices=[*QUESTION, {"role": "assistant", "content": "7"}], reward=reward)
            for reward in (0.0, 1.0)
        ]
        result = await backend.train(model, [art.TrajectoryGroup(trajectories)])
        assert result.step == 1
