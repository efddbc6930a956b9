"""What only a GPU computes, against the plain operators; left out on machines without one."""

import random

import numpy as np
import pytest
import torch

from heddle_engine.bases import Base
from heddle_engine.model.adapters import ServedAdapter
from heddle_engine.model.attention.paged_attention import _gathered, paged_attention
from heddle_engine.model.decoder import NoLora
from heddle_engine.model.lora import initial_lora
from heddle_engine.serving import admission, batching
from heddle_engine.serving.batching import Batcher
from heddle_engine.serving.kv_pool import BLOCK
from heddle_engine.serving.lora_batch import Segment, SegmentLora
from heddle_engine.serving.pool_step import CapturedStep
from heddle_engine.training.packed import packed_forward
from heddle_engine.training.packed.flash_tree_attention import FlashTreeAttention
from heddle_engine.training.packed.flash_window_attention import FlashWindowAttention
from heddle_engine.training.packed.masked_attention import MaskedTreeAttention
from heddle_engine.training.packed.packed_forward import batch_logprobs, lay_out
from heddle_engine.training.packed.prefix_tree import build_forest
from heddle_engine.training.trainable_lora import TrainableLora
from tests.models import CONFIGS, make_model
from tests.serving.test_batching import request_of, run
from tests.training.builders import random_group, sequence

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")]
GPU = torch.device("cuda")


def relative(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one.double() - other.double()).norm() / other.double().norm())


@pytest.fixture(scope="module")
def base(request, model_folders):
    kind, dtype = request.param
    return Base("tiny", model_folders(kind), GPU, dtype)


DENSE = [("qwen3", torch.bfloat16), ("qwen3_5", torch.bfloat16)]
EXACT = [("qwen3_5", torch.float32), ("qwen3_5_moe", torch.float32), ("qwen3_next", torch.float32)]
"""Of mixtures one rounding may pick another expert, which delta nets remember."""
ATTENTION = [("gemma3", torch.bfloat16), ("gpt_oss", torch.bfloat16), ("qwen3_moe", torch.bfloat16)]


def in_families(pairs):
    names = [f"{kind}-{'bf16' if dtype == torch.bfloat16 else 'fp32'}" for kind, dtype in pairs]
    return pytest.mark.parametrize("base", pairs, indirect=True, ids=names)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.parametrize(
    ("heads", "kv_heads", "dim"), [(32, 8, 128), (16, 16, 64), (28, 4, 128), (16, 2, 256), (4, 2, 16)]
)
@pytest.mark.parametrize("rows", [1, 7, 64])
@pytest.mark.parametrize("window", [None, 64, 100])
def test_attention_over_blocks_equals_that_over_gathered_keys(window, rows, heads, kv_heads, dim, dtype):
    chance = random.Random(rows)
    lengths = [chance.choice([1, 63, 64, 65, 200, 3000]) for _ in range(rows)]
    width = 48
    keys, values = (torch.randn(rows * width * BLOCK, kv_heads, dim, device=GPU, dtype=dtype) for _ in "kv")
    table = torch.randperm(rows * width, device=GPU).int().view(rows, width)
    q = torch.randn(rows, heads, dim, device=GPU, dtype=dtype)
    arguments = (q, keys, values, table, torch.tensor(lengths, dtype=torch.int32, device=GPU), BLOCK, window)
    assert relative(paged_attention(*arguments), _gathered(*arguments)) < (1e-2 if dtype == torch.bfloat16 else 1e-5)


def trees():
    g = np.random.default_rng(3)
    first = random_group(g, 320, 300, [50, 90, 1, 30], group=0)
    second = random_group(g, 320, 150, [140, 20], group=1)
    longer = [sequence([*second[0].ids[:200], *g.integers(0, 320, length)], 200, 1) for length in (40, 7, 129)]
    return [*first, *second, *longer, *random_group(g, 320, 5, [400], group=2)]


@pytest.mark.parametrize(("heads", "kv_heads", "dim"), [(16, 8, 128), (4, 2, 64)])
@pytest.mark.parametrize("window", [None, 100])
def test_flash_and_masked_attention_over_shared_prefixes_agree(window, heads, kv_heads, dim):
    forest = build_forest(trees())
    shapes = ((len(forest.ids), each, dim) for each in (heads, kv_heads, kv_heads))
    given = [torch.randn(shape, device=GPU) for shape in shapes]
    grad = torch.randn_like(given[0])

    def results(attend, dtype):
        leaves = [x.to(dtype, copy=True).requires_grad_() for x in given]
        out = attend(0, *leaves)
        out.backward(grad.to(dtype))
        return [out, *(leaf.grad for leaf in leaves)]

    exact = results(MaskedTreeAttention(forest, GPU, window), torch.float32)
    flash = FlashWindowAttention(forest, GPU, window) if window else FlashTreeAttention(forest, GPU)
    for one, other in zip(results(flash, torch.bfloat16), exact, strict=True):
        assert relative(one.detach(), other.detach()) < 1e-2


@in_families([DENSE[0], *EXACT])
def test_layers_that_are_computed_again_give_the_same_gradient(base, monkeypatch):
    lora = TrainableLora(initial_lora(base.config, rank=4, alpha=8.0, seed=1), GPU)

    def gradient():
        lora.gradient.zero_()
        logprobs, _ = batch_logprobs(base.decoder, lay_out(trees(), GPU), lora, 1024)
        logprobs.sum().backward()
        return lora.gradient.clone()

    whole = gradient()
    monkeypatch.setattr(packed_forward, "training_tokens", lambda decoder: 1)
    # Two bf16 backward passes differ in the order of their sums.
    assert relative(gradient(), whole) < (1e-2 if base.dtype == torch.bfloat16 else 1e-4)


def logprobs_and_gradient(folder, device):
    """In fp32, where the kernels round nothing."""
    base = Base("tiny", folder, device, torch.float32)
    weights = initial_lora(base.config, rank=4, alpha=8.0, seed=1)
    for number, module in enumerate(weights.modules.values()):
        module.b.normal_(std=0.05, generator=torch.Generator().manual_seed(number))
    lora = TrainableLora(weights, device)
    logprobs, _ = batch_logprobs(base.decoder, lay_out(trees()[:6], device), lora, 1024)
    logprobs.sum().backward()
    return logprobs.detach().cpu(), lora.gradient.cpu()


def assert_as_on_a_cpu(folder):
    exact = logprobs_and_gradient(folder, torch.device("cpu"))
    for found, expected in zip(logprobs_and_gradient(folder, GPU), exact, strict=True):
        assert relative(found, expected) < 1e-4


@pytest.mark.parametrize("kind", CONFIGS)
def test_every_family_has_the_gradients_that_a_cpu_computes(kind, model_folders):
    assert_as_on_a_cpu(model_folders(kind))


@pytest.fixture(scope="module")
def with_large_heads(tmp_path_factory):
    """Those of the hub's Qwen3.5."""
    of_nets = {"linear_key_head_dim": 128, "linear_value_head_dim": 128}
    return make_model("qwen3_5", tmp_path_factory.mktemp("large"), head_dim=256, **of_nets)


def test_heads_of_the_size_of_the_hubs_hybrids(with_large_heads):
    assert_as_on_a_cpu(with_large_heads)
    for dtype in (torch.bfloat16, torch.float32):
        assert_captured_steps_sample_what_is_trained(Base("large", with_large_heads, GPU, dtype), own=3)


def adapters(base, count):
    made = []
    for seed in range(count):
        weights = initial_lora(base.config, rank=4 + 4 * seed, alpha=8.0, seed=seed)
        for number, module in enumerate(weights.modules.values()):
            module.b.normal_(std=0.05, generator=torch.Generator().manual_seed(100 * seed + number))
        made.append(ServedAdapter(f"a{seed}", weights, base.config, GPU, base.dtype))
    return made


def assert_trained(base, rows, sinks):
    """engine 4.5: raw log-probabilities of serving are those of training, whatever the batch.

    `rows` are an adapter or None and the ids of a prompt. In bf16 a token of a mixture may go to another expert than it
    went to, which is far off, and rare.
    """
    differences = []
    for (adapter, ids), sink in zip(rows, sinks, strict=True):
        batch = lay_out([sequence([*ids, *sink.ids()], len(ids))], GPU)
        with torch.no_grad():
            computed, _ = batch_logprobs(base.decoder, batch, _view(adapter), 1024)
        differences.append(computed.cpu() - torch.tensor(sink.logprobs()))
    together = torch.cat(differences)
    if base.dtype == torch.bfloat16 and base.config.mixture is not None:
        assert float(together.abs().median()) < 0.03
    else:
        assert float(together.square().mean().sqrt()) < (0.02 if base.dtype == torch.bfloat16 else 1e-4)


def _view(adapter):
    return SegmentLora([Segment(adapter, 0, 1 << 30)]) if adapter else NoLora()


def assert_captured(batcher, base):
    steps = batcher._forward._graphs._steps.values()
    if base.decoder.stays_on_device:
        assert any(step.is_captured for step in steps if isinstance(step, CapturedStep))


@in_families([*DENSE, *EXACT, *ATTENTION])
@pytest.mark.parametrize("own", [0, 1, 3])
def test_captured_steps_sample_what_a_training_pass_computes(own, base):
    assert_captured_steps_sample_what_is_trained(base, own)


def assert_captured_steps_sample_what_is_trained(base, own):
    chance = random.Random(5)
    chosen = [None, *adapters(base, own)] if own != 1 else adapters(base, 1)
    rows = [(chosen[i % len(chosen)], [chance.randrange(320) for _ in range(20 + 9 * i)]) for i in range(11)]
    batcher = Batcher(base.decoder, kv_bytes=1 << 28, cache_bytes=1 << 26)
    requests = [request_of(base, ids, adapter, temperature=1, seed="4", max_tokens=90) for adapter, ids in rows]
    sinks = run(batcher, requests)
    assert_captured(batcher, base)
    assert_trained(base, rows, sinks)


@in_families([DENSE[1], *EXACT])
def test_rows_of_hybrids_come_end_make_room_and_reuse_what_is_remembered(base, monkeypatch):
    """Prompts are read in several chunks, and steps are begun ahead of the tokens of rows that end."""
    monkeypatch.setattr(batching, "PREFILL_TOKENS", {"cuda": 150})
    monkeypatch.setattr(batching, "PREFILL_TOKENS_BESIDE_DECODE", {"cuda": 70})
    monkeypatch.setattr(admission, "_EXPECTED_OUTPUT", 16)
    preempted, preempt = [], Batcher._preempt
    monkeypatch.setattr(Batcher, "_preempt", lambda batcher: preempted.append(1) or preempt(batcher))
    chance, choices = random.Random(11), [None, *adapters(base, 3)]
    rows = [
        (choices[i % 4], [chance.randrange(320) for _ in range(chance.choice([1, 3, 40, 64, 65, 200]))])
        for i in range(40)
    ]
    memory = 13 * base.decoder.state_bytes + 12 * BLOCK * base.decoder.kv_token_bytes
    batcher = Batcher(base.decoder, memory, cache_bytes=1 << 26, max_rows=12)
    requests = [
        request_of(
            base, ids, adapter, tenant=str(i % 3), temperature=1, seed=str(i), max_tokens=[1, 2, 9, 30, 80][i % 5]
        )
        for i, (adapter, ids) in enumerate(rows)
    ]
    for request in requests:
        batcher.submit(request)
        for _ in range(chance.choice([0, 0, 1, 3])):
            batcher.step()
    run(batcher, [])
    sinks = [request.sink for request in requests]
    assert preempted
    assert batcher._kv.used_bytes == 0
    assert_captured(batcher, base)
    assert_trained(base, rows, sinks)

    # The next turn of dialogues, and a prompt that is known whole.
    again = [(rows[i][0], [*rows[i][1], *sinks[i].ids(), 5, 6]) for i in range(5, 40, 6)]
    again.append(next(row for row in rows if len(row[1]) == 200))
    sinks = run(batcher, [request_of(base, ids, adapter, temperature=1, max_tokens=20) for adapter, ids in again])
    assert sinks[-1].cached == 200
    assert sum(sink.cached > 0 for sink in sinks) > 2
    assert_trained(base, again, sinks)
