"""The memory that a base model may use for serving and training."""

import subprocess
import sys
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
    return SimpleNamespace(
        sequence_bytes=lambda length: length * token_bytes, config=config, device=torch.device("cpu")
    )


def test_a_large_model_gets_a_share_of_the_machine(machine):
    plan = serving_plan(decoder_of(229_376, 40_960), 146, Settings())
    assert (plan.kv_bytes, plan.cache_bytes) == (6 * GIB, 1.5 * GIB)


def test_the_shipped_model_gets_no_more_than_it_can_use(machine):
    """The shipped model needs 2 KiB a token, and has at most 2,048 tokens a sequence."""
    base = Base("heddle/tiny", TINY, torch.device("cpu"), torch.float32)
    plan = serving_plan(base.decoder, 146, Settings())
    assert (plan.kv_bytes, plan.cache_bytes) == (146 * 4 * 1024**2, 24 * 4 * 1024**2)


def test_a_training_pass_keeps_an_eighth_of_the_machine(machine):
    """The shipped model keeps 4 layers of 4 * 128 + 18 * 32 + 3 * 384 numbers of 4 bytes for each token."""
    base = Base("heddle/tiny", TINY, torch.device("cpu"), torch.float32)
    assert base.decoder.activation_token_bytes == 35_840
    assert training_tokens(base.decoder) == 3 * GIB // 35_840


def test_settings_of_memory_are_taken_as_they_are(machine):
    plan = serving_plan(decoder_of(2048, 2048), 146, Settings(kv_bytes=5 * GIB, cache_bytes=0))
    assert (plan.kv_bytes, plan.cache_bytes) == (5 * GIB, 0)


_PROMPTS_OF_MANY_LENGTHS = """
import sys
from pathlib import Path

from heddle_engine import allocator

allocator.keep_freed_pages()
if sys.argv[1] == "few":
    allocator.keep_few_kernels()
import torch

from heddle_engine.bases import Base
from heddle_engine.memory import resident_bytes
from heddle_engine.model.decoder import NoLora
from heddle_engine.training.packed.packed_forward import batch_logprobs, lay_out
from tests.training.builders import sequence

decoder = Base("heddle/tiny", Path(sys.argv[2]), torch.device("cpu"), torch.float32).decoder


def run(lengths):
    for length in lengths:
        batch = lay_out([sequence([5] * length, 1)], decoder.device)
        with torch.no_grad():
            batch_logprobs(decoder, batch, NoLora(), 1024)


run([184, *range(4, 24)])
before = resident_bytes()
run(range(24, 184))
print(resident_bytes() - before)
"""


def grown_by_prompts_of_many_lengths(kernels: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", _PROMPTS_OF_MANY_LENGTHS, kernels, str(TINY)],
        cwd=TINY.parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="torch without oneDNN keeps no kernels")
def test_lengths_that_never_come_again_take_no_memory():
    few, all_of_them = (grown_by_prompts_of_many_lengths(kernels) for kernels in ("few", "all"))
    assert few < all_of_them / 3, (few >> 20, all_of_them >> 20)


_A_JOB = """
import time

from heddle_engine import allocator

allocator.keep_freed_pages()
import torch

from heddle_engine.memory import resident_bytes
from heddle_engine.training.training_thread import ActiveJob, TrainingThread


class Job:
    result = {}

    def run(self):
        activations = [torch.ones(64 << 10) for _ in range(800)]
        yield None
        held.append(resident_bytes())
        del activations


def told(_):
    pass


held = [resident_bytes()]
thread = TrainingThread(1)
thread.submit(ActiveJob("one", Job(), told, told, told))
while thread.active:
    time.sleep(0.01)
time.sleep(0.3)
print(*(size >> 20 for size in [*held, resident_bytes()]))
"""


def test_what_a_job_computed_with_is_given_back_once_no_job_is_left():
    script = [sys.executable, "-c", _A_JOB]
    done = subprocess.run(script, capture_output=True, text=True, cwd=Path(__file__).parents[1], check=True)
    before, during, after = map(int, done.stdout.split())
    assert during - before > 190
    assert after - before < 50
