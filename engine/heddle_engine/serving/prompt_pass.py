"""A pass over chunks of prompts, whatever memory their keys and values are in."""

import torch
from torch import Tensor

from ..model.decoder import Attend, Decoder, Wanted
from ..model.delta.delta_net import Recur
from ..threads import use_cores_for
from .generation import Generation
from .lora_batch import SegmentLora, segments


def run_chunks(
    decoder: Decoder, chunks: list[tuple[Generation, int]], attend: Attend, recur: Recur | None
) -> list[Tensor]:
    """Compute the next `count` unwritten tokens of each generation, one chunk behind the other.

    Hidden states [wanted, hidden] of each: of all these tokens where its prompt is read, else of the last one.
    """
    wanted = [count if generation.reads_prompt else 1 for generation, count in chunks]
    ids, positions, places = [], [], []
    for (generation, count), last in zip(chunks, wanted, strict=True):
        start = generation.line.length
        ids += generation.ids[start : start + count]
        positions += range(start, start + count)
        places += range(len(ids) - last, len(ids))
    ids, positions, places = (torch.tensor(each, device=decoder.device) for each in (ids, positions, places))
    use_cores_for(decoder.operator_work(len(ids)))
    asked = Wanted(places, _lora(chunks, wanted))
    hidden = decoder.hidden(ids, positions, _lora(chunks, [count for _, count in chunks]), attend, asked, recur=recur)
    for generation, count in chunks:
        generation.line.length += count
    return list(hidden.split(wanted))


def _lora(chunks: list[tuple[Generation, int]], counts: list[int]) -> SegmentLora:
    """The view of so many tokens of each chunk."""
    adapters = [generation.adapter for generation, _ in chunks]
    return SegmentLora(segments(zip(adapters, counts, strict=True)))
