"""Figures of a whole prompt, taken while it is computed: log-probabilities of its tokens, or one vector for it.

Both need the hidden state of every token, which a cached beginning does not have, so the prompt is computed whole.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from ..model.decoder import Decoder

_LOGITS_BYTES = {"cpu": 32 << 20, "cuda": 1 << 30}
"""Logits that are in memory at a time, whatever a step computes of prompts: of 152,000 tokens a row has 600 KB."""


class PromptReader(Protocol):
    """Called on the batcher's thread with the prompt's hidden states, a chunk after the other."""

    def read(self, decoder: Decoder, hidden: Tensor) -> None:
        """hidden [count, hidden] after the final norm."""
        ...


@dataclass(frozen=True)
class PromptToken:
    """Raw logprob of a prompt's token after those before it, how many are at least as likely, and the likeliest."""

    logprob: float
    rank: int
    top: list[tuple[int, float]]


class PromptLogprobs:
    """Log-probabilities of the prompt's tokens after the first, which nothing predicts."""

    def __init__(self, ids: list[int], num_top: int):
        self._ids, self.num_top = ids, num_top
        self._next = 1
        # As numbers side by side: as objects those of a long prompt would take a hundred megabytes.
        self._parts: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []

    def tokens(self) -> Iterator[PromptToken]:
        """In the order of the prompt."""
        for part in self._parts:
            for logprob, rank, ids, values in zip(*(column.tolist() for column in part), strict=True):
                yield PromptToken(logprob, rank, list(zip(ids, values, strict=True)))

    def add(self, tokens: list[PromptToken]) -> None:
        """The next tokens, which another backend has read; each has `num_top` of the likeliest."""
        shape = (len(tokens), self.num_top)
        ids = torch.tensor([[token_id for token_id, _ in token.top] for token in tokens], dtype=torch.int32)
        values = torch.tensor([[value for _, value in token.top] for token in tokens])
        logprobs = torch.tensor([token.logprob for token in tokens])
        ranks = torch.tensor([token.rank for token in tokens], dtype=torch.int32)
        self._parts.append((logprobs, ranks, ids.view(shape), values.view(shape)))

    def read(self, decoder: Decoder, hidden: Tensor) -> None:
        targets = torch.tensor(self._ids[self._next : self._next + len(hidden)], device=hidden.device)
        self._next += len(hidden)
        vocab = decoder.head.out_features
        rows = max(1, _LOGITS_BYTES.get(hidden.device.type, 1 << 28) // (4 * vocab))
        for part, wanted in zip(hidden[: len(targets)].split(rows), targets.split(rows), strict=True):
            self._score(decoder.head.in_fp32(part), wanted[:, None])

    def _score(self, logits: Tensor, targets: Tensor) -> None:
        """logits [rows, vocab] of the positions before targets [rows, 1]."""
        normaliser = torch.logsumexp(logits, -1, keepdim=True)
        own = logits.gather(1, targets)
        ranks = (logits > own).sum(-1) + 1
        values, ids = torch.topk(logits, min(self.num_top, logits.shape[1]), -1)
        columns = ((own - normaliser)[:, 0], ranks.int(), ids.int(), values - normaliser)
        self._parts.append(tuple(column.cpu() for column in columns))


class MeanState:
    """The mean of the hidden states of all tokens, of length 1."""

    def __init__(self) -> None:
        self._sum: Tensor | None = None

    def read(self, _decoder: Decoder, hidden: Tensor) -> None:
        part = hidden.sum(0, dtype=torch.float64)
        self._sum = part if self._sum is None else self._sum + part

    def vector(self) -> list[float]:
        assert self._sum is not None
        return torch.nn.functional.normalize(self._sum, dim=0).float().tolist()
