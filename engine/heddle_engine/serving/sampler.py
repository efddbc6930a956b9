"""Draws the next token of every row of a batch, each by its own parameters.

The reported logprob is raw: log-softmax of the model's own logits, before temperature, bias and
cut-offs, so that it is comparable with what a trainer computes (engine 4.5). Randomness is counter
based (one uniform number from seed and position, then the inverse of the cumulative distribution),
so the same logits draw the same tokens whatever else is in the batch. The logits themselves may
differ in their last bits with the batch, which turns near ties, above all in bf16.

Order of operations: bias, allowed tokens and minimum length; repetition, presence and frequency
penalties; the constraint; temperature; min_p, top_k, top_p.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ..streams import Fetched
from .constraint import Constraint
from .sampling import SamplingParams
from .truncation import Truncation

_CHUNK = 128
_MANY_LOGITS = 2**16
"""Fewer take a CPU less time than the operators that it saves."""


class SampledRow(Protocol):
    """The part of a row that the sampler reads. `ids` holds the prompt and the output so far."""

    params: SamplingParams
    seed: int
    ids: list[int]
    prompt_length: int
    end_ids: frozenset[int]
    constraint: Constraint | None


@dataclass(frozen=True)
class Sampled:
    """Per row: the token, its raw logprob and the alternatives it asked for."""

    tokens: list[int]
    logprobs: list[float]
    tops: list[list[tuple[int, float]]] | None


class Drawn:
    """What was drawn for `rows`: `ids` [rows] at once, for the next pass, and the rest when the device has it."""

    def __init__(self, rows: list[SampledRow], ids: Tensor, logprobs: Tensor, tops: tuple[Tensor, Tensor] | None):
        self.ids, self._rows = ids, rows
        # One transfer for both: ids below 2^53 are exact in float64.
        self._fetched = Fetched([torch.stack([ids.double(), logprobs.double()]), *(tops or ())])

    def read(self) -> Sampled:
        """Waits for the device."""
        both, *tops = self._fetched.wait()
        tokens, logprobs = both.tolist()
        return Sampled([int(token) for token in tokens], logprobs, self._tops(*tops) if tops else None)

    def _tops(self, values: Tensor, ids: Tensor) -> list[list[tuple[int, float]]]:
        return [
            list(zip(row_ids, row_values, strict=True))[: row.params.top_logprobs]
            for row, row_ids, row_values in zip(self._rows, ids.tolist(), values.tolist(), strict=True)
        ]


class Sampler:
    """Sampling state of a fixed set of rows; made anew when the rows change."""

    def __init__(self, rows: list[SampledRow], vocab_size: int, device: torch.device):
        self._rows, self._vocab, self._device = rows, vocab_size, device
        params = [row.params for row in rows]
        self._drawn = [row for row in rows if not row.params.greedy]
        self._drawn_places = self._tensor([place for place, p in enumerate(params) if not p.greedy])
        self._temperature = self._column([row.params.temperature for row in self._drawn])
        self._tempered = any(row.params.temperature != 1 for row in self._drawn)
        self._seeds = np.array([row.seed for row in self._drawn], np.uint64)
        self._num_top = max((p.top_logprobs for p in params), default=0)
        self._bias = self._sparse(
            [i for i, p in enumerate(params) if p.logit_bias or p.allowed_token_ids], self._bias_of
        )
        self._shortest = [i for i, row in enumerate(rows) if self._too_short(row)]
        self._constrained = [i for i, row in enumerate(rows) if row.constraint]
        self._penalties = _Penalties(rows, vocab_size, device) if any(p.penalised for p in params) else None
        drawn = [row.params for row in self._drawn]
        self._truncation = Truncation(drawn, device) if any(p.truncated for p in drawn) else None

    def draw(self, raw: Tensor) -> Drawn:
        """Draws a token per row. `raw` [rows, vocab] holds the fp32 logits of the position after each row's `ids`."""
        adjusted = self._adjust(raw)
        tokens = self._choose(adjusted)
        if self._penalties:
            self._penalties.count(tokens)
        # In one pass, where a logsumexp takes several.
        logprobs = torch.log_softmax(raw, -1)
        own = logprobs.gather(1, tokens[:, None])[:, 0]
        return Drawn(self._rows, tokens, own, self._tops(raw, logprobs) if self._num_top else None)

    def _adjust(self, raw: Tensor) -> Tensor:
        self._shortest = [i for i in self._shortest if self._too_short(self._rows[i])]
        if self._bias is None and not self._shortest and not self._constrained and self._penalties is None:
            return raw
        logits = raw.clone()
        if self._bias is not None:
            rows, values = self._bias
            logits.index_add_(0, rows, values)
        for row in self._shortest:
            logits[row, list(self._rows[row].end_ids)] = -torch.inf
        if self._penalties:
            self._penalties.apply(logits)
        return self._constrain(logits, raw) if self._constrained else logits

    def _constrain(self, logits: Tensor, raw: Tensor) -> Tensor:
        """Applies the constraint. Where no token is left, as at its end under `min_tokens`, it alone decides."""
        masks = {row: self._rows[row].constraint.allowed() for row in self._constrained}
        rows = [row for row, mask in masks.items() if mask is not None]
        if not rows:
            return logits
        refused = torch.from_numpy(~np.stack([masks[row] for row in rows])).to(self._device)
        kept = logits[rows].masked_fill(refused, -torch.inf)
        none_left = (kept == -torch.inf).all(-1, keepdim=True)
        logits[rows] = torch.where(none_left, raw[rows].masked_fill(refused, -torch.inf), kept)
        return logits

    def _choose(self, logits: Tensor) -> Tensor:
        """The likeliest token of greedy rows; only the others have weights to be drawn by."""
        if len(self._drawn) == len(self._rows):
            return self._by_weight(logits)
        tokens = likeliest(logits)
        if self._drawn:
            tokens[self._drawn_places] = self._by_weight(logits[self._drawn_places])
        return tokens

    def _by_weight(self, logits: Tensor) -> Tensor:
        scaled = logits / self._temperature if self._tempered else logits
        weights = torch.softmax(scaled, -1)
        if self._truncation:
            weights = self._truncation.apply(weights)
        positions = np.array([len(row.ids) for row in self._drawn], np.uint64)
        uniform = torch.from_numpy(uniforms(self._seeds, positions)).to(self._device)
        return inverse_cdf(weights, uniform)

    def _tops(self, raw: Tensor, logprobs: Tensor) -> tuple[Tensor, Tensor]:
        ids = torch.topk(raw, min(self._num_top, self._vocab), -1).indices
        return logprobs.gather(1, ids), ids

    def _too_short(self, row: SampledRow) -> bool:
        """True while the row may not end. A row whose allowed tokens all end it may always do so."""
        allowed = row.params.allowed_token_ids
        only_ends = allowed is not None and row.end_ids.issuperset(allowed)
        return len(row.ids) - row.prompt_length < row.params.min_tokens and not only_ends

    def _bias_of(self, row: SampledRow) -> Tensor:
        bias = torch.zeros(self._vocab)
        if row.params.allowed_token_ids is not None:
            bias.fill_(-torch.inf)[row.params.allowed] = 0.0
        return bias.index_add_(0, *row.params.biases)

    def _sparse(self, places: list[int], value_of) -> tuple[Tensor, Tensor] | None:
        if not places:
            return None
        return self._tensor(places), torch.stack([value_of(self._rows[i]) for i in places]).to(self._device)

    def _tensor(self, values: list) -> Tensor:
        return torch.tensor(values, device=self._device)

    def _column(self, values: list[float]) -> Tensor:
        return torch.tensor(values, dtype=torch.float32, device=self._device)[:, None]


class _Penalties:
    """Repetition (CTRL, arXiv:1909.05858), presence and frequency penalties of the rows that have any."""

    def __init__(self, rows: list[SampledRow], vocab_size: int, device: torch.device):
        places = [place for place, row in enumerate(rows) if row.params.penalised]
        self._rows = torch.tensor(places, device=device)
        rows = [rows[place] for place in places]
        self._counts = torch.stack([_counts(row.ids[row.prompt_length :], vocab_size) for row in rows]).to(device)
        self._seen = torch.stack([_counts(row.ids, vocab_size) > 0 for row in rows]).to(device)
        self._repetition = _column([row.params.repetition_penalty for row in rows], device)
        self._presence = _column([row.params.presence_penalty for row in rows], device)
        self._frequency = _column([row.params.frequency_penalty for row in rows], device)

    def apply(self, logits: Tensor) -> None:
        """Changes `logits` [rows, vocab] in place."""
        own = logits[self._rows]
        repeated = torch.where(own > 0, own / self._repetition, own * self._repetition)
        own = torch.where(self._seen, repeated, own)
        logits[self._rows] = own - self._frequency * self._counts - self._presence * (self._counts > 0)

    def count(self, tokens: Tensor) -> None:
        own = tokens[self._rows, None]
        self._counts.scatter_add_(1, own, torch.ones_like(own, dtype=torch.float32))
        self._seen.scatter_(1, own, True)


def uniforms(seeds: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Uniform numbers in [0, 1) [rows] from (seed, position), by the SplitMix64 finaliser applied twice."""
    with np.errstate(over="ignore"):
        mixed = _mix(_mix(seeds) + positions * np.uint64(0x9E3779B97F4A7C15))
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mix(value: np.ndarray) -> np.ndarray:
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def choice_seed(seed: int, index: int) -> int:
    """Seed of choice `index` of a request; choice 0 has the request's own."""
    return (seed + index * 0xD1342543DE82EF95) % (1 << 64)


def likeliest(logits: Tensor) -> Tensor:
    """logits [rows, vocab] -> the id of the largest, the first of equal ones.

    A CPU finds the largest of many values several times faster than its place, so the place is looked for in one chunk.
    """
    if logits.device.type != "cpu" or logits.numel() < _MANY_LOGITS or logits.shape[1] % _CHUNK:
        return logits.argmax(-1)
    chunks = logits.unflatten(1, (-1, _CHUNK))
    chunk = chunks.amax(-1).argmax(-1)
    return chunk * _CHUNK + chunks[torch.arange(len(chunks)), chunk].argmax(-1)


def inverse_cdf(weights: Tensor, uniform: Tensor) -> Tensor:
    """weights [rows, vocab] >= 0, uniform [rows] float64 in [0, 1) -> token ids [rows].

    Sums are float64, first over chunks and then inside the chosen chunk, so that rare tokens keep
    their probability in large vocabularies.
    """
    rows, vocab = weights.shape
    chunks = F.pad(weights, (0, -vocab % _CHUNK)).view(rows, -1, _CHUNK)
    upto = chunks.sum(-1, dtype=torch.double).cumsum(-1)
    target = uniform[:, None] * upto[:, -1:]
    chunk = torch.searchsorted(upto, target, right=True).clamp_(max=upto.shape[1] - 1)
    start = torch.where(chunk > 0, upto.gather(1, (chunk - 1).clamp_(min=0)), 0.0)
    inside = chunks.gather(1, chunk[:, :, None].expand(-1, 1, _CHUNK))[:, 0].double().cumsum(-1)
    place = torch.searchsorted(inside, target - start, right=True).clamp_(max=_CHUNK - 1)
    return (chunk * _CHUNK + place)[:, 0].clamp_(max=vocab - 1)


def _counts(ids: list[int], vocab_size: int) -> Tensor:
    return torch.bincount(torch.tensor(ids, dtype=torch.long), minlength=vocab_size).float()


def _column(values: list[float], device: torch.device) -> Tensor:
    return torch.tensor(values, dtype=torch.float32, device=device)[:, None]
