"""The record of its trajectories and tokens that a job writes for people to read."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest

from heddle_engine.errors import EngineError
from heddle_engine.training import micro_batches
from heddle_engine.training.jobs import TrainingJob
from heddle_engine.training.saved.record_lines import whole_lines
from heddle_engine.training.saved.snapshots import Snapshots
from tests.training.jobs_support import cpu_bases, exact_choice, job_params, run_job, sampled_groups, trajectory

FILES = ("turns.jsonl", "trajectories.jsonl", "steps.jsonl")


@pytest.fixture(scope="module")
def folder(model_folders):
    return model_folders("qwen3")


@pytest.fixture(scope="module")
def groups(folder):
    return sampled_groups(folder)


def recorded(folder, tmp_path, lines, name="job", **config) -> dict:
    return {**job_params(folder, tmp_path, lines, name=name, **config), "record_dir": str(tmp_path / f"{name}-record")}


def read(params, name) -> list[dict]:
    return [line for _, line in whole_lines(Path(params["record_dir"]) / name)]


def trajectories(params) -> list[dict]:
    _, *lines = read(params, "trajectories.jsonl")
    return lines


def floats(text) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f4")


def user(content="say a number"):
    return {"message": {"role": "user", "content": content}}


def test_each_trained_token_has_what_its_step_found(folder, groups, tmp_path):
    params = recorded(folder, tmp_path, groups)
    _, result = run_job(params)
    lines, turns, steps = trajectories(params), read(params, "turns.jsonl"), read(params, "steps.jsonl")
    assert [(line["group"], line["index"]) for line in lines] == [(g, i) for g in range(3) for i in range(4)]
    assert [step["number"] for step in steps] == list(range(1, result["gradient_steps"] + 1))
    for number, line in enumerate(lines):
        (sequence,) = line["sequences"]
        choice = groups[number]["histories"][0]["items"][0]["choice"]
        tokens = turns[number]["turns"][0]["tokens"]
        assert np.frombuffer(base64.b64decode(tokens["ids"]), "<i4").tolist() == choice["token_ids"]
        sampled = [entry["logprob"] for entry in choice["logprobs"]]
        assert floats(tokens["sampled"]) == pytest.approx(sampled, abs=1e-6)
        step = steps[sequence["step"] - 1]
        (found,) = [s for s in step["sequences"] if (s["trajectory"], s["sequence"]) == (number, 0)]
        assert len(floats(found["logprobs"])) == sequence["trained_tokens"] == len(choice["token_ids"])
        difference = floats(found["logprobs"]) - floats(tokens["sampled"])
        assert floats(found["ratios"]) == pytest.approx(np.exp(difference), rel=1e-4)
        if sequence["step"] == 1:
            # In the first step the weights are still those that sampled.
            assert difference == pytest.approx(0, abs=1e-4)
    later = [floats(s["ratios"]) for step in steps[1:] for s in step["sequences"]]
    assert np.abs(np.concatenate(later) - 1).max() > 1e-4
    weighted = sum(abs(s["advantage"]) * s["weight"] * s["trained_tokens"] for line in lines for s in line["sequences"])
    total = sum(s["trained_tokens"] for line in lines for s in line["sequences"])
    assert weighted / total == pytest.approx(1)


def test_pieces_of_a_step_are_put_together_by_sequence(folder, groups, tmp_path, monkeypatch):
    """Where a long prompt is shared, pieces are in another order than sequences are in the row."""
    whole = recorded(folder, tmp_path, groups, name="whole", packed_sequence_length=None)
    run_job(whole)
    monkeypatch.setitem(micro_batches.TOKENS, "cpu", 40)
    monkeypatch.setitem(micro_batches.MOST_TOKENS, "cpu", 40)
    split = recorded(folder, tmp_path, groups, name="split", packed_sequence_length=None)
    run_job(split)
    (one,), (other,) = read(whole, "steps.jsonl"), read(split, "steps.jsonl")
    assert len(one["sequences"]) == 12
    for a, b in zip(one["sequences"], other["sequences"], strict=True):
        assert (a["trajectory"], a["sequence"]) == (b["trajectory"], b["sequence"])
        assert floats(a["logprobs"]) == pytest.approx(floats(b["logprobs"]), abs=1e-4)


def test_a_job_that_was_stopped_leaves_the_record_of_one_that_was_not(folder, groups, tmp_path, monkeypatch):
    monkeypatch.setattr(Snapshots, "due", lambda _: True)
    whole = recorded(folder, tmp_path, groups, name="whole")
    run_job(whole)
    stopped = recorded(folder, tmp_path, groups, name="stopped")
    running = TrainingJob(stopped, cpu_bases().load(stopped["base"])).run()
    done = 0
    while done < 2:
        event = next(running)
        done += event is not None and event.kind == "gradient_step"
    running.close()
    steps = Path(stopped["record_dir"]) / "steps.jsonl"
    # Half a line at the end, as a kill during a write leaves it.
    steps.write_bytes(steps.read_bytes() + steps.read_bytes()[:100])
    run_job(stopped)
    for name in FILES:
        assert (Path(stopped["record_dir"]) / name).read_bytes() == (Path(whole["record_dir"]) / name).read_bytes(), (
            name
        )
    assert sorted(file.name for file in Path(stopped["record_dir"]).iterdir()) == sorted(FILES)


def test_trajectories_that_are_dropped_say_why(folder, tmp_path):
    def answer(length=4):
        return exact_choice([1, 2], range(3, 3 + length), [-1.0] * length)

    unknown = answer()
    unknown["choice"]["logprobs"] = None

    lines = [
        trajectory(0, 0, 1.0, user(), answer()),
        trajectory(0, 1, 0.0, user(), answer(length=60)),
        trajectory(1, 0, 0.5, user("two"), answer()),
        trajectory(1, 1, 0.5, user("two"), answer()),
        trajectory(2, 0, 0.0, user("three"), unknown),
        trajectory(2, 1, 1.0, user("three")),
        trajectory(3, 0, 0.0, user("four"), answer()),
        trajectory(3, 1, 0.5, user("four"), answer()),
        trajectory(3, 2, 1.0, user("four"), answer()),
    ]
    params = recorded(folder, tmp_path, lines, packed_sequence_length=40)
    run_job(params)
    found = [[(d["cause"], d["place"]) for d in line["drops"]] for line in trajectories(params)]
    no_contrast, zero = [("no_contrast", None)], [("zero_advantage", None)]
    assert found == [
        [],
        [("overlong", None)],
        no_contrast,
        no_contrast,
        [("no_logprobs", "turn 0")],
        [("no_choice", None)],
        [],
        zero,
        [],
    ]
    assert read(params, "trajectories.jsonl")[0] == {
        "groups": 4,
        "groups_with_contrast": 3,
        "trajectories": 9,
        "trajectories_trained": 3,
        "trained_tokens": 12,
        "lowest_reward": 0.0,
        "highest_reward": 1.0,
        "drops": [
            {"cause": "overlong", "trajectories": 1},
            {"cause": "no_contrast", "trajectories": 2},
            {"cause": "no_logprobs", "trajectories": 1},
            {"cause": "no_choice", "trajectories": 1},
            {"cause": "zero_advantage", "trajectories": 1},
        ],
    }
    turns = read(params, "turns.jsonl")
    # A group that teaches nothing shows its sampled tokens all the same, none of them as trained.
    assert turns[2]["turns"][1]["tokens"]["count"] == 4
    assert "trained" not in turns[2]["turns"][1]["tokens"]
    assert turns[4]["turns"][1]["cause"] == "no_logprobs"
    assert [line["question"] for line in trajectories(params)][::2] == [
        *["say a number", "two", "three", "four", "four"]
    ]


@pytest.mark.parametrize("anyway", [False, True])
def test_a_completion_of_no_tokens_is_left_out_with_the_reason(folder, tmp_path, anyway):
    nothing, something = exact_choice([1, 2], [], []), exact_choice([1, 2], [3, 4], [-1.0, -1.0])
    lines = [trajectory(0, 0, 1.0, user(), nothing), trajectory(0, 1, 0.0, user(), something)]
    params = recorded(folder, tmp_path, lines, allow_training_without_logprobs=anyway)
    events, _ = run_job(params)
    assert [line["drops"] for line in trajectories(params)] == [[{"cause": "no_ids", "place": "turn 0"}], []]
    assert read(params, "turns.jsonl")[0]["turns"][1]["cause"] == "no_ids"
    (told,) = [
        event.data["message"] for event in events if event.kind == "warning" and "no token ids" in event.data["message"]
    ]
    assert "group 0, trajectory 0, turn 0" in told


def test_a_job_of_which_nothing_can_be_trained_still_says_why(folder, tmp_path):
    lines = [{**trajectory(0, i, float(i)), "histories": [{"items": [], "tools": None}]} for i in range(2)]
    params = recorded(folder, tmp_path, lines)
    with pytest.raises(EngineError, match="No trajectory"):
        run_job(params)
    drops = [line["drops"] for line in trajectories(params)]
    assert drops == [[{"cause": "empty", "place": None}]] * 2


def test_questions_are_equal_whatever_was_answered(folder, tmp_path):
    tool = [{"type": "function", "function": {"name": "look_up"}}]
    answer = exact_choice([1, 2], [3, 4], [-1.0, -1.0])
    lines = [
        trajectory(0, 0, 1.0, user(), answer),
        trajectory(0, 1, 0.0, user(), exact_choice([1, 2], [5], [-1.0]), user("and?"), answer),
        trajectory(0, 2, 0.0, user("another"), answer),
        trajectory(0, 3, 0.0, user(), answer, tools=tool),
    ]
    params = recorded(folder, tmp_path, lines)
    run_job(params)
    first, second, third, fourth = [line["question_digest"] for line in trajectories(params)]
    assert first == second
    assert len({first, third, fourth}) == 3


def generation(place, prompt, ids, model="me"):
    known = {"prompt_token_ids": prompt, "token_ids": ids, "logprobs": [-1.0] * len(ids)}
    return {"model": model, "place": place, **known, "truncated": False}


def rollout(index, reward, *generations):
    captured = {"generations": list(generations), "other_models": []}
    return {"group": 0, "index": index, "reward": reward, "histories": [], "captured": captured}


def test_captured_calls_are_shown_with_what_each_prompt_adds(folder, tmp_path):
    lines = [
        rollout(0, 1.0, generation("one", [1, 2], [3, 4]), generation("two", [1, 2, 3, 4, 5], [6])),
        rollout(
            1, 0.0, generation("one", [1, 2], [7]), generation("same", [1, 2], [7]), generation("x", [1], [2], "it")
        ),
    ]
    params = recorded(folder, tmp_path, lines, policy_names=["me"])
    run_job(params)
    first, second = [line["turns"] for line in read(params, "turns.jsonl")]
    contexts = [turn.get("tokens_of_context") for turn in first]
    assert contexts == [2, None, 1, None]
    assert [turn["place"] for turn in first if "place" in turn] == ["one", "two"]
    marks = [base64.b64decode(turn["tokens"]["trained"]) for turn in first if "place" in turn]
    assert marks == [b"\x01\x01", b"\x01"]
    assert {turn["place"]: turn["cause"] for turn in second if "place" in turn} == {
        "one": None,
        "same": "repeated",
        "x": "other_model",
    }


def test_a_captured_call_whose_sequence_is_too_long_says_so(folder, tmp_path):
    long = generation("long", [1, 2], list(range(3, 63)))
    lines = [rollout(0, 1.0, generation("short", [5], [6]), long), rollout(1, 0.0, generation("one", [1, 2], [7]))]
    params = recorded(folder, tmp_path, lines, policy_names=["me"], packed_sequence_length=40)
    run_job(params)
    first, _ = [line["turns"] for line in read(params, "turns.jsonl")]
    assert {turn["place"]: turn["cause"] for turn in first if "place" in turn} == {"short": None, "long": "overlong"}


def test_a_record_that_cannot_be_written_is_a_warning(folder, groups, tmp_path):
    params = recorded(folder, tmp_path, groups)
    Path(params["record_dir"]).write_text("in the way")
    events, result = run_job(params)
    assert result["gradient_steps"] > 1
    (warning,) = [event.data["message"] for event in events if event.kind == "warning"]
    assert warning.startswith("what this job trains, token by token, cannot be shown from here on: ")


def test_a_job_that_is_asked_for_no_record_writes_none(folder, groups, tmp_path):
    params = job_params(folder, tmp_path, groups)
    run_job(params)
    assert not list(tmp_path.rglob("turns.jsonl"))


def test_a_torn_line_ends_the_whole_ones(tmp_path):
    file = tmp_path / "lines.jsonl"
    good = b"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a {}\n"
    file.write_bytes(good + good.replace(b"{}", b"{ ") + good)
    assert [json.dumps(value) for _, value in whole_lines(file)] == ["{}"]
