"""Finds the exact token ids of every completion in a trajectory (training-api 7.1, engine 5.4).

Sources in order: ids carried by the choice, our own ledger, `token_id:N` strings, re-tokenized text.
Where a choice and the ledger disagree the ledger wins and the drift is counted.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ...errors import EngineError
from ...text.render import Renderer
from ...text.tokenizer import TextTokenizer
from .sequences import Turn

NAN = float("nan")
#: Servers write this where a log-probability is missing (training-api 4.5).
MISSING_LOGPROB = -9999.0
#: How a token that holds part of a character is spelled; its bytes are not to be had from that.
_TORN = "\ufffd"
_TOKEN_ID = re.compile(r"token_id:(\d{1,15})")


@dataclass(frozen=True)
class _Context:
    """The context of a choice: the messages before it, and the tokens of the turn before it."""

    messages: list[dict]
    tools: list[dict] | None
    ids: list[int]


class TurnResolver:
    """Resolves histories; ``counts`` says how, over all of them."""

    def __init__(
        self, renderer: Renderer, tokenizer: TextTokenizer, vocab_size: int, train_without_logprobs: bool
    ) -> None:
        self._renderer = renderer
        self._tokenizer = tokenizer
        self._vocab_size = vocab_size
        self._train_without_logprobs = train_without_logprobs
        self.counts: Counter[str] = Counter()

    def resolve(self, history: dict[str, Any], where: str) -> list[Turn]:
        """Turns of one history of a `specHistory`; ``where`` names it in errors."""
        turns: list[Turn] = []
        messages: list[dict] = []
        for item in history["items"]:
            if "choice" in item:
                before = turns[-1].prompt_ids + turns[-1].token_ids if turns else []
                with _named(f"{where}, turn {len(turns)}"):
                    turns.append(self._turn(item["choice"], _Context(messages, history["tools"], before)))
            messages.append(item["choice"]["message"] if "choice" in item else item["message"])
        return turns

    def resolve_captured(self, generation: dict[str, Any], trajectory: str) -> Turn | str:
        """The turn of a `capturedGeneration`, by its exact ids alone; or the cause why it cannot be trained."""
        prompt_ids, token_ids, logprobs = (generation[key] for key in ("prompt_token_ids", "token_ids", "logprobs"))
        if not prompt_ids or not token_ids:
            return "no_ids"
        known = [NAN] * len(token_ids) if logprobs is None else [_known(logprob) for logprob in logprobs]
        with _named(f"{trajectory}, {generation['place']}"):
            self._check_range(prompt_ids)
            self._check_range(token_ids)
            known = _aligned(token_ids, known)
        complete = all(value == value for value in known)
        self.counts["turns_choice_ids"] += 1
        self.counts["turns_truncated"] += generation["truncated"]
        self.counts["turns_without_logprobs"] += not complete
        return Turn(prompt_ids, token_ids, known) if complete or self._train_without_logprobs else "no_logprobs"

    def _turn(self, choice: dict[str, Any], context: _Context) -> Turn:
        source, prompt_ids, token_ids, logprobs = self._tokens(choice, context)
        self._check_range(prompt_ids)
        self._check_range(token_ids)
        known = any(value == value for value in logprobs)
        self.counts[f"turns_{source}"] += 1
        self.counts["turns_truncated"] += choice["finish_reason"] == "length"
        self.counts["turns_without_logprobs"] += not known
        return Turn(prompt_ids, token_ids, logprobs, trained=known or self._train_without_logprobs)

    def _tokens(self, choice: dict[str, Any], context: _Context) -> tuple[str, list[int], list[int], list[float]]:
        ids, ledger = choice["token_ids"], choice["ledger"]
        if ledger is not None:
            agrees = ids == ledger["token_ids"] and choice["prompt_token_ids"] == ledger["prompt_token_ids"]
            self._count_drift(choice, ledger)
            logprobs = _aligned(ledger["token_ids"], ledger["logprobs"])
            return "choice_ids" if agrees else "ledger", ledger["prompt_token_ids"], ledger["token_ids"], logprobs
        if ids is not None:
            return "choice_ids", self._prompt(choice, context), ids, _aligned(ids, _logprobs(choice))
        spelled = [_TOKEN_ID.fullmatch(entry["token"]) for entry in choice["logprobs"] or []]
        if spelled and all(spelled):
            ids = [int(match[1]) for match in spelled if match]
            return "token_id_strings", self._prompt(choice, context), ids, _logprobs(choice) or []
        return "retokenized", self._prompt(choice, context), *self._retokenize(choice, context)

    def _prompt(self, choice: dict[str, Any], context: _Context) -> list[int]:
        """The recorded prompt, or a rendered one that keeps the ids of earlier turns where the text allows it."""
        if choice["prompt_token_ids"]:
            return choice["prompt_token_ids"]
        self.counts["prompts_rendered"] += 1
        text = self._renderer.text(context.messages, context.tools, add_generation_prompt=True)
        before = self._tokenizer.decode(context.ids)
        if context.ids and text.startswith(before):
            return context.ids + self._tokenizer.encode_behind(before, text[len(before) :])
        return self._tokenizer.encode(text)

    def _retokenize(self, choice: dict[str, Any], context: _Context) -> tuple[list[int], list[float]]:
        strings = [entry["token"] for entry in choice["logprobs"] or []]
        # Of a tokenizer that puts a space before each text a string alone does not tell whether its token has one.
        if not strings or self._tokenizer.opens_with_space or any(_TORN in string for string in strings):
            return self._tokens_of_message(choice, context, strings)
        each = [self._tokenizer.encode(string) for string in strings]
        if all(len(ids) == 1 for ids in each):
            return [ids[0] for ids in each], _logprobs(choice) or []
        ids = self._tokenizer.encode("".join(strings))
        if [self._tokenizer.decode([i]) for i in ids] == strings:
            return ids, _logprobs(choice) or []
        # Other tokens than the sampled ones: their log-probabilities say nothing about these.
        self.counts["tokens_drifted"] += len(strings)
        return ids, [NAN] * len(ids)

    def _tokens_of_message(
        self, choice: dict[str, Any], context: _Context, strings: list[str]
    ) -> tuple[list[int], list[float]]:
        """Ids of the message's own text; with log-probabilities where all are spelled as in ``strings``."""
        messages = [*context.messages, {**choice["message"], "role": "assistant"}]
        ids = self._renderer.spans(messages, context.tools)[-1].token_ids
        # Decoded alone, which is how some servers spell it, a token may lose the space that it begins with.
        alone = [self._tokenizer.decode([token_id]) for token_id in ids]
        exact = [self._tokenizer.token_bytes(token_id).decode(errors="replace") for token_id in ids]
        # A completion that was cut off has no end-of-turn token.
        for end in (len(ids), len(ids) - 1):
            if strings and strings in (alone[:end], exact[:end]):
                return ids[:end], _logprobs(choice) or []
        self.counts["tokens_drifted"] += len(strings)
        return ids, [NAN] * len(ids)

    def _count_drift(self, choice: dict[str, Any], ledger: dict[str, Any]) -> None:
        for name in ("token_ids", "prompt_token_ids"):
            if choice[name] is not None and choice[name] != ledger[name]:
                self.counts["turns_drifted"] += 1
                self.counts["tokens_drifted"] += _differences(choice[name], ledger[name])
                return

    def _check_range(self, ids: Iterable[int]) -> None:
        foreign = next((i for i in ids if not 0 <= i < self._vocab_size), None)
        if foreign is not None:
            raise EngineError(
                "invalid",
                f"token id {foreign} is not in the base model's vocabulary (0 to {self._vocab_size - 1}). "
                "Send the ids that this model's chat completions returned.",
            )


@contextmanager
def _named(where: str) -> Iterator[None]:
    """What is wrong with a turn is told with its place, whoever finds it out."""
    try:
        yield
    except EngineError as error:
        raise EngineError(error.kind, f"{where}: {error.message}", "trajectory_groups") from error


def _logprobs(choice: dict[str, Any]) -> list[float] | None:
    if choice["logprobs"] is None:
        return None
    return [_known(entry["logprob"]) for entry in choice["logprobs"]]


def _known(logprob: float | None) -> float:
    return NAN if logprob is None or logprob <= MISSING_LOGPROB else float(logprob)


def _aligned(ids: list[int], logprobs: list[float] | None) -> list[float]:
    if logprobs is None:
        return [NAN] * len(ids)
    if len(ids) != len(logprobs):
        raise EngineError(
            "invalid",
            f"{len(ids)} token ids but {len(logprobs)} log-probabilities. "
            "Send a choice as the chat completion returned it; both lists cover every generated token.",
        )
    return logprobs


def _differences(a: list[int], b: list[int]) -> int:
    return sum(x != y for x, y in zip(a, b, strict=False)) + abs(len(a) - len(b))
