"""The policy loss equals numbers computed by hand from training-api 7.4.

Two tokens of one sequence: new = (-1, -2), old = (-1.5, -1), so d = (0.5, -1), exp(d) = (1.648721, 0.367879)
and, over the sequence, exp(mean d) = exp(-0.25) = 0.778801. Advantages are (1, -2).
"""

import pytest
import torch

from heddle_engine.training.loss.policy_loss import (
    PolicyLossConfig,
    PolicyTokens,
    importance_ratio,
    kl_to_reference,
    policy_loss,
)

NAN = float("nan")
#: Both tokens are of one sequence.
ONE = torch.tensor([0, 0])


def tokens(**changes):
    fields = {
        "advantages": torch.tensor([1.0, -2.0]),
        "weights": torch.ones(2),
        "old": torch.tensor([-1.5, -1.0]),
    }
    return PolicyTokens(**{**fields, **changes})


def loss_and_gradient(config, mean_kl=0.0, new=(-1.0, -2.0), **changes):
    leaf = torch.tensor(new, requires_grad=True)
    result = policy_loss(leaf, tokens(**changes), ONE, PolicyLossConfig(**config), mean_kl)
    result.per_token.sum().backward()
    return result.per_token.tolist(), leaf.grad.tolist()


PPO = {"loss_fn": "ppo", "epsilon": 0.2, "epsilon_high": 0.2}
WIDE = {"loss_fn": "ppo", "epsilon": 1.0, "epsilon_high": 4.0}
CASES = {
    # -clip(rho, 0, 5) A new; gradient -rho A
    "cispo": ({}, [1.648721, -1.471518], [-1.648721, 0.735759]),
    # weights clipped to [0.8, 1.2] still carry a gradient: -1.2 * 1, 0.8 * 2
    "cispo narrow": ({"epsilon": 0.2, "epsilon_high": 0.2}, [1.2, -3.2], [-1.2, 1.6]),
    # min(1.6487, 1.2) = 1.2 and min(-0.7358, -1.6) = -1.6: both clipped, no gradient
    "ppo clipped": (PPO, [-1.2, 1.6], [0.0, 0.0]),
    "ppo inside the band": (WIDE, [-1.648721, 0.735759], [-1.648721, 0.735759]),
    # rho_s = 0.778801 for both; d rho_s / d new_t = rho_s / 2, sum of A = -1
    "sequence": (
        {**WIDE, "importance_sampling_level": "sequence"},
        [-0.778801, 1.557602],
        [0.389400, 0.389400],
    ),
    "average": (
        {**WIDE, "importance_sampling_level": "average"},
        [-1.213761, 1.146680],
        [-0.629660, 0.562580],  # half of the token gradient plus half of the sequence gradient
    ),
    # sqrt(1.648721 * 0.778801) = exp(0.125) and exp(-0.625)
    "geometric average": (
        {"importance_sampling_level": "geometric_average"},
        [1.133148, -2.141046],
        [-1.133148, 1.070523],
    ),
    # despite its name the cap holds for the positive advantage too
    "cap": (
        {"max_negative_advantage_importance_sampling_weight": 0.5},
        [0.5, -1.471518],
        [-0.5, 0.735759],
    ),
    # both ratios lie outside (0.8, 1.2) and become 0 before the clip lifts them to 0.8
    "mask then clip": ({**PPO, "loss_fn": "cispo", "mask_prob_ratio": True}, [0.8, -3.2], [-0.8, 1.6]),
    "mask keeps what is inside": ({"mask_prob_ratio": True, "epsilon_high": 0.2}, [0.0, -1.471518], [0.0, 0.735759]),
    # A - 0.1 d = (0.95, -1.9)
    "kimi": ({"kimi_k2_tau": 0.1}, [1.566285, -1.397942], [-1.566285, 0.698971]),
    # min(rho, 1) = (1, 0.367879) multiplies the loss once more
    "truncated": ({"truncated_importance_sampling": 1.0}, [1.648721, -0.541341], [-1.648721, 0.270671]),
}


@pytest.mark.parametrize("name", CASES)
def test_loss_and_gradient(name):
    config, loss, gradient = CASES[name]
    found_loss, found_gradient = loss_and_gradient(config)
    assert found_loss == pytest.approx(loss, abs=2e-6)
    assert found_gradient == pytest.approx(gradient, abs=2e-6)


def test_truncation_compares_recomputed_with_sampled_logprobs():
    """rho' = exp(old - sampled) = (exp(0.2), 1 for an unknown), cut at 1.1."""
    sampled = torch.tensor([-1.7, NAN])
    loss, _ = loss_and_gradient({"truncated_importance_sampling": 1.1}, sampled=sampled)
    assert loss == pytest.approx([1.648721 * 1.1, -1.471518], abs=2e-6)


def test_unknown_old_logprob_means_on_policy():
    loss, gradient = loss_and_gradient({}, old=torch.tensor([NAN, NAN]))
    assert loss == pytest.approx([1.0, -4.0])
    assert gradient == pytest.approx([-1.0, 2.0])


@pytest.mark.parametrize(("source", "kl"), [("sample", [-0.3, 0.6]), ("current_learner", [0.2, -0.4])])
def test_kl_penalty_shifts_the_advantages(source, kl):
    """A + 0.5 (mean(k) - k), k = source - reference; the gradient sees the shift as a constant."""
    reference = torch.tensor([-1.2, -1.6])
    given = tokens(reference=reference)
    new = torch.tensor([-1.0, -2.0], requires_grad=True)
    found = kl_to_reference(new, given, source)
    assert found.tolist() == pytest.approx(kl)
    assert not found.requires_grad
    config = {"kl_penalty_coef": 0.5, "kl_penalty_source": source}
    mean = sum(kl) / 2
    _, gradient = loss_and_gradient(config, mean, reference=reference)
    shifted = [1.0 + 0.5 * (mean - kl[0]), -2.0 + 0.5 * (mean - kl[1])]
    assert gradient == pytest.approx([-1.648721 * shifted[0], -0.367879 * shifted[1]], abs=2e-6)


def test_sequence_ratios_do_not_mix_sequences():
    d = torch.tensor([0.5, -1.0, 0.3])
    ratio = importance_ratio(d, torch.tensor([0, 0, 1]), "sequence")
    assert ratio.tolist() == pytest.approx([0.778801, 0.778801, 1.349859], abs=1e-6)


@pytest.mark.parametrize("loss_fn", ["cispo", "ppo"])
def test_an_absurd_ratio_stays_finite(loss_fn):
    """engine 4.4: log-ratios are cut before the exponential."""
    loss, gradient = loss_and_gradient(
        {**WIDE, "loss_fn": loss_fn}, new=(-1.0, -2.0), old=torch.tensor([-300.0, -900.0])
    )
    assert all(abs(x) < 1e10 for x in loss + gradient)


def test_ratios_outside_the_band_are_marked():
    result = policy_loss(torch.tensor([-1.0, -1.0]), tokens(), ONE, PolicyLossConfig(**PPO))
    assert result.outside_band.tolist() == [True, False]
