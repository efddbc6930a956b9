"""How much memory a base model may use for serving."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from heddle_engine import memory
from heddle_engine.bases import Base
from heddle_engine.memory import serving_plan, training_tokens
from heddle_engine.settings import Settings

GIB = 1 << 30
TINY = Path(__file__).parents[1] / "models/heddle-tiny"


@pytest.fixture
def machine(monkeypatch):
    monkeypatch.setattr(memory, "machine_bytes", lambda: 24 * GIB)


def decoder_of(token_bytes, context):
    config = SimpleNamespace(max_position=context)
    return SimpleNamespace(kv_token_bytes=token_bytes, config=config, device=torch.device("cpu"))


def test_a_large_model_gets_a_share_of_the_machine(machine):
    plan = serving_plan(decoder_of(229_376, 40_960), 146, Settings())
    assert (plan.kv_bytes, plan.cache_bytes) == (6 * GIB, 1.5 * GIB)


def test_the_shipped_model_gets_no_more_than_it_can_use(machine):
    """2 KiB a token, 2,048 tokens a sequence."""
    base = Base("heddle/tiny", TINY, torch.device("cpu"), torch.float32)
    plan = serving_plan(base.decoder, 146, Settings())
    assert (plan.kv_bytes, plan.cache_bytes) == (146 * 4 * 1024**2, 32 * 4 * 1024**2)


def test_a_training_pass_keeps_an_eighth_of_the_machine(machine):
    """The shipped model keeps 4 layers of 4 * 128 + 18 * 32 + 3 * 384 numbers of 4 bytes for each token."""
    base = Base("heddle/tiny", TINY, torch.device("cpu"), torch.float32)
    assert base.decoder.activation_token_bytes == 35_840
    assert training_tokens(base.decoder) == 3 * GIB // 35_840


def test_what_is_set_stands(machine):
    plan = serving_plan(decoder_of(2048, 2048), 146, Settings(kv_bytes=5 * GIB, cache_bytes=0))
    assert (plan.kv_bytes, plan.cache_bytes) == (5 * GIB, 0)
