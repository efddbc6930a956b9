"""Packs sequences into rows, and groups rows into optimizer steps (training-api 7.3)."""

from bisect import bisect_left, insort
from itertools import chain

import numpy as np

from ..data.sequences import Sequence
from .prefix_tree import shared_length

ROW_MULTIPLE = 2048


def row_length(longest: int, requested: int | None, max_model_len: int) -> int:
    """Tokens of a row: as requested, else the longest sequence rounded up; at most the model's maximum."""
    rounded = -(-longest // ROW_MULTIPLE) * ROW_MULTIPLE
    return min(requested or rounded, max_model_len)


def pack(sequences: list[Sequence], length: int, generator: np.random.Generator) -> list[list[Sequence]]:
    """Rows of at most ``length`` tokens, in random order.

    They are filled group by group, with the members of each group shuffled, or by best fit where that makes fewer rows,
    which are fewer optimizer steps. No sequence may be longer than ``length``.
    """
    groups = _shuffled_groups(sequences, generator)
    rows = min(next_fit(list(chain.from_iterable(groups)), length), best_fit(groups, length), key=len)
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


def best_fit(groups: list[list[Sequence]], length: int) -> list[list[Sequence]]:
    """Puts each sequence into the row where it leaves the least room, the largest groups and members first.

    Rows that hold a prefix of the sequence come before the others, those with the longest one first. A sequence longer
    than ``length`` gets a row of its own.
    """
    rows: list[list[Sequence]] = []
    rooms: list[int] = []
    #: Room and number of every row, ascending.
    fullest: list[tuple[int, int]] = []
    for group in sorted(groups, key=lambda group: -sum(map(len, group))):
        mates: set[int] = set()
        for sequence in sorted(group, key=lambda sequence: -len(sequence)):
            shared = {row: shared_tokens(sequence, rows[row]) for row in mates}
            fitting = [row for row in mates if len(sequence) - shared[row] <= rooms[row]]
            place = bisect_left(fullest, (len(sequence), -1))
            if fitting:
                row = min(fitting, key=lambda row: (-shared[row], rooms[row], row))
            elif place < len(fullest):
                row = fullest[place][1]
            else:
                row = len(rows)
                rows.append([])
                rooms.append(length)
                insort(fullest, (length, row))
            del fullest[bisect_left(fullest, (rooms[row], row))]
            rooms[row] -= len(sequence) - shared.get(row, 0)
            insort(fullest, (rooms[row], row))
            rows[row].append(sequence)
            mates.add(row)
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
