"""Every sampling parameter, on logits for which the outcome is known."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
import torch

from heddle_engine.errors import EngineError
from heddle_engine.serving import truncation
from heddle_engine.serving.sampler import Sampler, choice_seed, inverse_cdf, likeliest, uniforms
from heddle_engine.serving.sampling import SamplingParams
from heddle_engine.serving.truncation import Truncation

VOCAB = 300
CPU = torch.device("cpu")


@dataclass
class Row:
    params: SamplingParams
    ids: list = field(default_factory=lambda: [1, 2])
    prompt_length: int = 2
    end_ids: frozenset = frozenset({9})
    constraint: None = None

    @property
    def seed(self):
        return self.params.seed


def params(**wire):
    return SamplingParams.from_wire(wire, VOCAB)


def draw(logits, count=4000, ids=(1, 2), prompt_length=2, **wire):
    """Tokens sampled for `count` rows with the same logits, each with a seed of its own."""
    rows = [Row(params(seed=str(i), **wire), list(ids), prompt_length) for i in range(count)]
    return Sampler(rows, VOCAB, CPU).draw(logits.expand(count, -1)).read().tokens


def peaked(**values):
    """Logits of −10, except those that are given: peaked(t5=2.0)."""
    logits = torch.full((1, VOCAB), -10.0)
    for name, value in values.items():
        logits[0, int(name[1:])] = value
    return logits


def shares(tokens):
    return {token: tokens.count(token) / len(tokens) for token in set(tokens)}


def test_samples_follow_the_softmax():
    found = shares(draw(peaked(t5=math.log(6), t130=math.log(3), t299=math.log(1)), count=20000))
    assert found[5] == pytest.approx(0.6, abs=0.02)
    assert found[130] == pytest.approx(0.3, abs=0.02)
    assert found[299] == pytest.approx(0.1, abs=0.01)


def test_temperature_sharpens():
    found = shares(draw(peaked(t5=1.0, t6=0.0), temperature=0.5))
    assert found[5] == pytest.approx(1 / (1 + math.exp(-2)), abs=0.03)


def test_zero_temperature_is_greedy():
    assert set(draw(peaked(t5=1.0, t6=0.999), count=50, temperature=0)) == {5}


@pytest.mark.parametrize(("rows", "vocab"), [(64, 2048), (64, 2000), (1, 2048)])
def test_the_likeliest_token_is_the_first_of_the_largest_however_many_logits_there_are(rows, vocab):
    logits = torch.randn(rows, vocab, generator=torch.Generator().manual_seed(1)).round(decimals=1)
    # Equal ones in one chunk, in several, at both ends; all equal; some that are not finite.
    for row, places in enumerate([(5, 6), (127, 128, 1000), (0, vocab - 1), range(vocab), (vocab - 1,)][:rows]):
        logits[row, list(places)] = 9.0
    if rows > 8:
        logits[6, 700], logits[6, 900:] = math.inf, math.nan
        logits[7] = -math.inf
    assert likeliest(logits).tolist() == logits.argmax(-1).tolist()


def test_top_k_keeps_the_k_likeliest():
    assert set(draw(peaked(t5=1.0, t6=0.9, t7=0.8), top_k=2)) == {5, 6}


def test_top_p_keeps_the_smallest_set_that_reaches_p():
    logits = peaked(t5=math.log(0.5), t6=math.log(0.3), t7=math.log(0.2))
    assert set(draw(logits, top_p=0.7)) == {5, 6}
    assert set(draw(logits, top_p=0.45)) == {5}
    assert set(draw(logits, top_p=0.85)) == {5, 6, 7}


def test_min_p_is_relative_to_the_likeliest():
    assert set(draw(peaked(t5=math.log(0.6), t6=math.log(0.3), t7=math.log(0.1)), min_p=0.25)) == {5, 6}


class CountedMap(dict):
    """Counts how often its entries are gone through."""

    reads = 0

    def __iter__(self):
        self.reads += 1
        return super().__iter__()

    def items(self):
        self.reads += 1
        return super().items()


def test_biases_are_read_once_however_many_choices_a_batch_has_and_however_often_it_changes():
    """A map of all tokens, read for each row whenever another joins, would hold up the rows of everybody."""
    asked = replace(params(temperature=0), logit_bias=CountedMap({8: 100.0}))
    rows = [Row(asked) for _ in range(4)]
    for _ in range(3):
        assert Sampler(rows, VOCAB, CPU).draw(peaked(t5=1.0).expand(4, -1)).read().tokens == [8] * 4
    assert asked.logit_bias.reads == 1


def test_bias_and_allowed_tokens():
    assert set(draw(peaked(t5=1.0), count=20, logit_bias={"8": 100})) == {8}
    assert set(draw(peaked(t5=1.0), count=500, allowed_token_ids=[20, 21])) == {20, 21}


def reference_cut(weights, top_k, top_p, min_p):
    """One row cut by min_p, top_k and top_p in the plain way, which sorts all weights."""
    least = min_p * max(weights)
    weights = [w if w >= least else 0.0 for w in weights]
    order = sorted(range(len(weights)), key=lambda token: -weights[token])[: top_k or None]
    total, before = sum(weights[token] for token in order), 0.0
    kept = [0.0] * len(weights)
    for token in order:
        if top_p < 1 and before >= top_p * total:
            break
        kept[token] = weights[token]
        before += weights[token]
    return kept


@pytest.mark.parametrize("spread", [0.0, 0.3, 2.0, 8.0], ids=["flat", "wide", "usual", "peaked"])
@pytest.mark.parametrize("coarse", [False, True], ids=["all-different", "many-equal"])
@pytest.mark.parametrize("leading", [{"cpu": 256}, {}], ids=["selected", "sorted"])
def test_truncation_is_what_sorting_everything_gives(leading, spread, coarse, monkeypatch):
    """On a CPU what stays is selected; on a GPU weights are sorted."""
    monkeypatch.setattr(truncation, "_LEADING", leading)
    vocab = 3000
    asked = [{"top_k": k, "top_p": p, "min_p": m} for k in (0, 1, 7, 2000) for p in (1, 0.95, 0.31) for m in (0, 0.1)]
    asked.append({"temperature": 0, "top_p": 0.5})
    logits = torch.randn(len(asked), vocab, generator=torch.Generator().manual_seed(1)) * spread
    weights = torch.softmax(logits.round() if coarse else logits, -1)
    found = Truncation([SamplingParams.from_wire(wire, vocab) for wire in asked], CPU).apply(weights.clone())
    for wire, before, after in zip(asked, weights.tolist(), found.tolist(), strict=True):
        if "temperature" not in wire:
            before = reference_cut(before, **wire)
        # Rounding may put one token at the edge of top_p on either side; among equal tokens, another may be kept.
        differing = [token for token in range(vocab) if before[token] != after[token]]
        assert len(differing) <= 1, (wire, differing)


def test_only_rows_that_ask_are_cut_and_no_vocabulary_is_sorted(monkeypatch):
    monkeypatch.setattr(torch, "sort", None)
    weights = torch.softmax(torch.randn(6, 5000, generator=torch.Generator().manual_seed(2)) * 8, -1)
    weights[4] = 1 / 5000
    wires = [{}, {"top_p": 0.9}, {"temperature": 0, "top_k": 3}, {"top_k": 40}, {"top_p": 0.9}, {"min_p": 0.2}]
    found = Truncation([SamplingParams.from_wire(wire, 5000) for wire in wires], CPU).apply(weights.clone())
    assert [bool((row == 0).any()) for row in found] == [False, True, False, True, True, True]
    assert torch.equal(found[[0, 2]], weights[[0, 2]])
    assert (found[3] > 0).sum() == 40
    assert (found[4] > 0).sum() == pytest.approx(4500, abs=1)


def test_a_row_that_is_not_finite_is_cut_without_failing_the_others():
    weights = torch.softmax(torch.randn(2, 5000, generator=torch.Generator().manual_seed(3)), -1)
    damaged = torch.stack([torch.full((5000,), -torch.nan), weights[1]])
    for wire in ({"top_p": 0.9}, {"top_k": 2000}, {"top_k": 2000, "top_p": 0.9}):
        cut = Truncation([SamplingParams.from_wire(wire, 5000)] * 2, CPU)
        assert torch.equal(cut.apply(damaged.clone())[1], cut.apply(weights.clone())[1])


def test_only_rows_that_are_not_greedy_are_drawn_each_as_it_is_alone(monkeypatch):
    drawn = []
    monkeypatch.setattr(
        f"{Sampler.__module__}.inverse_cdf", lambda *args: drawn.append(len(args[0])) or inverse_cdf(*args)
    )
    wires = [{"temperature": 0}, {}, {"temperature": 0}, {"temperature": 0.5, "top_p": 0.9}, {"temperature": 2}]
    rows = [Row(params(seed=str(i), **wire)) for i, wire in enumerate(wires)]
    logits = torch.randn(5, VOCAB, generator=torch.Generator().manual_seed(4))
    together = Sampler(rows, VOCAB, CPU).draw(logits).read().tokens
    assert drawn == [3]
    alone = [Sampler([row], VOCAB, CPU).draw(logits[i : i + 1]).read().tokens[0] for i, row in enumerate(rows)]
    assert together == alone
    assert drawn == [3, 1, 1, 1]


def test_only_penalised_rows_are_counted(monkeypatch):
    counted, real = [], torch.bincount
    monkeypatch.setattr(torch, "bincount", lambda *args, **named: counted.append(args) or real(*args, **named))
    rows = [Row(params(temperature=0)) for _ in range(5)] + [Row(params(temperature=0, presence_penalty=2))]
    sampler = Sampler(rows, VOCAB, CPU)
    assert len(counted) == 2
    logits = peaked(t5=1.0, t6=0.5).expand(6, -1)
    assert [sampler.draw(logits).read().tokens for _ in range(2)] == [[5] * 6, [5] * 5 + [6]]


def test_min_tokens_does_not_bar_the_end_when_no_other_token_is_allowed():
    assert set(draw(peaked(t5=1.0), 20, allowed_token_ids=[9], min_tokens=3)) == {9}
    assert set(draw(peaked(t9=9.0), 20, allowed_token_ids=[9, 7], min_tokens=3)) == {7}


def test_presence_penalty_counts_output_tokens_once():
    logits = peaked(t5=1.0, t6=0.2)
    assert draw(logits, 1, ids=[1, 5], prompt_length=2, presence_penalty=1, temperature=0) == [5]
    assert draw(logits, 1, ids=[1, 5, 5], prompt_length=1, presence_penalty=0.7, temperature=0) == [5]
    assert draw(logits, 1, ids=[1, 5], prompt_length=1, presence_penalty=1, temperature=0) == [6]


def test_frequency_penalty_counts_every_occurrence():
    logits = peaked(t5=1.0, t6=0.2)
    assert draw(logits, 1, ids=[1, 5], prompt_length=1, frequency_penalty=0.5, temperature=0) == [5]
    assert draw(logits, 1, ids=[1, 5, 5], prompt_length=1, frequency_penalty=0.5, temperature=0) == [6]


@pytest.mark.parametrize("penalty", [1e-6, 1e6])
@pytest.mark.parametrize("temperature", [0, 2e-5, 2])
def test_a_mask_holds_under_the_hardest_repetition_penalty(penalty, temperature):
    logits = peaked(t5=80.0, t6=-80.0, t7=90.0)
    fields = {"repetition_penalty": penalty, "temperature": temperature, "allowed_token_ids": [5, 6]}
    assert set(draw(logits, 50, ids=[5, 6, 7], prompt_length=3, **fields)) <= {5, 6}


def test_repetition_penalty_sees_the_prompt_and_both_signs():
    assert draw(peaked(t5=2.0, t6=1.5), 1, ids=[5], prompt_length=1, repetition_penalty=2, temperature=0) == [6]
    assert draw(peaked(t5=-1.0, t6=-1.5), 1, ids=[5], prompt_length=1, repetition_penalty=2, temperature=0) == [6]


def test_penalties_follow_what_is_sampled():
    sampler = Sampler([Row(params(temperature=0, presence_penalty=2))], VOCAB, CPU)
    logits = peaked(t5=1.0, t6=0.5, t7=0.2)
    assert [sampler.draw(logits).read().tokens[0] for _ in range(3)] == [5, 6, 7]


def test_min_tokens_bars_the_end():
    row = Row(params(temperature=0, min_tokens=2))
    sampler = Sampler([row], VOCAB, CPU)
    found = []
    for _ in range(3):
        found += sampler.draw(peaked(t9=3.0, t5=1.0)).read().tokens
        row.ids.append(found[-1])
    assert found == [5, 5, 9]


def test_logprobs_are_raw():
    """engine 4.5: neither temperature nor cut-offs nor bias change the reported log-probabilities."""
    logits = peaked(t5=1.0, t6=0.5)
    expected = torch.log_softmax(logits[0].double(), -1)
    row = Row(params(seed="1", temperature=0.3, top_k=1, logit_bias={"6": 50}, presence_penalty=1, top_logprobs=2))
    sampled = Sampler([row], VOCAB, CPU).draw(logits).read()
    assert sampled.tokens == [6]
    assert sampled.logprobs == [pytest.approx(expected[6].item(), abs=1e-6)]
    assert [token for token, _ in sampled.tops[0]] == [5, 6]
    assert [value for _, value in sampled.tops[0]] == pytest.approx(expected[[5, 6]].tolist(), abs=1e-6)


def test_rows_keep_their_own_parameters():
    rows = [
        Row(params(temperature=0)),
        Row(params(top_k=1, seed="4")),
        Row(params(temperature=0, logit_bias={"7": 99})),
    ]
    rows += [Row(params(seed="3", allowed_token_ids=[11])), Row(params(temperature=0, top_logprobs=1))]
    sampled = Sampler(rows, VOCAB, CPU).draw(peaked(t5=1.0, t6=0.9).expand(5, -1)).read()
    assert sampled.tokens == [5, 5, 7, 11, 5]
    assert [len(top) for top in sampled.tops] == [0, 0, 0, 0, 1]


def test_a_seed_names_its_tokens():
    logits = torch.randn(1, VOCAB, generator=torch.Generator().manual_seed(0))
    assert draw(logits, 20) == draw(logits, 20)
    assert len(set(draw(logits, 20))) > 5
    assert choice_seed(7, 0) == 7
    assert len({choice_seed(7, i) for i in range(100)}) == 100


def test_uniforms_are_uniform_in_seed_and_position():
    seeds = np.arange(2000, dtype=np.uint64)
    for values in (uniforms(seeds, np.full(2000, 5, np.uint64)), uniforms(np.full(2000, 5, np.uint64), seeds)):
        assert 0 <= values.min() < values.max() < 1
        assert np.histogram(values, 10, (0, 1))[0].min() > 140


def test_inverse_cdf_never_draws_what_has_no_weight():
    weights = torch.zeros(4, 1000)
    weights[:, [0, 127, 128, 999]] = 0.25
    uniform = torch.tensor([0.0, 0.25, 0.5, 1 - 2**-53], dtype=torch.double)
    assert inverse_cdf(weights, uniform).tolist() == [0, 127, 128, 999]


def test_rare_tokens_keep_their_probability():
    weights = torch.ones(1, 200_000)
    weights[0, 0] = 1e12
    target = torch.tensor([1 - 100_000.5 / (1e12 + 199_999)], dtype=torch.double)
    assert abs(inverse_cdf(weights, target).item() - 99_999) < 300


@pytest.mark.parametrize(
    ("wire", "words"),
    [
        ({"temperature": -1}, "temperature must be at least 0, not -1"),
        ({"top_p": 0}, "top_p must be above 0"),
        ({"top_k": -1}, "top_k must be at least 0"),
        ({"min_p": 2}, "min_p must be between 0 and 1"),
        ({"max_tokens": -1}, "max_tokens must be at least 0"),
        ({"top_logprobs": 21}, "top_logprobs must be between 0 and 20"),
        ({"repetition_penalty": 0}, "repetition_penalty must be between 1e-06 and 1000000.0, not 0"),
        ({"repetition_penalty": 1e-40}, "repetition_penalty must be between 1e-06 and 1000000.0, not 1e-40"),
        ({"logit_bias": {"300": 1}}, "logit_bias names token 300; this model's tokens are 0 to 299"),
        ({"logit_bias": {"the": 1}}, "logit_bias names 'the'"),
        ({"allowed_token_ids": []}, "at least one token"),
        ({"seed": "9223372036854775808"}, "does not fit 64 bits"),
        ({"seed": "x"}, "whole number, not 'x'"),
        ({"stop": ["\ud83d"]}, "stop holds U\\+D83D, half of a character"),
        ({"stop": ["x"] * 65}, "stop has 65 texts of 65 characters together; after each token at most 64 of 16384"),
        ({"stop": ["x" * 16_384, "y"]}, "stop has 2 texts of 16385 characters together"),
    ],
)
def test_wrong_parameters_are_named(wire, words):
    with pytest.raises(EngineError, match=words) as caught:
        params(**wire)
    assert caught.value.kind == "invalid"
    assert caught.value.param == next(iter(wire))


def test_negative_seeds_are_seeds():
    assert params(seed="-1").seed == 2**64 - 1


def test_as_many_stop_strings_as_may_be_are_taken():
    assert len(params(stop=["x" * 256] * 64).stop) == 64
