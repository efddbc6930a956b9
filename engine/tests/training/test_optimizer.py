"""AdamW gives torch's updates, and clipping gives norms computed by hand."""

import math

import pytest
import torch

from heddle_engine.training.optimizer import RL_OPTIMIZER, SFT_OPTIMIZER, AdamW, AdamWConfig


@pytest.mark.parametrize("config", [RL_OPTIMIZER, SFT_OPTIMIZER])
def test_updates_equal_torch(config):
    generator = torch.Generator().manual_seed(0)
    ours = torch.randn(50, generator=generator)
    theirs = torch.nn.Parameter(ours.clone())
    oracle = torch.optim.AdamW([theirs], betas=(0.9, 0.99), eps=1e-8, weight_decay=config.weight_decay)
    optimizer = AdamW(ours, config)
    for step in range(20):
        gradient = torch.randn(50, generator=generator) * 10 ** (step % 4 - 2)
        for group in oracle.param_groups:
            group["lr"] = 0.01 * (step + 1)
        theirs.grad = gradient.clone()
        expected_norm = float(torch.nn.utils.clip_grad_norm_([theirs], config.max_norm))
        oracle.step()
        assert optimizer.step(gradient, 0.01 * (step + 1)) == pytest.approx(expected_norm, rel=1e-6)
    torch.testing.assert_close(ours, theirs.detach(), rtol=1e-5, atol=1e-6)


def test_the_defaults_of_the_contract():
    """training-api 7.6."""
    assert (RL_OPTIMIZER.weight_decay, RL_OPTIMIZER.max_norm) == (0.1, 0.1)
    assert (SFT_OPTIMIZER.weight_decay, SFT_OPTIMIZER.max_norm) == (0.0, 1.0)
    assert (RL_OPTIMIZER.beta1, RL_OPTIMIZER.beta2) == (0.9, 0.99)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_gradient_that_is_not_finite_changes_nothing(bad):
    parameters = torch.ones(3)
    optimizer = AdamW(parameters, AdamWConfig(0.1, 1.0))
    assert not math.isfinite(optimizer.step(torch.tensor([0.0, bad, 0.0]), 0.1))
    assert parameters.tolist() == [1.0, 1.0, 1.0]
    assert optimizer.steps == 0
    assert not optimizer.mean.any()


def test_norm_of_many_small_values_is_exact():
    """A sum in fp32 loses 2e-5 of the norm at 1.4 million values and 1e-3 at 20 million, and clipping scales by it."""
    gradient = torch.randn(20_000_000, generator=torch.Generator().manual_seed(0))
    exact = math.sqrt(float((gradient.double() ** 2).sum()))
    assert AdamW(torch.zeros(len(gradient)), SFT_OPTIMIZER).step(gradient, 0.0) == pytest.approx(exact, rel=1e-7)
