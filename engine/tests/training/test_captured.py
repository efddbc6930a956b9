"""Captured rollouts become trained tokens (art-0.5.23 4 and 5)."""

import re

import numpy as np
import pytest
import torch

from heddle_engine.errors import EngineError
from heddle_engine.model.decoder import NoLora
from heddle_engine.training.data.captured import merge_generations, train_once
from heddle_engine.training.data.sequences import Turn
from heddle_engine.training.data.turns import TurnResolver
from heddle_engine.training.packed.packed_forward import batch_logprobs, lay_out
from heddle_engine.training.rl_data import RlDataBuilder
from tests.training.builders import sequence
from tests.training.jobs_support import RL_CONFIG, cpu_bases, exact_choice, job_params, run_job, steps, trajectory

POLICY = "wandb-artifact:///local/p/m:step0"
VOCAB = 320


@pytest.fixture(scope="module")
def folder(model_folders):
    return model_folders("qwen3")


@pytest.fixture(scope="module")
def base(folder):
    return cpu_bases().resolve({"name": "test", "path": str(folder)})


def generation(prompt, ids, logprobs, place="chat_completions 0, choice 0", model=POLICY) -> dict:
    lists = {"prompt_token_ids": prompt, "token_ids": ids, "logprobs": logprobs}
    return {"model": model, "place": place, **lists, "truncated": False}


def rollout(index, reward, *generations, other_models=()) -> dict:
    captured = {"generations": list(generations), "other_models": list(other_models)}
    return {"group": 0, "index": index, "reward": reward, "histories": [], "captured": captured}


def trains(*turns) -> list[tuple[list[int], list[int]]]:
    """Ids and trained positions of each sequence that ``(prompt, sampled ids)`` make."""
    sequences = merge_generations(Turn(prompt, ids, [-1.0] * len(ids)) for prompt, ids in turns)
    train_once(sequences)
    return [(s.ids.tolist(), np.flatnonzero(s.trained).tolist()) for s in sequences if s.num_trained]


def test_turns_of_one_dialogue_are_one_sequence():
    """art-0.5.23 4.3: the tokens that the later prompt adds are context."""
    assert trains(([1, 2], [3]), ([1, 2, 3, 4], [5])) == [([1, 2, 3, 4, 5], [2, 4])]


def test_a_sub_agent_between_two_turns_does_not_part_them():
    """art-0.5.23 4.3: a turn goes on with the longest sequence that its prompt begins with, not with the last one."""
    turns = ([1, 2], [3]), ([9, 8], [7]), ([1, 2, 3, 4], [5]), ([9, 8, 7, 6], [5])
    assert trains(*turns) == [([1, 2, 3, 4, 5], [2, 4]), ([9, 8, 7, 6, 5], [2, 4])]


def test_a_regenerated_answer_is_a_sequence_of_its_own_and_only_its_new_tokens_train():
    """art-0.5.23 4.3: of two answers that share their first token, the second trains the rest."""
    assert trains(([1, 2], [3, 4]), ([1, 2], [3, 5])) == [([1, 2, 3, 4], [2, 3]), ([1, 2, 3, 5], [3])]


def test_two_equal_answers_to_one_prompt_train_one():
    """art-0.5.23 4.3: the dialogue goes on from either answer."""
    assert trains(([1], [3]), ([1], [3]), ([1, 3, 4], [5])) == [([1, 3, 4, 5], [1, 3])]


def test_a_rewritten_history_is_context_of_a_new_sequence():
    """art-0.5.23 4.3: the second prompt lacks token 3, so its copy of token 4 is not trained."""
    assert trains(([1, 2], [3, 4]), ([1, 2, 4, 5], [6])) == [([1, 2, 3, 4], [2, 3]), ([1, 2, 4, 5, 6], [4])]


def test_the_same_ids_after_another_prompt_are_another_path():
    """art-0.5.23 4.3: paths begin at the first token."""
    assert trains(([1], [3]), ([2], [3])) == [([1, 3], [1]), ([2, 3], [1])]


def test_merging_agrees_with_comparing_every_pair():
    """Merging compares digests instead of ids: on random forests of turns it agrees with the rule written out."""
    generator = np.random.default_rng(7)
    for _ in range(200):
        turns, known = [], [[0]]
        for _ in range(8):
            prompt = [
                *known[generator.integers(len(known))],
                *generator.integers(0, 2, generator.integers(0, 2)).tolist(),
            ]
            ids = generator.integers(0, 2, int(generator.integers(1, 3))).tolist()
            turns.append((prompt, ids))
            known.append(prompt + ids)
        assert trains(*turns) == plainly_merged(turns)


def plainly_merged(turns) -> list[tuple[list[int], list[int]]]:
    lines: list[tuple[list[int], list[int]]] = []
    for prompt, ids in turns:
        before = [line for line in lines if prompt[: len(line[0])] == line[0]]
        line = max(before, key=lambda candidate: len(candidate[0]), default=None)
        if line is None:
            line = ([], [])
            lines.append(line)
        line[0].extend(prompt[len(line[0]) :])
        line[1].extend(range(len(line[0]), len(line[0]) + len(ids)))
        line[0].extend(ids)
    taken: set[tuple[int, ...]] = set()
    result = []
    for line, sampled in lines:
        paths = [(place, tuple(line[: place + 1])) for place in sampled]
        trained = [place for place, path in paths if path not in taken]
        taken |= {path for _, path in paths}
        if trained:
            result.append((line, trained))
    return result


def build(base, *lines, **config):
    config = {**RL_CONFIG, "policy_names": [POLICY], **config}
    allowed = config["allow_training_without_logprobs"]
    resolver = TurnResolver(base.renderer, base.tokenizer, VOCAB, train_without_logprobs=allowed)
    builder = RlDataBuilder(resolver, config, 512)
    for _ in builder.read(enumerate(lines, start=1)):
        pass
    return builder.build(np.random.default_rng(0))


GOOD = rollout(0, 1.0, generation([1, 2], [3], [-1.0]))


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (
            rollout(1, 0.0, generation([1, 2], None, None, place="messages 0")),
            r"1 completion in 1 trajectory could not be trained: .*ids.*\(group 0, trajectory 1, messages 0\). "
            "Sample from this server",
        ),
        (rollout(1, 0.0, generation(None, [3], [-1.0])), "no token ids of its prompt"),
        (rollout(1, 0.0, generation([1], [3, 4], [-1.0, None])), "no log-probability for every sampled token"),
        (rollout(1, 0.0, generation([1], [3], None)), "set allow_training_without_logprobs"),
        (
            rollout(1, 0.0, generation([1], [3], [-1.0], model="wandb-artifact:///x/y/z"), other_models=["judge"]),
            r"1 trajectory could not be trained: none of the captured calls .*trajectory 1; asked were judge, wandb",
        ),
        (trajectory(0, 1, 0.0), "nothing was captured and there is no choice"),
    ],
)
def test_completions_that_cannot_be_trained_are_left_out_with_a_warning(base, bad, sentence):
    """art-0.5.23 5: a warning says which, why and the way out, and the other completions train."""
    data = build(base, GOOD, bad)
    assert [s.ids.tolist() for row in data.rows for s in row] == [[1, 2, 3]]
    assert data.counts["trajectories_untrainable"] == 1
    (warning,) = data.warnings
    assert re.search(sentence, warning), warning
    with pytest.raises(EngineError, match=r"No trajectory of this job can be trained although rewards differ\. 2 \w+"):
        build(base, bad, {**bad, "index": 2, "reward": 1.0})


def test_a_long_list_of_places_is_cut(base):
    """art-0.5.23 5: the warning counts all of them, and names the first five."""
    bad = [rollout(index, 0.0, generation([1], None, None)) for index in range(1, 9)]
    (warning,) = build(base, GOOD, *bad).warnings
    assert warning.startswith("8 completions in 8 trajectories could not be trained")
    assert "trajectory 5, chat_completions 0, choice 0; and 3 more)" in warning


def test_equal_rewards_are_no_failure_whatever_was_captured(base):
    """art-0.5.23 5: a group of equal rewards has nothing to learn, so its completions are not checked."""
    data = build(base, trajectory(0, 0, 0.0), trajectory(0, 1, 0.0))
    assert (data.rows, data.warnings) == ([], [])


def test_missing_logprobs_are_trained_when_allowed(base):
    """art-0.5.23 4.2."""
    lines = [rollout(i, float(i), generation([1, 2], [3 + i], None)) for i in range(2)]
    data = build(base, *lines, allow_training_without_logprobs=True)
    assert sum(map(len, data.rows)) == 2


def test_an_overlong_sequence_claims_no_paths(base):
    """art-0.5.23 4.3: the shorter answer that shares its first token trains it."""
    long = generation([1], [3] * 40, [-1.0] * 40)
    short = generation([1], [3, 4], [-1.0, -1.0])
    data = build(
        base, rollout(0, 1.0, long, short), rollout(1, 0.0, generation([1], [5], [-1.0])), packed_sequence_length=30
    )
    assert sorted(s.num_trained for row in data.rows for s in row) == [1, 2]
    assert data.counts["sequences_dropped_overlong"] == 1
    with pytest.raises(EngineError, match="longer than 30 tokens"):
        build(base, rollout(0, 1.0, long), rollout(1, 0.0, long), packed_sequence_length=30)


def test_ids_out_of_the_vocabulary_are_refused_by_place(base):
    with pytest.raises(EngineError, match="group 0, trajectory 1, responses 1, generation 0: token id 320 is not in"):
        build(base, rollout(1, 0.0, generation([1], [320], [-1.0], place="responses 1, generation 0")), GOOD)


def dialogue(base, generator) -> list[tuple[list[int], list[int], list[float]]]:
    """Two turns of random ids, with the base model's own log-probabilities."""
    turns, context = [], generator.integers(0, 300, 20).tolist()
    for _ in range(2):
        ids = generator.integers(0, 300, int(generator.integers(3, 9))).tolist()
        with torch.no_grad():
            batch = lay_out([sequence(context + ids, len(context))], base.decoder.device)
            logprobs, _ = batch_logprobs(base.decoder, batch, NoLora(), 1024)
        turns.append((context, ids, logprobs.tolist()))
        context = context + ids + generator.integers(0, 300, 5).tolist()
    return turns


def test_the_gradient_is_the_same_whether_rollouts_come_as_choices_or_captured(folder, tmp_path):
    """art-0.5.23 12.3: after one step on real gradients, also when a group has both kinds."""
    base = cpu_bases().load({"name": "test", "path": str(folder)})
    generator = np.random.default_rng(3)
    rollouts = [dialogue(base, generator) for _ in range(4)]
    as_choices = [
        trajectory(0, i, float(i), *(exact_choice(*turn) for turn in turns)) for i, turns in enumerate(rollouts)
    ]
    as_captured = [rollout(i, float(i), *(generation(*turn) for turn in turns)) for i, turns in enumerate(rollouts)]
    mixed = [*as_choices[:2], *as_captured[2:]]
    results = []
    for name, lines in {"choices": as_choices, "captured": as_captured, "mixed": mixed}.items():
        events, _ = run_job(
            job_params(folder, tmp_path, lines, name=name, policy_names=[POLICY], packed_sequence_length=512)
        )
        (metrics,) = steps(events)
        assert metrics["mismatch_max"] < 1e-4
        results.append((metrics["policy_loss"], metrics["grad_norm"], metrics["num_trainable_tokens"]))
    assert results[0][1] > 0
    for other in results[1:]:
        assert other == pytest.approx(results[0], rel=1e-6, abs=1e-6)
