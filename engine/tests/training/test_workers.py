"""Training in several processes (decision 0030): the same adapter as one makes, whatever becomes of the others."""

import errno
import os
import shutil
import signal
import time

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from heddle_engine.errors import EngineError
from heddle_engine.threads import usable_cores, use_cores
from heddle_engine.training.jobs import TrainingJob
from heddle_engine.training.packed.prefix_tree import build_forest
from heddle_engine.training.workers import member as member_module
from heddle_engine.training.workers.member import Member, Task
from heddle_engine.training.workers.shares import share_out
from heddle_engine.training.workers.started import StartedWorkers
from tests.models import HYBRIDS
from tests.training.builders import random_group
from tests.training.jobs_support import cpu_bases, job_params, pair_lines, sampled_groups, steps

START_S = 60


@pytest.fixture(scope="module", autouse=True)
def _one_core():
    """As each process of the group; more cores would change the last bits of sums."""
    before = usable_cores()
    use_cores(1)
    yield
    use_cores(before)


@pytest.fixture(scope="module")
def group():
    group = StartedWorkers(2, 1, torch.device("cpu"))
    yield group
    group.close()


@pytest.fixture
def worker(group):
    """The process id of the only worker, which is ready."""
    return ready(group)


def ready(group: StartedWorkers) -> int:
    for _ in range(START_S * 20):
        if group.members[0].is_ready:
            return group.pids()[0]
        time.sleep(0.05)
    raise AssertionError("the worker is not ready")


class Given:
    """The shares that workers were given; ``on_next`` is called once, when a worker has got the next one."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.on_next = None

    def note(self, task: Task) -> None:
        self.tasks.append(task)
        if self.on_next is not None:
            on_next, self.on_next = self.on_next, None
            on_next()


@pytest.fixture
def given(monkeypatch) -> Given:
    given, begin = Given(), Member.begin

    def noted(self, *share):
        task = begin(self, *share)
        given.note(task)
        return task

    monkeypatch.setattr(Member, "begin", noted)
    return given


def work_of(kind, folder) -> tuple[list[dict], dict]:
    if kind == "rl":
        settings = {"kl_penalty_coef": 0.1, "precalculate_logprobs": True, "grad_accumulation_sequences": 2}
        return sampled_groups(folder, groups=6), settings
    if kind == "dpo":
        return pair_lines([("in the inn", "at the mill"), ("a barn", "the rain in the lane")] * 6), {}
    question = {"role": "user", "content": "say"}
    answers = ["in the inn", "the rain in the lane", "a hen"] * 4
    return [{"messages": [question, {"role": "assistant", "content": text}]} for text in answers], {"batch_size": 3}


def run(params, group=None, after_step=None) -> tuple[dict[str, torch.Tensor], list]:
    """The adapter and the events; ``after_step`` is called with the number of each step."""
    job = TrainingJob(params, cpu_bases().load(params["base"]), group)
    events = []
    for event in job.run():
        if event is not None:
            events.append(event)
            if event.kind == "gradient_step" and after_step:
                after_step(event.data["number"])
    return load_file(f"{params['output']['path']}/adapter_model.safetensors"), events


def moments(params) -> torch.Tensor:
    return load_file(f"{params['output']['path']}/optimizer.safetensors")["mean"]


@pytest.mark.parametrize("family", ["qwen3", "qwen3_5"])
@pytest.mark.parametrize("kind", ["rl", "sft", "dpo"])
def test_two_processes_make_the_adapter_of_one(kind, family, model_folders, tmp_path, group, worker, given):
    folder = model_folders(family)
    lines, config = work_of(kind, folder)
    # AdamW moves a weight by up to the learning rate however small its gradient is, where rounding is all there is.
    config["learning_rate"] = 1e-4
    alone, told_alone = run(job_params(folder, tmp_path, lines, kind, name="alone", **config))
    together, told = run(job_params(folder, tmp_path, lines, kind, name="together", **config), group)
    assert max(float((alone[name] - together[name]).abs().max()) for name in alone) < 1e-6
    assert len(given.tasks) >= len(steps(told)) > 1
    assert all(task.answer is not None for task in given.tasks)
    for one, other in zip(steps(told_alone), steps(told), strict=True):
        del one["tokens_per_second"], other["tokens_per_second"]
        assert one == pytest.approx(other, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("family", ["qwen3", "qwen3_5", "qwen3_next"])
@pytest.mark.parametrize("kind", ["rl", "sft", "dpo"])
def test_the_gradient_of_a_step_is_that_of_one_process(kind, family, model_folders, tmp_path, group, worker, given):
    folder = model_folders(family)
    lines, config = work_of(kind, folder)
    config |= {"grad_accumulation_sequences": 1000} if kind == "rl" else {"batch_size": 1000}
    jobs = {name: job_params(folder, tmp_path, lines, kind, name=name, **config) for name in ("alone", "together")}
    _, told = run(jobs["alone"])
    run(jobs["together"], group)
    assert len(steps(told)) == 1
    assert any(task.answer is not None for task in given.tasks)
    alone, together = moments(jobs["alone"]), moments(jobs["together"])
    # A recurrence passes on how each batch rounds: its 32 bits are no nearer to 64 than this.
    assert float((alone - together).norm() / alone.norm()) < (1e-5 if family in HYBRIDS else 1e-6)


def test_a_killed_worker_changes_no_bit_and_is_told(model_folders, tmp_path, group, worker, given):
    folder = model_folders("qwen3")
    lines, config = work_of("rl", folder)
    expected, _ = run(job_params(folder, tmp_path, lines, name="whole", **config), group)

    def kill_in_the_next_share(number):
        if number == 1:
            given.on_next = lambda: os.kill(worker, signal.SIGKILL)

    found, told = run(job_params(folder, tmp_path, lines, name="killed", **config), group, kill_in_the_next_share)
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    warnings = [event.data["message"] for event in told if event.kind == "warning"]
    assert warnings == [
        "a training worker ended: it was killed (SIGKILL; the system does this when memory runs out); "
        "what it was computing is computed again"
    ]
    assert ready(group) != worker


def test_a_worker_that_hangs_is_killed(model_folders, tmp_path, group, worker, given, monkeypatch):
    monkeypatch.setattr(member_module, "_HUNG_S", 1.0)
    folder = model_folders("qwen3")
    lines, config = work_of("sft", folder)
    given.on_next = lambda: os.kill(worker, signal.SIGSTOP)
    _, told = run(job_params(folder, tmp_path, lines, "sft", **config), group)
    assert len(steps(told)) == 4
    assert [event.data["message"] for event in told if event.kind == "warning"] == [
        "a training worker ended: it made no progress for 1 s; what it was computing is computed again"
    ]
    assert ready(group) != worker


def test_without_a_worker_the_job_is_done_alone_with_the_same_bits(model_folders, tmp_path, group, worker, given):
    folder = model_folders("qwen3")
    lines, config = work_of("dpo", folder)
    expected, _ = run(job_params(folder, tmp_path, lines, "dpo", name="whole", **config), group)
    missing = StartedWorkers(2, 1, torch.device("cpu"))
    missing.close()
    given.tasks.clear()
    found, _ = run(job_params(folder, tmp_path, lines, "dpo", name="alone", **config), missing)
    assert given.tasks == []
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_a_closed_job_leaves_the_worker_free(model_folders, tmp_path, group, worker, given):
    folder = model_folders("qwen3")
    lines, config = work_of("rl", folder)
    job = TrainingJob(
        job_params(folder, tmp_path, lines, **config), cpu_bases().load({"name": "test", "path": str(folder)}), group
    )
    turns = job.run()
    while not given.tasks:
        next(turns)
    turns.close()
    _, told = run(job_params(folder, tmp_path, lines, name="next", **config), group)
    assert given.tasks[-1].answer is not None
    assert steps(told)


def test_a_job_that_goes_on_from_its_snapshot_ends_with_the_same_bits(model_folders, tmp_path, group, worker):
    folder = model_folders("qwen3")
    lines, config = work_of("rl", folder)
    expected, _ = run(job_params(folder, tmp_path, lines, name="whole", **config), group)
    params = job_params(folder, tmp_path, lines, name="stopped", **config)
    turns = TrainingJob(params, cpu_bases().load(params["base"]), group).run()
    while (event := next(turns)) is None or event.kind != "gradient_step":
        pass
    turns.close()
    found, told = run(params, group)
    assert len(steps(told)) > 1
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_a_worker_with_other_weights_fails_the_job_and_goes_on(model_folders, tmp_path, group, worker, given):
    """Its gradients would be those of another model."""
    folder = tmp_path / "base"
    shutil.copytree(model_folders("qwen3"), folder)
    base = cpu_bases().load({"name": "test", "path": str(folder)})
    weights = load_file(folder / "model.safetensors")
    weights["model.norm.weight"] *= 1.1
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    lines, config = work_of("sft", folder)
    with pytest.raises(EngineError, match=f"other weights in {folder} than the engine"):
        list(TrainingJob(job_params(folder, tmp_path, lines, "sft", **config), base, group).run())
    run(job_params(model_folders("qwen3"), tmp_path, lines, "sft", name="next", **config), group)
    assert given.tasks[-1].answer is not None
    assert group.pids() == [worker]


def test_a_worker_that_could_not_be_started_is_started_later(monkeypatch):
    """For want of processes or of memory, which others give back."""
    start, failures = StartedWorkers._start, [OSError(errno.EAGAIN, "Resource temporarily unavailable")]

    def failing_once(self, rank, connection):
        if failures:
            raise failures.pop()
        return start(self, rank, connection)

    monkeypatch.setattr(StartedWorkers, "_start", failing_once)
    group = StartedWorkers(2, 1, torch.device("cpu"))
    try:
        ready(group)
    finally:
        group.close()
    assert not failures


def sizes(sequences, shares) -> list[int]:
    return [len(build_forest([sequences[place] for place in share]).ids) for share in shares]


def test_shares_hold_every_sequence_once_and_are_about_equal():
    generator = np.random.default_rng(0)
    sequences = [
        each
        for number in range(8)
        for each in random_group(generator, 300, int(generator.integers(100, 900)), [64] * 4, group=number)
    ]
    for count in (1, 2, 3, 4):
        shares = share_out(sequences, count)
        assert sorted(place for share in shares for place in share) == list(range(len(sequences)))
        each = sizes(sequences, shares)
        assert max(each) < 1.3 * sum(each) / count
        assert shares == share_out(sequences, count)


def test_a_group_is_cut_only_where_computing_its_prompt_again_pays():
    generator = np.random.default_rng(0)
    one = random_group(generator, 300, 400, [400] * 8)
    halves = share_out(one, 2)
    assert [len(share) for share in halves] == [4, 4]
    assert sizes(one, halves) == [2000, 2000]
    two = [*one, *random_group(generator, 300, 400, [400] * 8, group=1)]
    assert share_out(two, 2) == [list(range(8)), list(range(8, 16))]
    assert share_out(one[:1], 3) == [[0], [], []]
