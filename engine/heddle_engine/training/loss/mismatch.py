"""How far the log-probabilities of training are from those recorded when sampling (engine 5.4)."""

import torch
from torch import Tensor

#: RMS in nats above which sampler and trainer are not the same function, rounding allowed for.
ALARM = {torch.float32: 1e-4, torch.bfloat16: 0.05}


def mismatch_metrics(trained: Tensor, sampled: Tensor) -> dict[str, float]:
    """RMS and largest |d|, and the k3 estimate of KL(sampler || trainer), d = trained - sampled, in nats.

    Empty when no sampled log-probability is known (NaN).
    """
    d = (trained - sampled)[~sampled.isnan()].double()
    if len(d) == 0:
        return {}
    return {
        "mismatch_rms": float(d.square().mean().sqrt()),
        "mismatch_max": float(d.abs().max()),
        "mismatch_kl": float((d.clamp(-20, 20).exp() - d - 1).mean()),
    }


def mismatch_warning(metrics: dict[str, float], dtype: torch.dtype) -> str | None:
    rms, limit = metrics.get("mismatch_rms", 0.0), ALARM.get(dtype, 0.05)
    if rms <= limit:
        return None
    return (
        f"sampled and trained log-probabilities differ by {rms:.3g} nats RMS (expected at most {limit:g}): "
        "the completions were sampled from other weights, or their log-probabilities are not the raw ones"
    )
