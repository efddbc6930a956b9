"""Packing of sequences into rows, shared prefixes, and their layout (training-api 7.3)."""

import numpy as np
import pytest

from heddle_engine.training.micro_batches import PieceLimits, cut
from heddle_engine.training.packed.packing import best_fit, next_fit, pack, row_length
from heddle_engine.training.packed.prefix_tree import build_forest, shared_length
from tests.training.builders import random_group, sequence


def generator(seed=0):
    return np.random.default_rng(seed)


ROW_LENGTHS = [
    (1, None, 32768, 2048),
    (2048, None, 32768, 2048),
    (2049, None, 32768, 4096),
    (2049, None, 3000, 3000),
    (100, 512, 32768, 512),
    (100, 4096, 1024, 1024),
]


@pytest.mark.parametrize(("longest", "requested", "maximum", "expected"), ROW_LENGTHS)
def test_row_length(longest, requested, maximum, expected):
    assert row_length(longest, requested, maximum) == expected


def test_a_groups_prompt_counts_once_a_row():
    """Prompt 30, completions 10: 30 + 7 * 10 = 100 fit, the eighth starts a row of 40."""
    group = random_group(generator(), 500, 30, [10] * 8)
    rows = next_fit(group, 100)
    assert [len(row) for row in rows] == [7, 1]
    assert len(build_forest(rows[0]).ids) == 100


def test_prompts_of_other_groups_are_not_shared_when_filling_rows():
    a, b = (sequence([*range(30), 90 + g], 30, group=g) for g in (0, 1))
    assert [len(row) for row in next_fit([a, b], 40)] == [1, 1]
    assert [len(row) for row in next_fit([a, b], 62)] == [2]


def test_next_fit_never_looks_back():
    lengths = [60, 50, 40]
    rows = next_fit([sequence(range(g * 100, g * 100 + n), 1, group=g) for g, n in enumerate(lengths)], 100)
    assert [[len(s) for s in row] for row in rows] == [[60], [50, 40]]


def unlike(lengths):
    """A group of one sequence for each length, which share nothing."""
    return [[sequence(range(g * 100, g * 100 + n), 1, group=g)] for g, n in enumerate(lengths)]


def test_best_fit_fills_the_row_with_the_least_room():
    rows = best_fit(unlike([60, 50, 40, 30, 20]), 100)
    assert [[len(s) for s in row] for row in rows] == [[60, 40], [50, 30, 20]]


def test_best_fit_keeps_a_group_where_its_prompt_is():
    """Prompt 30, completions 10: seven fit in a row of 100, and three leave 40 tokens of the next one."""
    group = random_group(generator(), 500, 30, [10] * 10, group=9)
    rows = best_fit([*unlike([35, 5]), group], 100)
    assert [[s.group == group[0].group for s in row] for row in rows] == [[True] * 7, [True] * 3 + [False] * 2]
    assert [len(build_forest(row).ids) for row in rows] == [100, 100]


def test_packing_takes_the_rows_of_best_fit_where_they_are_fewer():
    sequences = [s for group in unlike([60, 50, 40, 50] * 20) for s in group]
    assert len(next_fit(sequences, 100)) == 60
    rows = pack(sequences, 100, generator())
    assert len(rows) == 40
    assert sorted(id(s) for row in rows for s in row) == sorted(map(id, sequences))
    assert all(len(build_forest(row).ids) <= 100 for row in rows)


@pytest.mark.parametrize("seed", range(20))
def test_no_row_of_best_fit_is_too_long_and_none_is_lost(seed):
    random = generator(seed)
    completions = [random.integers(1, 40, size=random.integers(1, 9)) for _ in range(30)]
    groups = [random_group(random, 500, int(random.integers(1, 60)), c, group=g) for g, c in enumerate(completions)]
    rows = best_fit(groups, 100)
    assert sorted(id(s) for row in rows for s in row) == sorted(id(s) for group in groups for s in group)
    assert max(len(build_forest(row).ids) for row in rows) <= 100
    assert len(rows) <= len(next_fit([s for group in groups for s in group], 100))


def test_packing_shuffles_by_its_generator_alone():
    sequences = [s for g in range(20) for s in random_group(generator(g), 500, 20, [5, 6, 7], group=g)]
    first, again, other = (pack(sequences, 100, generator(seed)) for seed in (1, 1, 2))
    order = [[id(s) for row in rows for s in row] for rows in (first, again, other)]
    assert order[0] == order[1] != order[2]
    assert sorted(order[0]) == sorted(order[2]) == sorted(map(id, sequences))
    assert all(len(build_forest(row).ids) <= 100 for row in first)
    assert [row[0].group for row in first] != sorted(row[0].group for row in first)


def tokens_computed(sequences, limits):
    pieces = cut(sequences, range(len(sequences)), limits)
    assert [place for piece in pieces for place in piece] == list(range(len(sequences)))
    return [len(build_forest([sequences[place] for place in piece]).ids) for piece in pieces]


def test_a_long_prompt_is_computed_once_for_its_group():
    """engine T5: at most a quarter of the tokens of eight sequences of 2,048 + 256."""
    group = random_group(generator(), 500, 2048, [256] * 8)
    assert tokens_computed(group, PieceLimits(2048, 16384)) == [2048 + 8 * 256]
    assert 2048 + 8 * 256 <= 0.25 * 8 * (2048 + 256)
    assert tokens_computed(group, PieceLimits(2048, 3000)) == [2048 + 3 * 256, 2048 + 3 * 256, 2048 + 2 * 256]


def test_two_completions_share_a_prompt_that_is_longer_than_a_piece():
    group = random_group(generator(), 500, 2048, [256] * 4)
    assert tokens_computed(group, PieceLimits(512, 512)) == [2048 + 2 * 256] * 2
    assert tokens_computed(group, PieceLimits(512, 512, pairs=False)) == [2048 + 256] * 4


def test_sequences_that_share_little_fill_pieces_of_the_usual_size():
    sequences = [s for g in range(4) for s in random_group(generator(g), 500, 20, [80, 80], group=g)]
    assert tokens_computed(sequences, PieceLimits(300, 16384)) == [280, 280, 180]


def test_sharing_never_cuts_a_trained_stretch():
    prompt = list(range(100, 130))
    a, b = sequence([*prompt, 1, 2, 3], 30), sequence([*prompt, 1, 2, 4], 30)
    assert shared_length(a, b) == 30


def test_short_common_starts_are_not_shared():
    a, b = sequence([1, 2, 3, *range(50, 60)], 5), sequence([1, 2, 3, *range(70, 80)], 5)
    assert shared_length(a, b) == 0
    assert len(build_forest([a, b]).ids) == 26


@pytest.mark.parametrize("seed", range(20))
def test_every_sequence_is_found_along_its_path(seed):
    """In random trees, each path has its sequence's tokens and positions, and stores nothing twice."""
    g = generator(seed)
    sequences = []
    for _ in range(12):
        if sequences and g.random() < 0.8:
            parent = sequences[g.integers(len(sequences))]
            cut = int(g.integers(1, len(parent) + 1))
            ids = [*parent.ids[:cut], *g.integers(0, 3, int(g.integers(0, 30)))]
        else:
            ids = g.integers(0, 3, 40)
        if len(ids) > 1:
            sequences.append(sequence(ids, int(g.integers(1, len(ids)))))
    forest = build_forest(sequences)
    for s, places in zip(sequences, forest.places, strict=True):
        assert forest.ids[places].tolist() == s.ids.tolist()
        assert forest.positions[places].tolist() == list(range(len(s)))
    assert sorted(i for node in forest.nodes for i in range(node.start, node.start + node.length)) == list(
        range(len(forest.ids))
    )
    assert all(node.start + node.length <= node.end for node in forest.nodes)
