"""What an RL job trained, for people to read: its trajectories, turn by turn, and what was computed of each token.

Three files of :mod:`record_lines` in a folder of the job, which the server reads and removes:

- ``turns.jsonl``: a line a trajectory, its messages and the tokens of its completions, in the order of the data;
- ``trajectories.jsonl``: a line that sums up, then a short line a trajectory: reward, advantage, its sequences and what
  was dropped and why, and where its turns are. It appears when the data is packed, after the turns;
- ``steps.jsonl``: a line a gradient step, written when it is done: of each of its sequences, log-probability and
  ratio of every trained token as that step found them.

A job that goes on after a kill writes the first two again, with the same bytes, and goes on behind the last step of
its snapshot. Nothing here may fail a job: when a write fails, the record stops and a warning says so.
"""

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...text.tokenizer import GrowingText, TextTokenizer
from ..data.sequences import Sequence, Turn
from ..data.turns import MISSING_LOGPROB
from .record_lines import NewFile, floats, integers, marks, whole_lines, write_line

log = logging.getLogger(__name__)

TURNS, TRAJECTORIES, STEPS = "turns.jsonl", "trajectories.jsonl", "steps.jsonl"
#: Characters of a question in a list.
_TITLE_LENGTH = 200


@dataclass
class Resolved:
    """The outcome of one trajectory. ``drops`` are causes, with the completion they are about or None for all of it."""

    turns: list[Turn] = field(default_factory=list)
    #: Of captured calls: which turn a completion became.
    numbers: dict[str, int] = field(default_factory=dict)
    sequences: list[Sequence] = field(default_factory=list)
    drops: list[tuple[str, str | None]] = field(default_factory=list)


@dataclass(frozen=True)
class StepTokens:
    """Per sequence of a step, over its trained tokens: new log-probability, ratio, and whether the clip acts."""

    logprobs: list[np.ndarray]
    ratios: list[np.ndarray]
    clipped: list[np.ndarray]


class TrainingRecord:
    """``add`` every trajectory in order, then ``pack``; then ``begin`` and a ``step`` for each gradient step."""

    def __init__(self, folder: Path, tokenizer: TextTokenizer) -> None:
        self._folder = folder
        self._tokenizer = tokenizer
        self._failed: str | None = None  # None: no write has; "": one has, and its warning was taken
        self._turns: NewFile | None = None
        self._at = 0
        self._entries: list[tuple[dict[str, Any], list[Sequence], list[dict[str, Any]]]] = []
        self._places: dict[int, tuple[int, int]] = {}

    def add(self, member: dict[str, Any], advantage: float, resolved: Resolved) -> None:
        """``advantage``: relative to the group, before it is normalised over the job."""
        self._guarded(lambda: self._add(member, advantage, resolved))

    def pack(self, steps: list[list[Sequence]]) -> None:
        """Says what ended up in which step; sequences in none were too long."""
        self._guarded(lambda: self._pack(steps))

    def begin(self, done: int) -> None:
        """Keeps the first ``done`` steps that an earlier run of the job recorded."""
        self._guarded(lambda: self._begin(done))

    def step(self, number: int, sequences: list[Sequence], tokens: StepTokens) -> None:
        self._guarded(lambda: self._step(number, sequences, tokens))

    def take_warning(self) -> str | None:
        """Why the record stopped, the first time this is asked after a write failed; else None."""
        if not self._failed:
            return None
        warning, self._failed = self._failed, ""
        return warning

    def _guarded(self, work: Callable[[], None]) -> None:
        if self._failed is not None:
            return
        try:
            work()
        except Exception as error:
            log.warning("the record of trained tokens stops", exc_info=error)
            self._failed = f"what this job trains, token by token, cannot be shown from here on: {error}"

    def _add(self, member: dict[str, Any], advantage: float, resolved: Resolved) -> None:
        if self._turns is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._turns = NewFile(self._folder / TURNS)
        ordinal = len(self._entries)
        for number, sequence in enumerate(resolved.sequences):
            self._places[id(sequence)] = ordinal, number
        captured = member.get("captured")
        turns = self._of_histories(member, resolved) if captured is None else self._of_captured(captured, resolved)
        tools = member["histories"][0]["tools"] if member["histories"] else None
        length = write_line(self._turns.out, {"tools": tools, "turns": turns})
        entry = {
            "group": member["group"],
            "index": member["index"],
            "reward": member["reward"],
            "advantage": advantage,
            **self._question(member),
            "completions": sum("place" in turn for turn in turns),
            "sampled_tokens": sum(turn["tokens"]["count"] for turn in turns if turn.get("tokens")),
            "turns_at": self._at,
            "turns_length": length,
        }
        self._at += length
        drops = [{"cause": cause, "place": place} for cause, place in resolved.drops]
        self._entries.append((entry, resolved.sequences, drops))

    def _question(self, member: dict[str, Any]) -> dict[str, str | None]:
        """Its text, shortened, and a digest of all that the first completion was asked: equal in other jobs' data."""
        if member.get("captured") is not None:
            ids = next(
                (g["prompt_token_ids"] for g in member["captured"]["generations"] if g["prompt_token_ids"]), None
            )
            if ids is None:
                return {"question": "", "question_digest": None}
            text = self._text(token_id for token_id in ids if token_id not in self._tokenizer.unseen_ids)
            digest = _digest(np.array(ids, np.int64).tobytes())
            return {"question": text.strip()[-_TITLE_LENGTH:], "question_digest": digest}
        history = member["histories"][0] if member["histories"] else {"items": [], "tools": None}
        opening: list[dict] = []
        for item in history["items"]:
            if "choice" in item:
                break
            opening.append(item["message"])
        users = [message for message in opening if message.get("role") == "user"] or opening
        text = _text_of(users[-1].get("content"))[:_TITLE_LENGTH] if users else ""
        canonical = json.dumps([opening, history["tools"]], sort_keys=True, ensure_ascii=False)
        return {"question": text, "question_digest": _digest(canonical.encode("utf-8", "surrogatepass"))}

    def _of_histories(self, member: dict[str, Any], resolved: Resolved) -> list[dict[str, Any]]:
        found = _places_of(resolved.sequences)
        turns: list[dict[str, Any]] = []
        number = 0
        for place, history in enumerate(member["histories"]):
            choices = 0
            for item in history["items"]:
                if "choice" not in item:
                    turns.append({"history": place, "message": item["message"]})
                    continue
                choice = item["choice"]
                turn = resolved.turns[number] if number < len(resolved.turns) else None
                tokens = self._tokens_as_sent(choice) if turn is None else self._tokens(turn, number, found)
                cause = turn and turn.untrainable
                about = {"history": place, "place": f"turn {choices}", "message": choice["message"]}
                turns.append({**about, "tokens": tokens, "cause": cause})
                choices += 1
                number += 1
        return turns

    def _of_captured(self, captured: dict[str, Any], resolved: Resolved) -> list[dict[str, Any]]:
        """Calls in their order: what each prompt adds to the call before it, and what was sampled."""
        found = _places_of(resolved.sequences)
        causes = {place: cause for cause, place in resolved.drops if place is not None}
        looked_into = not {"no_contrast", "zero_advantage"} & {cause for cause, _ in resolved.drops}
        turns: list[dict[str, Any]] = []
        context: list[int] = []
        for generation in captured["generations"]:
            prompt, ids = generation["prompt_token_ids"] or [], generation["token_ids"] or []
            added = prompt[len(context) :] if prompt[: len(context)] == context else prompt
            if added:
                turns.append({"history": 0, "context": self._text(added), "tokens_of_context": len(added)})
            place = generation["place"]
            number = resolved.numbers.get(place)
            if number is None:
                tokens = self._tokens_as_sent(generation)
                cause = causes.get(place) or ("other_model" if looked_into else None)
            else:
                tokens = self._tokens(resolved.turns[number], number, found)
                cause = None if "sequence" in tokens else _cause_of_untrained(number, resolved.sequences)
            turns.append({"history": 0, "place": place, "message": None, "tokens": tokens, "cause": cause})
            context = [*prompt, *ids]
        return turns

    def _tokens(self, turn: Turn, number: int, found: dict[int, tuple[int, np.ndarray]]) -> dict[str, Any]:
        sequence, trained = found.get(number, (None, None))
        written = {"count": len(turn.token_ids), "ids": integers(turn.token_ids), "text": self._texts(turn.token_ids)}
        written["sampled"] = floats(np.array(turn.logprobs))
        if trained is not None and trained.any():
            written |= {"sequence": sequence, "trained": marks(trained)}
        return written

    def _tokens_as_sent(self, choice: dict[str, Any]) -> dict[str, Any] | None:
        """The tokens of a completion that was not looked into, because its group teaches nothing."""
        source = choice.get("ledger") or choice
        ids, logprobs = source["token_ids"], source["logprobs"]
        if not ids or not all(0 <= token_id < self._tokenizer.vocab_size for token_id in ids):
            return None
        values = [entry["logprob"] if isinstance(entry, dict) else entry for entry in logprobs or []]
        known = [np.nan if value is None or value <= MISSING_LOGPROB else value for value in values]
        sampled = known if len(known) == len(ids) else [np.nan] * len(ids)
        return {"count": len(ids), "ids": integers(ids), "text": self._texts(ids), "sampled": floats(np.array(sampled))}

    def _text(self, ids: Iterable[int]) -> str:
        return self._tokenizer.decode([token_id for token_id in ids if 0 <= token_id < self._tokenizer.vocab_size])

    def _texts(self, ids: Iterable[int]) -> list[str]:
        """The text of each token; a character that is spread over several tokens belongs to the last of them."""
        growing = GrowingText()
        texts = [growing.feed(self._tokenizer.token_bytes(token_id)) for token_id in ids]
        if texts:
            texts[-1] += growing.finish()
        return texts

    def _pack(self, steps: list[list[Sequence]]) -> None:
        if self._turns is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._turns = NewFile(self._folder / TURNS)
        self._turns.finish()
        step_of = {id(sequence): number for number, step in enumerate(steps, start=1) for sequence in step}
        lines = [self._line(*entry, step_of) for entry in self._entries]
        index = NewFile(self._folder / TRAJECTORIES)
        for line in [_summary(lines), *lines]:
            write_line(index.out, line)
        index.finish()
        self._entries = []

    def _line(
        self,
        entry: dict[str, Any],
        its_sequences: list[Sequence],
        drops: list[dict[str, Any]],
        step_of: dict[int, int],
    ) -> dict[str, Any]:
        sequences = [
            {
                "step": step_of.get(id(sequence)),
                "tokens": len(sequence),
                "trained_tokens": sequence.num_trained,
                "advantage": sequence.advantage,
                "weight": sequence.weight,
            }
            for sequence in its_sequences
        ]
        overlong = [{"cause": "overlong", "place": None} for s in sequences if s["step"] is None]
        return {**entry, "sequences": sequences, "drops": drops + overlong}

    def _begin(self, done: int) -> None:
        file = self._folder / STEPS
        kept = [line for line, step in whole_lines(file) if step["number"] <= done]
        again = NewFile(file)
        again.out.writelines(kept)
        again.finish()

    def _step(self, number: int, sequences: list[Sequence], tokens: StepTokens) -> None:
        written = [
            {
                "trajectory": self._places[id(sequence)][0],
                "sequence": self._places[id(sequence)][1],
                "logprobs": floats(logprobs),
                "ratios": floats(ratios),
                "clipped": marks(clipped),
            }
            for sequence, logprobs, ratios, clipped in zip(
                sequences, tokens.logprobs, tokens.ratios, tokens.clipped, strict=True
            )
        ]
        with (self._folder / STEPS).open("ab") as out:
            write_line(out, {"number": number, "sequences": written})


def _summary(lines: list[dict[str, Any]]) -> dict[str, Any]:
    packed = [[s for s in line["sequences"] if s["step"] is not None] for line in lines]
    causes: Counter[str] = Counter()
    for line in lines:
        causes.update({drop["cause"] for drop in line["drops"]})
    rewards = [line["reward"] for line in lines]
    return {
        "groups": len({line["group"] for line in lines}),
        "groups_with_contrast": len({line["group"] for line in lines if line["advantage"] != 0}),
        "trajectories": len(lines),
        "trajectories_trained": sum(bool(sequences) for sequences in packed),
        "trained_tokens": sum(s["trained_tokens"] for sequences in packed for s in sequences),
        "lowest_reward": min(rewards, default=None),
        "highest_reward": max(rewards, default=None),
        "drops": [{"cause": cause, "trajectories": count} for cause, count in causes.items()],
    }


def _places_of(sequences: list[Sequence]) -> dict[int, tuple[int, np.ndarray]]:
    """By turn: the sequence it is in, and which of its tokens are trained there."""
    return {
        turn: (number, sequence.trained[start:end])
        for number, sequence in enumerate(sequences)
        for turn, start, end in sequence.turns
    }


def _cause_of_untrained(turn: int, sequences: list[Sequence]) -> str:
    """A sequence that is too long is kept, with nothing trained; one that repeats what others train is not."""
    is_kept = any(number == turn for sequence in sequences if not sequence.num_trained for number, *_ in sequence.turns)
    return "overlong" if is_kept else "repeated"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return " ".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))
