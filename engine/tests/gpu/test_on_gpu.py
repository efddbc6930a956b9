"""What only a GPU computes, against the plain operators; left out on machines without one."""

import random

import numpy as np
import pytest
import torch

from heddle_engine.bases import Base
from heddle_engine.model.adapters import ServedAdapter
from heddle_engine.model.decoder import NoLora
from heddle_engine.model.lora import initial_lora
from heddle_engine.model.paged_attention import _gathered, paged_attention
from heddle_engine.serving.batching import Batcher
from heddle_engine.serving.kv_pool import BLOCK
from heddle_engine.serving.lora_batch import Segment, SegmentLora
from heddle_engine.serving.pool_step import CapturedStep
from heddle_engine.training import packed_forward
from heddle_engine.training.flash_tree_attention import FlashTreeAttention
from heddle_engine.training.flash_window_attention import FlashWindowAttention
from heddle_engine.training.masked_attention import MaskedTreeAttention
from heddle_engine.training.packed_forward import batch_logprobs, lay_out
from heddle_engine.training.prefix_tree import build_forest
from heddle_engine.training.trainable_lora import TrainableLora
from tests.models import CONFIGS, HYBRIDS, MIXTURES
from tests.serving.test_batching import request_of, run
from tests.training.builders import random_group, sequence

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")]
GPU = torch.device("cuda")


def relative(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one.double() - other.double()).norm() / other.double().norm())


@pytest.fixture(scope="module")
def base(model_folders):
    return Base("tiny", model_folders("qwen3"), GPU, torch.bfloat16)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.parametrize(("heads", "kv_heads", "dim"), [(32, 8, 128), (16, 16, 64), (28, 4, 128), (4, 2, 16)])
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
    assert relative(gradient(), whole) < 1e-2


@pytest.mark.parametrize("kind", [kind for kind in CONFIGS if kind not in HYBRIDS])
def test_every_family_has_the_gradients_that_a_cpu_computes(kind, model_folders):
    """In fp32, where the kernels round nothing."""

    def gradient(device):
        base = Base("tiny", model_folders(kind), device, torch.float32)
        weights = initial_lora(base.config, rank=4, alpha=8.0, seed=1)
        for number, module in enumerate(weights.modules.values()):
            module.b.normal_(std=0.05, generator=torch.Generator().manual_seed(number))
        lora = TrainableLora(weights, device)
        logprobs, _ = batch_logprobs(base.decoder, lay_out(trees()[:6], device), lora, 1024)
        logprobs.sum().backward()
        return logprobs.detach().cpu(), lora.gradient.cpu()

    for found, exact in zip(gradient(GPU), gradient(torch.device("cpu")), strict=True):
        assert relative(found, exact) < 1e-4


def adapters(base, count):
    made = []
    for seed in range(count):
        weights = initial_lora(base.config, rank=4 + 4 * seed, alpha=8.0, seed=seed)
        for number, module in enumerate(weights.modules.values()):
            module.b.normal_(std=0.05, generator=torch.Generator().manual_seed(100 * seed + number))
        made.append(ServedAdapter(f"a{seed}", weights, base.config, GPU, torch.bfloat16))
    return made


@pytest.mark.parametrize(
    ("kind", "own"), [("qwen3", 0), ("qwen3", 1), *((kind, 3) for kind in ("qwen3", "gemma3", "gpt_oss", "qwen3_moe"))]
)
def test_captured_steps_sample_what_a_training_pass_computes(kind, own, model_folders):
    """engine 4.5: raw log-probabilities of serving are those of training, whatever the batch.

    In bf16 a token of a mixture may go to another expert than it went to, which is far off, and rare.
    """
    base, chance = Base("tiny", model_folders(kind), GPU, torch.bfloat16), random.Random(5)
    chosen = [None, *adapters(base, own)] if own != 1 else adapters(base, 1)
    rows = [(chosen[i % len(chosen)], [chance.randrange(320) for _ in range(20 + 9 * i)]) for i in range(11)]
    batcher = Batcher(base.decoder, kv_bytes=1 << 28, cache_bytes=1 << 26)
    requests = [request_of(base, ids, adapter, temperature=1, seed="4", max_tokens=90) for adapter, ids in rows]
    sinks = run(batcher, requests)
    steps = batcher._forward._graphs._steps.values()
    assert any(step.is_captured for step in steps if isinstance(step, CapturedStep))
    differences = []
    for (adapter, ids), sink in zip(rows, sinks, strict=True):
        batch = lay_out([sequence([*ids, *sink.ids()], len(ids))], GPU)
        with torch.no_grad():
            computed, _ = batch_logprobs(base.decoder, batch, _view(adapter), 1024)
        differences.append(computed.cpu() - torch.tensor(sink.logprobs()))
    together = torch.cat(differences)
    assert float(together.abs().median()) < 0.03
    assert float(together.square().mean().sqrt()) < (0.3 if kind in MIXTURES else 0.02)


def _view(adapter):
    return SegmentLora([Segment(adapter, 0, 1 << 30)]) if adapter else NoLora()
