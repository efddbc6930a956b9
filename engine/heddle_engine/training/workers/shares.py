"""Cuts the sequences of a step into shares that take about equally long, the same ones every time."""

from dataclasses import dataclass

from ..data.sequences import Sequence
from ..packed.packing import shared_tokens

#: How large units may be that stay together, in parts of an even share; None: as large as they are.
_CAPS = (None, 1.0, 1.25, 1.5, 1.75, 2.0)
#: A share that is so much longer than an even one is not worth another try.
_EVEN_ENOUGH = 1.05


@dataclass
class _Unit:
    """Sequences that share a prompt, which one process computes once; ``size`` in tokens."""

    places: list[int]
    size: int


def share_out(sequences: list[Sequence], count: int) -> list[list[int]]:
    """Places of ``sequences`` by share, ascending; the last shares may be empty.

    Members of a group stay together, unless it pays to compute their prompt in several shares.
    """
    best: list[list[int]] = []
    least = float("inf")
    total = 0
    for cap in _CAPS:
        units = _units(sequences, None if cap is None else cap * total / count)
        total = total or sum(unit.size for unit in units)
        shares, longest = _spread(units, count)
        if longest < least:
            best, least = shares, longest
        if least <= _EVEN_ENOUGH * total / count:
            break
    return best


def _units(sequences: list[Sequence], most: float | None) -> list[_Unit]:
    units: list[_Unit] = []
    for place, sequence in enumerate(sequences):
        last = units[-1] if units else None
        shared = shared_tokens(sequence, [sequences[other] for other in last.places]) if last else 0
        own = len(sequence) - shared
        if last and shared and (most is None or last.size + own <= most):
            last.places.append(place)
            last.size += own
        else:
            units.append(_Unit([place], len(sequence)))
    return units


def _spread(units: list[_Unit], count: int) -> tuple[list[list[int]], int]:
    """Longest unit first, each to the shortest share (Graham 1969); also the longest share."""
    shares: list[list[int]] = [[] for _ in range(count)]
    sizes = [0] * count
    for unit in sorted(units, key=lambda unit: (-unit.size, unit.places[0])):
        share = sizes.index(min(sizes))
        shares[share] += unit.places
        sizes[share] += unit.size
    return [sorted(share) for share in shares], max(sizes)
