"""Parts of a job's rollouts that could not be trained, and what to do about them (art-0.5.23 5)."""

from collections.abc import Iterator
from dataclasses import dataclass, field

#: Causes, with what was found and the way out.
CAUSES = {
    "empty": (
        "nothing was captured and there is no choice",
        "Let the rollout call the model inside the trajectory's context, read streams to their end, and use a client "
        "that ART captures: one on httpx, aiohttp or requests (anthropic 1 and later is not)",
    ),
    "other_model": (
        "none of the captured calls is of the model in training",
        "Call it by its own name, as model.get_inference_name() gives it",
    ),
    "no_ids": (
        "the answer holds no token ids of its prompt or of what was sampled",
        "Sample from this server, which sends them, and hand its answers on whole",
    ),
    "no_logprobs": (
        "there is no log-probability for every sampled token",
        "Sample with log-probabilities, or set allow_training_without_logprobs",
    ),
    "no_choice": (
        "there are messages and no choice, and plain messages are context only",
        "Put the choice of the chat completion in place of the assistant's message",
    ),
}


#: How many places a sentence names.
MOST_PLACES = 5


@dataclass
class _Found:
    trajectories: set[str] = field(default_factory=set)
    completions: int = 0
    places: list[str] = field(default_factory=list)
    note: str = ""


class Untrainable:
    """Collects what was left out, cause by cause."""

    def __init__(self) -> None:
        self._found: dict[str, _Found] = {}

    def add(self, cause: str, trajectory: str, place: str | None = None, note: str = "") -> None:
        """One completion at ``place`` of ``trajectory``, or all of the trajectory; ``note`` is told of the first."""
        found = self._found.setdefault(cause, _Found(note=note))
        found.trajectories.add(trajectory)
        found.completions += place is not None
        if len(found.places) < MOST_PLACES:
            found.places.append(trajectory if place is None else f"{trajectory}, {place}")

    def sentences(self) -> Iterator[str]:
        """One for each cause: how many, which, why, and the way out."""
        for cause, found in self._found.items():
            why, way_out = CAUSES[cause]
            count = _counted(len(found.trajectories), "trajectory", "trajectories")
            if found.completions:
                count = f"{_counted(found.completions, 'completion', 'completions')} in {count}"
            more = (found.completions or len(found.trajectories)) - len(found.places)
            places = "; ".join(
                [*found.places, *([f"and {more} more"] if more else []), *([found.note] if found.note else [])]
            )
            yield f"{count} could not be trained: {why} ({places}). {way_out}."


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
