"""What a delta net takes of a token, as a checkpoint stores it.

Qwen3.5 has a tensor for queries, keys and values, and one each for gates (z), strengths (b) and decays (a). Qwen3-Next
has two, whose rows stand in a group for each key head: in `in_proj_qkvz` its query, its key, the values of the heads
that it serves and their gates; in `in_proj_ba` their strengths and their decays. These rows are put in order when they
are read, so that nothing else knows of groups. An export needs no way back: delta nets are frozen.
"""

from torch import Tensor

from ..delta.delta_net import DeltaNetConfig
from .checkpoint import Checkpoint


def delta_projections(checkpoint: Checkpoint, prefix: str, delta: DeltaNetConfig, hidden: int) -> dict[str, Tensor]:
    """Weights [rows, hidden] by name: queries, keys and values, then gates, strengths and decays, heads in order.

    Raises `invalid` where a tensor is missing or of another shape.
    """
    if delta.grouped:
        values = delta.shared * delta.value_dim
        of_key_head = {"qkvz": [delta.key_dim, delta.key_dim, values, values], "ba": [delta.shared, delta.shared]}
        stored = {
            name: _in_order(checkpoint, prefix, name, delta, sizes, hidden) for name, sizes in of_key_head.items()
        }
        return {
            f"in_proj_{part}": rows for name, parts in stored.items() for part, rows in zip(name, parts, strict=True)
        }
    rows = {"qkv": delta.channels, "z": delta.values, "b": delta.value_heads, "a": delta.value_heads}
    return {f"in_proj_{name}": _tensor(checkpoint, prefix, name, count, hidden) for name, count in rows.items()}


def _in_order(
    checkpoint: Checkpoint, prefix: str, name: str, delta: DeltaNetConfig, sizes: list[int], hidden: int
) -> list[Tensor]:
    """Each part of all groups, of which `sizes` says the rows that it has in one."""
    stored = _tensor(checkpoint, prefix, name, delta.key_heads * sum(sizes), hidden)
    groups = stored.unflatten(0, (delta.key_heads, sum(sizes)))
    return [part.flatten(0, 1) for part in groups.split(sizes, 1)]


def _tensor(checkpoint: Checkpoint, prefix: str, name: str, rows: int, hidden: int) -> Tensor:
    return checkpoint.tensor(f"{prefix}.in_proj_{name}.weight", rows, hidden)
