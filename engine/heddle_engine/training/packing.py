"""Packs sequences into rows, and takes rows together for optimizer steps (training-api 7.3)."""

import numpy as np

from .prefix_tree import shared_length
from .sequences import Sequence

ROW_MULTIPLE = 2048


def row_length(longest: int, requested: int | None, max_model_len: int) -> int:
    """Tokens a row holds: as asked, else the longest sequence rounded up, never above the model's maximum."""
    rounded = -(-longest // ROW_MULTIPLE) * ROW_MULTIPLE
    return min(requested or rounded, max_model_len)


def pack(sequences: list[Sequence], length: int, generator: np.random.Generator) -> list[list[Sequence]]:
    """Rows of at most ``length`` tokens in random order, filled in group order, groups shuffled inside.

    No sequence may be longer than ``length``.
    """
    shuffled = [sequence for group in _shuffled_groups(sequences, generator) for sequence in group]
    rows = next_fit(shuffled, length)
    return [rows[i] for i in generator.permutation(len(rows))]


def next_fit(sequences: list[Sequence], length: int) -> list[list[Sequence]]:
    """A sequence goes to the open row or starts a new one; what group members share counts once a row.

    A sequence longer than ``length`` gets a row of its own.
    """
    rows: list[list[Sequence]] = []
    room = 0
    for sequence in sequences:
        cost = len(sequence) - (already_there(sequence, rows[-1]) if rows else 0)
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


def already_there(sequence: Sequence, row: list[Sequence]) -> int:
    """Tokens of ``sequence`` that members of its group brought into the row."""
    mates = (other for other in row if other.group == sequence.group)
    return max((shared_length(sequence, mate) for mate in mates), default=0)
