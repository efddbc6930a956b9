"""Counts work that was done, so that whoever watches the engine can tell a long computation from a hang."""

_done = 0


def advance() -> None:
    """Something was done: a step of the batch, a turn of a job, a layer of one, a tensor that was read."""
    global _done
    _done += 1


def total() -> int:
    return _done
