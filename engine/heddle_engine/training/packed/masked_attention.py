"""Attention over a forest of shared prefixes through one dense mask."""

import torch
import torch.nn.functional as F
from torch import Tensor

from ...model.attention.sinks import as_keys
from .prefix_tree import Forest


class MaskedTreeAttention:
    """Memory grows with the square of the row; used where no other has a kernel."""

    def __init__(self, forest: Forest, device: torch.device, window: int | None = None) -> None:
        n = len(forest.ids)
        visible = torch.zeros(n, n, dtype=torch.bool)
        for node in forest.nodes:
            visible[node.start : node.end, node.start : node.start + node.length] = True
        visible.tril_()
        if window is not None:
            positions = torch.from_numpy(forest.positions)
            visible &= positions[:, None] - positions < window
        self._visible = visible.to(device)

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor, sinks: Tensor | None = None) -> Tensor:
        q, k, v = (x.transpose(0, 1)[None] for x in (q, k, v))
        mask = self._visible
        if sinks is not None:
            k, v, mask = as_keys(k, v, mask[None, None], sinks)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        return out[0].transpose(0, 1)
