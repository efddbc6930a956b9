"""Sampling parameters of one request, checked (inference-api 3)."""

import secrets
from dataclasses import dataclass, fields
from functools import cached_property

import torch
from torch import Tensor

from ..errors import EngineError

_INT64 = 1 << 63
_MOST_STOPS, _STOP_CHARACTERS = 64, 16_384
"""They are looked for on the thread that computes the tokens of all requests."""


@dataclass(frozen=True)
class SamplingParams:
    """`samplingParams` of the wire. `seed` is any 64-bit number, drawn when the request names none."""

    max_tokens: int | None = None
    min_tokens: int = 0
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    logit_bias: dict[int, float] | None = None
    allowed_token_ids: list[int] | None = None
    seed: int = 0
    stop: tuple[str, ...] = ()
    stop_token_ids: frozenset[int] = frozenset()
    ignore_eos: bool = False
    include_stop_str_in_output: bool = False
    skip_special_tokens: bool = True
    top_logprobs: int = 0

    @staticmethod
    def from_wire(wire: dict, vocab_size: int) -> "SamplingParams":
        """Raises `invalid` naming the parameter and its value."""
        known = {field.name for field in fields(SamplingParams)}
        given = {name: value for name, value in wire.items() if name in known and value is not None}
        given["seed"] = _seed(wire.get("seed"))
        given["stop"] = tuple(_stop(text) for text in given.get("stop", ()) if text)
        given["logit_bias"] = {
            _token(key, vocab_size, "logit_bias"): float(value) for key, value in given.get("logit_bias", {}).items()
        }
        if "allowed_token_ids" in given:
            given["allowed_token_ids"] = [
                _token(value, vocab_size, "allowed_token_ids") for value in given["allowed_token_ids"]
            ]
        given["stop_token_ids"] = frozenset(
            _token(value, vocab_size, "stop_token_ids") for value in given.get("stop_token_ids", ())
        )
        params = SamplingParams(**given)
        params._check()
        return params

    def _check(self) -> None:
        limits = {
            "max_tokens": (0, None),
            "min_tokens": (0, None),
            "temperature": (0, None),
            "top_k": (0, None),
            "min_p": (0, 1),
            # Logits that are multiplied by less or more may not be finite, and then no mask holds any more.
            "repetition_penalty": (1e-6, 1e6),
            "top_logprobs": (0, 20),
        }
        for name, (low, high) in limits.items():
            value = getattr(self, name)
            if value is not None and (value < low or (high is not None and value > high)):
                bound = f"at least {low}" if high is None else f"between {low} and {high}"
                raise EngineError("invalid", f"{name} must be {bound}, not {value}.", name)
        if not 0 < self.top_p <= 1:
            raise EngineError("invalid", f"top_p must be above 0 and at most 1, not {self.top_p}.", "top_p")
        if len(self.stop) > _MOST_STOPS or sum(map(len, self.stop)) > _STOP_CHARACTERS:
            raise EngineError(
                "invalid",
                f"stop has {len(self.stop)} texts of {sum(map(len, self.stop))} characters together; after each token "
                f"at most {_MOST_STOPS} of {_STOP_CHARACTERS} are looked for.",
                "stop",
            )
        if self.allowed_token_ids is not None and not self.allowed_token_ids:
            raise EngineError("invalid", "allowed_token_ids must name at least one token.", "allowed_token_ids")

    @cached_property
    def biases(self) -> tuple[Tensor, Tensor]:
        """Ids int64 and what is added to their logits, fp32, which are read once for all choices and batches."""
        given = self.logit_bias or {}
        return torch.tensor(list(given), dtype=torch.int64), torch.tensor(list(given.values()), dtype=torch.float32)

    @cached_property
    def allowed(self) -> Tensor:
        """`allowed_token_ids`, int64."""
        return torch.tensor(self.allowed_token_ids or [], dtype=torch.int64)

    @property
    def greedy(self) -> bool:
        return self.temperature < 1e-5

    @property
    def penalised(self) -> bool:
        return bool(self.presence_penalty or self.frequency_penalty or self.repetition_penalty != 1)

    @property
    def truncated(self) -> bool:
        return not self.greedy and (self.top_p < 1 or self.top_k > 0 or self.min_p > 0)


def _seed(text: str | None) -> int:
    if text is None:
        return secrets.randbits(64)
    try:
        value = int(text)
    except ValueError as error:
        raise EngineError("invalid", f"seed must be a whole number, not {text!r}.", "seed") from error
    if not -_INT64 <= value < _INT64:
        raise EngineError("invalid", f"seed {value} does not fit 64 bits.", "seed")
    return value % (1 << 64)


def _stop(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = f"U+{ord(text[error.start]):04X}"
        raise EngineError(
            "invalid", f"stop holds {half}, half of a character; send whole characters.", "stop"
        ) from error
    return text


def _token(value: str | int, vocab_size: int, param: str) -> int:
    try:
        token_id = int(value)
    except ValueError as error:
        raise EngineError("invalid", f"{param} names {value!r}; token ids are whole numbers.", param) from error
    if not 0 <= token_id < vocab_size:
        raise EngineError(
            "invalid", f"{param} names token {token_id}; this model's tokens are 0 to {vocab_size - 1}.", param
        )
    return token_id
