"""Packs sequences into rows, and groups rows into optimizer steps (training-api 7.3)."""

import numpy as np

from .prefix_tree import shared_length
from .sequences import Sequence

ROW_MULTIPLE = 2048


def row_length(longest: int, requested: int | None, max_model_len: int) -> int:
    """Tokens of a row: as requested, else the longest sequence rounded up; at most the model's maximum."""
    rounded = -(-longest // ROW_MULTIPLE) * ROW_MULTIPLE
    return min(requested or rounded, max_model_len)


def pack(sequences: list[Sequence], length: int, generator: np.random.Generator) -> list[list[Sequence]]:
    """Rows of at most ``length`` tokens, in random order.

    They are filled group by group, with the members of each group shuffled. No sequence may be longer than ``length``.
    """
    shuffled = [sequence for group in _shuffled_groups(sequences, generator) for sequence in group]
    rows = next_fit(shuffled, length)
    return [rows[i] for i in generator.permutation(len(rows))]


def next_fit(sequences: list[Sequence], length: int) -> list[list[Sequence]]:
    """Puts each sequence into the last row if it fits there, else into a new row.

    A prefix that members of a group share counts once in a row.

    A sequence longer than ``length`` gets a row of its own.
    """
    rows: list[list[Sequence]] = []
    room = 0
    for sequence in sequences:
        cost = len(sequence) - (shared_tokens(sequence, rows[-1]) if rows else 0)
        if not rows or cost > room:
            rows.append([])
            room, cost = length, len(sequence)
        rows[-1].append(sequence)
        room -= cost
    return rows


def steps_of(rows: list[list[Sequence]], rows_per_step: int) -> list[list[list[Sequence]]]:
    """Rows of each optimizer step, in order; the last step has what is left."""
    return [rows[start : start + rows_per_step] for start in range(0, len(rows), rows_per_step)]


def _shuffled_groups(sequences: list[Sequence], generator: np.random.Generator) -> list[list[Sequence]]:
    groups: dict[int, list[Sequence]] = {}
    for sequence in sequences:
        groups.setdefault(sequence.group, []).append(sequence)
    return [[group[i] for i in generator.permutation(len(group))] for group in groups.values()]


def shared_tokens(sequence: Sequence, row: list[Sequence]) -> int:
    """How many tokens of ``sequence`` the row already holds, from members of its group."""
    mates = (other for other in row if other.group == sequence.group)
    return max((shared_length(sequence, mate) for mate in mates), default=0)
