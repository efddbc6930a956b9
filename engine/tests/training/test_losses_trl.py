"""The policy loss and its gradient equal those of TRL's GRPOTrainer, wherever both have the same formula.

These differences are not compared, or only under the setting that is named:

- CISPO: our band is 1 - epsilon … 1 + epsilon_high; TRL has no lower bound, and its epsilon_high is the
  upper bound itself.
- ART's weights give every trajectory the same weight, which with `bnpo` is the reduction of TRL's `grpo`; with weights
  of one (`normalize_by_length` false) each of our loss types is TRL's of the same name, `bnpo` also its `dapo`.
- Our cap of the ratio holds before the clip, TRL's `delta` beside it: equal while the cap is above the band.
- The KL penalty shifts our advantages; TRL adds beta * k3 to the loss.
- Advantages: ours are divided by the population deviation + 1e-6, TRL's by its own + 1e-4.
"""

from dataclasses import fields
from pathlib import Path

import pytest
import torch
import transformers
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from heddle_engine.training.loss.advantages import normalize, trajectory_weight
from heddle_engine.training.loss.policy_loss import PolicyLossConfig, PolicyTokens, policy_loss
from heddle_engine.training.loss.reduction import Reduction, ReductionConfig
from tests.training.builders import sequence

LENGTHS = [7, 3, 5, 1]
MASK = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
PPO = {"loss_fn": "ppo", "epsilon": 0.2, "epsilon_high": 0.28}
BAND = {"epsilon": 0.2, "epsilon_high": 0.28}

#: Our settings, TRL's, and whether trajectories are weighted by their length.
CASES = {
    "cispo": (
        {"loss_fn": "cispo", "epsilon": 1.0, "epsilon_high": 0.5},
        {"loss_type": "cispo", "epsilon_high": 1.5},
        False,
    ),
    "dapo": (PPO, {"loss_type": "dapo", **BAND}, False),
    "bnpo": (PPO, {"loss_type": "bnpo", **BAND}, False),
    "weights of bnpo": (PPO, {"loss_type": "grpo", **BAND}, True),
    "grpo": ({**PPO, "loss_type": "grpo"}, {"loss_type": "grpo", **BAND}, False),
    "dr_grpo": (
        {**PPO, "loss_type": "dr_grpo", "max_completion_length": 9},
        {"loss_type": "dr_grpo", "max_completion_length": 9, **BAND},
        False,
    ),
    "gspo": (
        {**PPO, "importance_sampling_level": "sequence"},
        {"loss_type": "grpo", "importance_sampling_level": "sequence", **BAND},
        True,
    ),
    "cap": (
        {**PPO, "max_negative_advantage_importance_sampling_weight": 1.5},
        {"loss_type": "dapo", "delta": 1.5, **BAND},
        False,
    ),
}


@pytest.fixture(scope="module")
def make_trainer(model_folders, tmp_path_factory):
    """`make_trainer(settings)` makes TRL's trainer, before its first optimizer step."""
    model = transformers.AutoModelForCausalLM.from_pretrained(model_folders("qwen3"), dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(Path(__file__).parents[2] / "models" / "heddle-tiny")

    def make(settings):
        trainer = GRPOTrainer(
            model=model,
            args=GRPOConfig(
                output_dir=str(tmp_path_factory.mktemp("trl")),
                per_device_train_batch_size=len(LENGTHS),
                gradient_accumulation_steps=1,
                num_generations=len(LENGTHS),
                report_to=[],
                use_cpu=True,
                bf16=False,
                **settings,
            ),
            reward_funcs=lambda completions, **_: [0.0] * len(completions),
            train_dataset=Dataset.from_dict({"prompt": ["1 + 1"] * len(LENGTHS)}),
            processing_class=tokenizer,
        )
        trainer.current_gradient_accumulation_steps = 1
        trainer.model.train()
        return trainer

    return make


def trl_loss(trainer, new, old, advantages):
    """The loss that TRL computes for completions whose log-probabilities [B, T] are ``new``."""
    trainer._get_per_token_logps_and_entropies = lambda *_, **__: (new, torch.zeros_like(new), None)
    ones = torch.ones(len(new), 1, dtype=torch.long)
    inputs = {
        "prompt_ids": ones,
        "prompt_mask": ones,
        "completion_ids": MASK.long(),
        "completion_mask": MASK.long(),
        "advantages": advantages,
        "old_per_token_logps": old,
        "num_items_in_batch": MASK.sum(),
    }
    return trainer._compute_loss(trainer.model, inputs)


def our_loss(settings, new, old, advantages, by_length):
    """The reduction of a job's step (training-api 7.4)."""
    trajectories = [sequence(range(length + 1), 1) for length in LENGTHS]
    for one in trajectories:
        one.weight = trajectory_weight([one], by_length)
    normalize(trajectories, 0.0)
    weights = torch.tensor([one.weight for one in trajectories])
    owner = torch.repeat_interleave(torch.arange(len(LENGTHS)), torch.tensor(LENGTHS))
    tokens = PolicyTokens(advantages[owner], weights[owner], old[MASK])
    names = {field.name for field in fields(ReductionConfig)} & settings.keys()
    reduction = Reduction(ReductionConfig(**{name: settings[name] for name in names}), list(LENGTHS), new.device)
    loss = policy_loss(
        new[MASK], tokens, owner, PolicyLossConfig(**{name: settings[name] for name in settings.keys() - names})
    )
    return reduction.loss(loss.per_token * tokens.weights, owner)


@pytest.mark.parametrize("name", CASES)
def test_loss_and_gradient_equal_trl(name, make_trainer):
    settings, theirs, by_length = CASES[name]
    source = torch.Generator().manual_seed(0)
    old = -3 * torch.rand(MASK.shape, generator=source)
    value = old + 0.5 * torch.randn(MASK.shape, generator=source)
    advantages = torch.tensor([1.3, -0.7, 0.4, -1.1])
    ratio = (value - old)[MASK].exp()
    assert (ratio < 0.8).any()
    assert (ratio > 1.5).any()

    found, expected = (value.clone().requires_grad_() for _ in range(2))
    our = our_loss(settings, found, old, advantages, by_length)
    our.backward()
    trl = trl_loss(make_trainer(theirs), expected, old, advantages)
    trl.backward()
    assert our.item() == pytest.approx(trl.item(), rel=1e-5)
    assert expected.grad[MASK].abs().max() > 0.01
    torch.testing.assert_close(found.grad, expected.grad, rtol=1e-5, atol=1e-7)
