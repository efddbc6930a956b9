"""Sequences of a captured rollout (art-0.5.23 4.3): the ids that were sampled, under the prompts that were seen.

Calls of several dialogues may be mixed: sub-agents, regenerated answers, several choices. Which of them belong
together follows from the ids alone.
"""

import hashlib
from collections.abc import Iterable

import numpy as np

from .sequences import Sequence, SequenceBuilder, Turn


def merge_generations(turns: Iterable[Turn]) -> list[Sequence]:
    """Each turn goes on with the sequence that is the longest prefix of its prompt, else it begins one.

    Sequences are in the order they began; they may hold no trained token.
    """
    open_builders = _OpenBuilders()
    builders: list[SequenceBuilder] = []
    for number, turn in enumerate(turns):
        builder = open_builders.take(turn.prompt_ids)
        if builder is None:
            builder = SequenceBuilder()
            builders.append(builder)
        builder.add(turn, number)
        open_builders.put(builder)
    return [builder.build() for builder in builders]


def train_once(sequences: Iterable[Sequence]) -> None:
    """Leaves each sampled token trained in the first sequence that reaches it by the same ids, in place."""
    trained_paths: set[bytes] = set()
    for sequence in sequences:
        path = hashlib.blake2b(digest_size=16)
        data, read = sequence.ids.tobytes(), 0
        width = sequence.ids.itemsize
        for position in np.flatnonzero(sequence.trained):
            end = width * (int(position) + 1)
            path.update(data[read:end])
            read = end
            digest = path.digest()
            if digest in trained_paths:
                sequence.trained[position] = False
            trained_paths.add(digest)
        sequence.find_starts()


class _OpenBuilders:
    """Builders by the digest of their ids, so that a prompt is compared with all of them in one pass over it."""

    def __init__(self) -> None:
        self._by_length: dict[int, dict[bytes, list[SequenceBuilder]]] = {}

    def take(self, prompt_ids: list[int]) -> SequenceBuilder | None:
        """The builder with the longest ids that ``prompt_ids`` begin with; it is out until it is put back."""
        data = np.array(prompt_ids, np.int64).tobytes()
        digest, read = hashlib.blake2b(digest_size=16), 0
        found: tuple[int, bytes] | None = None
        for length in sorted(length for length in self._by_length if length <= len(prompt_ids)):
            digest.update(data[read : 8 * length])
            read = 8 * length
            if digest.digest() in self._by_length[length]:
                found = length, digest.digest()
        if found is None:
            return None
        length, key = found
        same = self._by_length[length]
        # Of several with the same ids the first goes on.
        builder = same[key].pop(0)
        if not same[key]:
            del same[key]
        if not same:
            del self._by_length[length]
        return builder

    def put(self, builder: SequenceBuilder) -> None:
        ids = np.array(builder.ids, np.int64)
        digest = hashlib.blake2b(ids.tobytes(), digest_size=16).digest()
        self._by_length.setdefault(len(ids), {}).setdefault(digest, []).append(builder)
