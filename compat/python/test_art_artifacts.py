"""ART's own SFT, pull and fork, which go through wandb."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import art
import pytest
import wandb

from art_session import QUESTION, registered, train_once
from covers import covers
from started_server import Server


@pytest.fixture(autouse=True)
def settings(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    places = {
        "WANDB_BASE_URL": server.url,
        "WANDB_API_KEY": server.key,
        "WANDB_CACHE_DIR": str(tmp_path / "cache"),
        "WANDB_DATA_DIR": str(tmp_path / "data"),
        "WANDB_SILENT": "true",
    }
    for name, value in places.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    yield
    wandb.finish()


def example(n: int) -> art.Trajectory:
    return art.Trajectory(messages_and_choices=[*QUESTION, {"role": "assistant", "content": f"It is {n}."}], reward=0.0)


async def chat(model: Any, step: int | None = None) -> str:
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(step), messages=QUESTION, max_completion_tokens=8, temperature=0
    )
    return completion.choices[0].message.content or ""


@covers("art-sft")
async def test_train_sft_uploads_its_rows_and_trains(server: Server, name: str, tmp_path: Path) -> None:
    async with registered(server, name, tmp_path) as (backend, model):
        await model.train_sft([example(n) for n in range(4)])
        assert await model.get_step() == 1
        assert await chat(model, 1) is not None
        versions = list(wandb.Api().artifact_collections(f"local/{model.project}", "dataset"))
        assert any(one.name.startswith(f"{name}-sft-data-") for one in versions)
        stored = wandb.Api().artifact(f"local/{model.project}/{name}:latest", type="lora")
        assert sorted(stored.aliases) == ["latest", "step1"]
        assert stored.metadata["wandb.provenance"] == ["serverless-sft"]
        del backend


@covers("wandb-job-metrics")
async def test_the_run_of_the_model_has_the_metrics_of_every_job(server: Server, name: str, tmp_path: Path) -> None:
    async with registered(server, name, tmp_path) as (backend, model):
        result = await train_once(backend, model)
        await model.log(metrics=result.metrics, step=result.step, split="train")
        await model.train_sft([example(n) for n in range(8)])
        # ART opens a run of its own beside wandb's current one.
        for run in (model._wandb_run, wandb):
            if run is not None:
                run.finish()
        rows = list(wandb.Api().run(f"local/{model.project}/{name}").scan_history())
        steps = {kind: having(rows, f"{kind}/gradient_step") for kind in ("rl", "sft")}
        assert [row["sft/gradient_step"] for row in steps["sft"]] == [1, 2, 3, 4]
        assert [row["rl/gradient_step"] for row in steps["rl"]] == list(range(1, len(steps["rl"]) + 1))
        assert {row["training_step"] for row in steps["rl"]} == {1}
        assert {row["training_step"] for row in steps["sft"]} == {2}
        # ART logs the means of an RL job. Those of an SFT job it logs up to 0.5.18; later versions expect them of the
        # server.
        means = having(rows, "loss/train")
        assert [row["training_step"] for row in means] == [1, 2]
        for mean, kind in zip(means, ("rl", "sft"), strict=True):
            losses = [row[f"{kind}/loss/train"] for row in steps[kind]]
            assert mean["loss/train"] == pytest.approx(sum(losses) / len(losses))


def having(rows: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    return [row for row in rows if row.get(key) is not None]


@covers("art-pull")
async def test_a_checkpoint_is_pulled_as_a_peft_folder(server: Server, name: str, tmp_path: Path) -> None:
    async with registered(server, name, tmp_path) as (backend, model):
        await train_once(backend, model)
        for step in (1, "latest"):
            folder = Path(await backend._experimental_pull_model_checkpoint(model, step=step))
            config = json.loads((folder / "adapter_config.json").read_text())
            assert (config["peft_type"], config["r"]) == ("LORA", 8)
            assert (folder / "adapter_model.safetensors").stat().st_size > 1000


@covers("art-fork")
async def test_a_fork_goes_on_from_the_checkpoint(server: Server, name: str, tmp_path: Path) -> None:
    async with registered(server, name, tmp_path) as (backend, model):
        await train_once(backend, model)
        await train_once(backend, model)
        async with registered(server, f"{name}-fork", tmp_path) as (other, fork):
            await other._experimental_fork_checkpoint(fork, from_model=name, not_after_step=1)
            assert await fork.get_step() == 1
            assert await chat(fork, 1) == await chat(model, 1)
            assert (await train_once(other, fork)).step == 2
