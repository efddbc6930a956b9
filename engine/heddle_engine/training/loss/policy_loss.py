"""Policy-gradient losses on sampled tokens (training-api 7.4), in explicit parts.

All tensors are flat over the trained tokens of a row, fp32 [M], unless said otherwise; ``d`` is
log p_new - log p_old. References: PPO arXiv 1707.06347, CISPO arXiv 2506.13585, GSPO arXiv 2507.18071.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

#: Log-ratios are cut at +-20 before exp, so that one absurd token cannot make the loss infinite (engine 4.4).
MAX_LOG_RATIO = 20.0


@dataclass(frozen=True)
class PolicyLossConfig:
    """The keys of training-api 2.2 that shape the loss, defaults already applied."""

    loss_fn: str = "cispo"
    epsilon: float = 1.0
    epsilon_high: float = 4.0
    importance_sampling_level: str = "token"
    max_negative_advantage_importance_sampling_weight: float | None = None
    mask_prob_ratio: bool = False
    kimi_k2_tau: float | None = None
    truncated_importance_sampling: float | None = None
    kl_penalty_coef: float = 0.0
    kl_penalty_source: str = "current_learner"


@dataclass(frozen=True)
class PolicyTokens:
    """Trained tokens of one sequence, or of several one after the other."""

    advantages: Tensor
    weights: Tensor
    #: Log-probabilities the ratio is taken against; NaN means on-policy.
    old: Tensor
    #: As sampled, when ``old`` was computed afresh; NaN where unknown. None otherwise.
    sampled: Tensor | None = None
    #: Under the KL reference; None without a penalty.
    reference: Tensor | None = None


@dataclass(frozen=True)
class PolicyLoss:
    """``per_token`` [M] before weights and reduction; ``ratio`` [M] before any bound.

    ``outside_band`` [M] marks ratios that the clip changes, ``clipped`` [M] those of them that change the loss.
    """

    per_token: Tensor
    outside_band: Tensor
    clipped: Tensor
    ratio: Tensor


def policy_loss(
    new: Tensor, tokens: PolicyTokens, sequence: Tensor, config: PolicyLossConfig, mean_kl: float | Tensor = 0.0
) -> PolicyLoss:
    """Loss of every token given ``new``, its log-probability under the current weights.

    ``sequence``, int64 [M], is which sequence a token belongs to, from 0; no sequence is spread over two calls.
    ``mean_kl`` is the mean of :func:`kl_to_reference` over the whole row, or [M] where tokens are of several rows.
    """
    old = on_policy_where_unknown(tokens.old, new)
    d = (new - old).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)
    low, high = 1 - config.epsilon, 1 + config.epsilon_high
    unbounded = importance_ratio(d, sequence, config.importance_sampling_level)
    ratio = _bounded(unbounded, low, high, config)
    advantages = _shifted(tokens, new, d, mean_kl, config)
    clipped = ratio.clamp(low, high)
    if config.loss_fn == "ppo":
        loss = -torch.minimum(ratio * advantages, clipped * advantages)
    else:
        loss = -clipped.detach() * advantages * new
    if config.truncated_importance_sampling is not None:
        loss = loss * _truncated_weight(tokens, old, ratio, config.truncated_importance_sampling)
    unbounded = unbounded.detach()
    below, above = unbounded < low, unbounded > high
    acts = (above & (advantages > 0)) | (below & (advantages < 0)) if config.loss_fn == "ppo" else below | above
    return PolicyLoss(loss, below | above, acts, unbounded)


def on_policy_where_unknown(old: Tensor, new: Tensor) -> Tensor:
    """``old`` with stopgrad(``new``) where it is NaN."""
    return torch.where(old.isnan(), new.detach(), old)


def importance_ratio(d: Tensor, sequence: Tensor, level: str) -> Tensor:
    """exp(d) per token, per sequence (the mean of d over its trained tokens), or a mean of the two."""
    token = d.exp()
    if level == "token":
        return token
    whole = _sequence_mean(d, sequence).exp()[sequence]
    if level == "sequence":
        return whole
    return (token + whole) / 2 if level == "average" else (token * whole).sqrt()


def kl_to_reference(new: Tensor, tokens: PolicyTokens, source: str) -> Tensor:
    """stopgrad(source - reference) per token: the k1 estimate that shifts advantages."""
    assert tokens.reference is not None
    policy = on_policy_where_unknown(tokens.old, new) if source == "sample" else new
    return (policy - tokens.reference).detach()


def _sequence_mean(d: Tensor, sequence: Tensor) -> Tensor:
    count = int(sequence.max()) + 1
    total = torch.zeros(count, device=d.device).index_add(0, sequence, d)
    return total / torch.bincount(sequence, minlength=count).clamp(min=1)


def _bounded(ratio: Tensor, low: float, high: float, config: PolicyLossConfig) -> Tensor:
    cap = config.max_negative_advantage_importance_sampling_weight
    if cap is not None:
        # The name speaks of negative advantages; the reference trainer caps every token.
        ratio = ratio.clamp(max=cap)
    if config.mask_prob_ratio:
        ratio = torch.where((ratio > low) & (ratio < high), ratio, 0.0)
    return ratio


def _shifted(tokens: PolicyTokens, new: Tensor, d: Tensor, mean_kl: float | Tensor, config: PolicyLossConfig) -> Tensor:
    advantages = tokens.advantages
    if config.kimi_k2_tau is not None:
        advantages = advantages - config.kimi_k2_tau * d.detach()
    if config.kl_penalty_coef > 0:
        kl = kl_to_reference(new, tokens, config.kl_penalty_source)
        advantages = advantages + config.kl_penalty_coef * (mean_kl - kl)
    return advantages


def _truncated_weight(tokens: PolicyTokens, old: Tensor, ratio: Tensor, limit: float) -> Tensor:
    if tokens.sampled is not None:
        sampled = torch.where(tokens.sampled.isnan(), old, tokens.sampled)
        ratio = (old - sampled).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()
    return ratio.clamp(max=limit).detach()
