"""Trajectories become tokens: the ids that are used, and those that are trained (training-api 7.1, engine 4.5)."""

import json
import math
import shutil

import numpy as np
import pytest

from heddle_engine.errors import EngineError
from heddle_engine.text.render import Renderer
from heddle_engine.text.sandbox import Sandbox
from heddle_engine.text.tokenizer import TextTokenizer
from heddle_engine.training.data.sequences import Turn, merge_turns
from heddle_engine.training.data.turns import TurnResolver
from heddle_engine.training.rl_data import RlDataBuilder
from tests.models import byte_tokenizer
from tests.text.spaced import save_spaced_tokenizer
from tests.training.jobs_support import RL_CONFIG, cpu_bases, exact_choice, trajectory

VOCAB = 320


@pytest.fixture(scope="module")
def base(model_folders):
    return cpu_bases().resolve({"name": "test", "path": str(model_folders("qwen3"))})


@pytest.fixture
def resolver(base):
    return TurnResolver(base.renderer, base.tokenizer, VOCAB, train_without_logprobs=False)


def user(text="hi"):
    return {"message": {"role": "user", "content": text}}


def text_choice(content, tokens=None, logprobs=None, **fields):
    """A choice without ids; ``tokens`` are the token strings in its logprobs."""
    entries = tokens and [{"token": t, "logprob": p} for t, p in zip(tokens, logprobs, strict=True)]
    empty = {"token_ids": None, "prompt_token_ids": None, "logprobs": entries, "ledger": None}
    message = {"role": "assistant", "content": content}
    return {"choice": {"message": message, "finish_reason": "stop", **empty, **fields}}


def resolve(resolver, *items, tools=None):
    return resolver.resolve({"items": list(items), "tools": tools}, "group 0, trajectory 0")


def test_ids_of_the_choice_are_used_as_they_are(resolver):
    (turn,) = resolve(resolver, user(), exact_choice([1, 2], [3, 4], [-0.5, -0.25]))
    assert turn == Turn([1, 2], [3, 4], [-0.5, -0.25])
    assert resolver.counts["turns_choice_ids"] == 1


def test_a_prompt_without_ids_is_rendered_as_one_that_was_not_sent(resolver):
    (turn,) = resolve(resolver, user("hi"), exact_choice([], [3, 4], [-0.5, -0.25]))
    (absent,) = resolve(resolver, user("hi"), exact_choice([], [3, 4], [-0.5, -0.25], prompt_token_ids=None))
    assert turn == absent
    assert turn.prompt_ids


def test_a_picture_in_a_prompt_is_refused_by_its_place(resolver):
    picture = {"message": {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}}
    asked = resolve(resolver, user(), exact_choice([1, 2], [3, 4], [-0.5, -0.25]), picture)
    assert len(asked) == 1
    with pytest.raises(EngineError, match=r"^group 0, trajectory 0, turn 1: .*'image_url' is not supported") as refused:
        resolve(resolver, user(), exact_choice([1, 2], [3, 4], [-0.5, -0.25]), picture, text_choice("the"))
    assert refused.value.param == "trajectory_groups"


def test_the_ledger_wins_and_drift_is_counted(resolver):
    ledger = {"prompt_token_ids": [1, 2], "token_ids": [3, 5, 6], "logprobs": [-1.0, -2.0, -3.0]}
    (turn,) = resolve(resolver, user(), exact_choice([1, 2], [3, 4], [-0.5, -0.25], ledger=ledger))
    assert turn == Turn([1, 2], [3, 5, 6], [-1.0, -2.0, -3.0])
    assert resolver.counts["turns_ledger"] == 1
    assert resolver.counts["turns_drifted"] == 1
    assert resolver.counts["tokens_drifted"] == 2


def test_the_ledger_serves_a_choice_that_lost_its_ids(resolver):
    ledger = {"prompt_token_ids": [1, 2], "token_ids": [3], "logprobs": [-1.0]}
    (turn,) = resolve(resolver, user(), text_choice("x", ledger=ledger))
    assert turn == Turn([1, 2], [3], [-1.0])
    assert resolver.counts["turns_drifted"] == 0


def test_token_id_strings_and_a_rendered_prompt(resolver, base):
    (turn,) = resolve(resolver, user("hi"), text_choice("the", ["token_id:7", "token_id:9"], [-1.0, -2.0]))
    assert (turn.token_ids, turn.logprobs) == ([7, 9], [-1.0, -2.0])
    assert base.tokenizer.decode(turn.prompt_ids) == "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
    assert resolver.counts["turns_token_id_strings"] == 1


def test_a_number_too_long_for_any_token_is_a_text(resolver):
    (turn,) = resolve(resolver, user("hi"), text_choice("x", ["token_id:" + "9" * 5000], [-1.0]))
    assert not turn.trained
    assert resolver.counts["turns_retokenized"] == 1


def test_a_sampled_spelling_is_kept_when_later_prompts_are_rendered(resolver, base):
    """engine 4.5: text is not decoded and encoded again, so `the`, sampled letter by letter, stays three tokens."""
    letters = [base.tokenizer.encode(c)[0] for c in "the"]
    assert base.tokenizer.encode("the") != letters
    end = base.tokenizer.token_to_id("<|im_end|>")
    spelled = [f"token_id:{i}" for i in [*letters, end]]
    turns = resolve(
        resolver,
        user(),
        text_choice("the", spelled, [-1.0] * 4),
        user("more"),
        text_choice("a", ["token_id:5"], [-1.0]),
    )
    (merged,) = merge_turns(turns)
    start = len(turns[0].prompt_ids)
    assert merged.ids[start : start + 4].tolist() == [*letters, end]
    # The template writes an end of turn too: it must be there, and be trained, only once.
    assert merged.ids[start + 3 :].tolist().count(end) == 2  # the assistant's, and the user's after it
    assert merged.trained.sum() == 5


def test_literal_token_strings_become_their_ids(resolver, base):
    strings = [" the", "in", "<|im_end|>"]
    (turn,) = resolve(resolver, user(), text_choice(" thein", strings, [-1.0, -2.0, -3.0]))
    assert turn.token_ids == [base.tokenizer.encode(s)[0] for s in strings]
    assert turn.logprobs == [-1.0, -2.0, -3.0]
    assert resolver.counts["turns_retokenized"] == 1


def test_strings_that_are_no_tokens_of_ours_lose_their_logprobs(resolver):
    (turn,) = resolve(resolver, user(), text_choice("zq xw", ["zq", " xw"], [-1.0, -2.0]))
    assert all(math.isnan(p) for p in turn.logprobs)
    assert not turn.trained
    assert resolver.counts["tokens_drifted"] == 2


def letters_of_bytes(base, text):
    """Ids and spellings of the bytes of ``text``, one token each."""
    ids = [next(i for i in range(256) if base.tokenizer.token_bytes(i) == bytes([byte])) for byte in text.encode()]
    return ids, [base.tokenizer.decode([token_id]) for token_id in ids]


@pytest.mark.parametrize("end", [["<|im_end|>"], []])
def test_tokens_that_hold_parts_of_a_character_are_found_in_the_message(resolver, base, end):
    ids, strings = letters_of_bytes(base, "xé🙂")
    assert "\ufffd" in strings
    ids, strings = [*ids, *(base.tokenizer.token_to_id(e) for e in end)], [*strings, *end]
    logprobs = [-0.5 * (i + 1) for i in range(len(ids))]
    (turn,) = resolve(resolver, user(), text_choice("xé🙂", strings, logprobs))
    assert (turn.token_ids, turn.logprobs) == (ids, logprobs)
    assert resolver.counts["tokens_drifted"] == 0


def test_the_replacement_character_is_never_taken_for_the_token_it_stands_for(model_folders, tmp_path):
    """Large vocabularies have a token for U+FFFD itself, and a torn character has the same spelling."""
    vocab = byte_tokenizer(VOCAB)
    spec = json.loads(vocab.to_str())
    first, second, third = "ï¿½"  # the alphabet's symbols for the bytes EF BF BD
    spec["model"]["vocab"] |= {first + second: 316, first + second + third: 317}
    spec["model"]["merges"] += [[first, second], [first + second, third]]
    spec["added_tokens"] = [token for token in spec["added_tokens"] if token["id"] < 316]
    shutil.copytree(model_folders("qwen3"), tmp_path / "model")
    (tmp_path / "model" / "tokenizer.json").write_text(json.dumps(spec))
    base = cpu_bases().resolve({"name": "test", "path": str(tmp_path / "model")})
    assert base.tokenizer.encode("\ufffd") == [317]
    resolver = TurnResolver(base.renderer, base.tokenizer, VOCAB, train_without_logprobs=False)
    ids, strings = letters_of_bytes(base, "é")
    (turn,) = resolve(resolver, user(), text_choice("é", strings, [-1.0, -2.0]))
    assert (turn.token_ids, turn.logprobs) == (ids, [-1.0, -2.0])
    (other,) = resolve(resolver, user(), text_choice("e", strings, [-1.0, -2.0]))
    assert 317 not in other.token_ids
    assert not other.trained


BRACKETS = """\
{{- '<s>' }}{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]
{%- else %} {{ m.content }}</s>{% endif %}{% endfor %}"""


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("in_front", ["always", "first"])
def test_spellings_of_a_tokenizer_that_puts_a_space_before_a_text_are_found_in_the_message(alone, in_front, tmp_path):
    """Of such a tokenizer ` the` by itself is encoded with two spaces, and decoded by itself, as by vLLM, with none."""
    tokenizer = TextTokenizer(save_spaced_tokenizer(tmp_path, BRACKETS, in_front))
    renderer = Renderer(tmp_path, tokenizer, Sandbox())
    resolver = TurnResolver(renderer, tokenizer, tokenizer.vocab_size, train_without_logprobs=False)
    asked, answer = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "the rain then"}
    [span] = renderer.spans([asked, answer])
    spell = (lambda i: tokenizer.decode([i])) if alone else (lambda i: tokenizer.token_bytes(i).decode())
    strings, logprobs = [spell(i) for i in span.token_ids], [-0.5 * (i + 1) for i in range(len(span.token_ids))]
    (turn,) = resolve(resolver, user(), text_choice("the rain then", strings, logprobs))
    assert (turn.token_ids, turn.logprobs) == (span.token_ids, logprobs)
    (other,) = resolve(resolver, user(), text_choice("the rain now", strings, logprobs))
    assert not other.trained


def test_a_choice_without_logprobs_is_trained_only_when_allowed(base):
    item = exact_choice([1, 2], [3, 4], [])
    item["choice"]["logprobs"] = None
    for allowed in (False, True):
        resolver = TurnResolver(base.renderer, base.tokenizer, VOCAB, allowed)
        (turn,) = resolve(resolver, user(), item)
        assert turn.trained is allowed
        assert resolver.counts["turns_without_logprobs"] == 1


@pytest.mark.parametrize("missing", [None, float("nan"), -9999.0])
def test_single_missing_logprobs_are_unknown_and_still_trained(resolver, missing):
    (turn,) = resolve(resolver, user(), exact_choice([1, 2], [3, 4], [-0.5, missing]))
    assert turn.trained
    assert math.isnan(turn.logprobs[1])


def test_a_text_only_turn_ends_with_its_end_of_turn(base):
    resolver = TurnResolver(base.renderer, base.tokenizer, VOCAB, train_without_logprobs=True)
    (turn,) = resolve(resolver, user(), text_choice("in the"))
    assert base.tokenizer.decode(turn.token_ids) == "in the<|im_end|>"


@pytest.mark.parametrize("bad", [-1, 320, 10**9])
@pytest.mark.parametrize("field", ["prompt", "completion"])
def test_foreign_ids_are_refused_by_name(resolver, bad, field):
    choice = exact_choice([bad, 2], [3], [-1.0]) if field == "prompt" else exact_choice([1], [bad], [-1.0])
    with pytest.raises(EngineError, match=rf"group 0, trajectory 0, turn 1: token id {bad} is not in .*0 to 319"):
        resolve(resolver, user(), exact_choice([1], [2], [-1.0]), choice)


def test_lengths_must_agree(resolver):
    with pytest.raises(EngineError, match="turn 0: 2 token ids but 1 log-prob"):
        resolve(resolver, user(), exact_choice([1], [2, 3], [-1.0]))


def test_turns_merge_while_the_prompt_repeats_them():
    """Text of tools and users between completions is context only."""
    turns = [Turn([1, 2], [3, 4], [-1.0, -2.0]), Turn([1, 2, 3, 4, 5, 6], [7], [-3.0])]
    (merged,) = merge_turns(turns)
    assert merged.ids.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert merged.trained.tolist() == [False, False, True, True, False, False, True]
    np.testing.assert_equal(merged.logprobs, [np.nan, np.nan, -1.0, -2.0, np.nan, np.nan, -3.0])


def test_a_rewritten_history_starts_a_new_sequence():
    """engine 4.5: the template dropped the reasoning (token 3) from the second prompt."""
    first, second = merge_turns([Turn([1, 2], [3, 4], [-1.0, -2.0]), Turn([1, 2, 4, 5], [6], [-3.0])])
    assert (first.ids.tolist(), first.trained.tolist()) == ([1, 2, 3, 4], [False, False, True, True])
    assert (second.ids.tolist(), second.trained.tolist()) == ([1, 2, 4, 5, 6], [False] * 4 + [True])


def test_untrained_turns_are_context_and_leave_no_sequence_of_their_own():
    assert merge_turns([Turn([1], [2], [-1.0], trained=False)]) == []


def test_the_very_first_token_has_no_context_to_be_predicted_from():
    (merged,) = merge_turns([Turn([], [1, 2], [-1.0, -1.0])])
    assert merged.trained.tolist() == [False, True]


def build(base, *lines, **config):
    resolver = TurnResolver(base.renderer, base.tokenizer, VOCAB, train_without_logprobs=False)
    builder = RlDataBuilder(resolver, {**RL_CONFIG, **config}, 512)
    for _ in builder.read(enumerate(lines, start=1)):
        pass
    return builder.build(np.random.default_rng(0))


def short(reward, group=0, index=0, length=4):
    return trajectory(group, index, reward, user(), exact_choice([1, 2], range(3, 3 + length), [-1.0] * length))


def test_a_split_trajectory_shares_its_weight_over_its_sequences(base):
    split = trajectory(
        0, 1, 1.0, user(), exact_choice([1, 2], [3, 4], [-1.0] * 2), exact_choice([1, 2, 4], [5, 6], [-1.0] * 2)
    )
    data = build(base, short(0.0), split)
    sequences = [s for row in data.rows for s in row]
    assert sorted(s.trajectory for s in sequences) == [0, 1, 1]
    assert len({s.weight for s in sequences}) == 1  # four trained tokens on both sides


def test_groups_that_teach_nothing_are_dropped_and_reported(base):
    data = build(base, short(0.5, 0, 0), short(0.5, 0, 1), short(0.7, 1, 0))
    assert data.rows == []
    assert data.counts["groups"] == 2
    assert data.counts["groups_of_one"] == 1
    assert data.counts["groups_trainable"] == 0
    assert data.counts["trajectories_zero_advantage"] == 3


def test_overlong_sequences_are_dropped_with_a_warning(base):
    data = build(base, short(1.0, length=40), short(0.0, index=1), packed_sequence_length=30)
    assert data.counts["sequences_dropped_overlong"] == 1
    assert data.warnings == ["1 of 2 sequences are longer than 30 tokens and were dropped"]
    assert sum(map(len, data.rows)) == 1


def test_truncated_completions_are_counted(base):
    cut = short(1.0)
    cut["histories"][0]["items"][1]["choice"]["finish_reason"] = "length"
    assert build(base, cut, short(0.0, index=1)).counts["turns_truncated"] == 1


def test_additional_histories_are_trained_and_named_in_errors(base):
    line = short(1.0)
    line["histories"].append({"items": [exact_choice([9], [8, 7], [-1.0, -1.0])], "tools": None})
    assert build(base, line, short(0.0, index=1)).counts["sequences"] == 3
    line["histories"][1]["items"][0]["choice"]["token_ids"] = [8, 999]
    with pytest.raises(EngineError, match="group 0, trajectory 0, additional history 0, turn 0: token id 999"):
        build(base, line, short(0.0, index=1))


@pytest.mark.parametrize("reward", [float("nan"), float("inf")])
def test_a_reward_that_is_no_number_is_refused(base, reward):
    with pytest.raises(EngineError, match=f"group 0, trajectory 0: reward {reward}"):
        build(base, short(reward))
