"""Log-probabilities and LoRA gradients of the packed forward pass equal those of transformers and peft."""

import numpy as np
import pytest
import torch

from heddle_engine.model.head import token_logprobs
from heddle_engine.model.linear import FrozenLinear
from heddle_engine.training.packed import packed_forward
from heddle_engine.training.packed.flash_tree_attention import FlashTreeAttention
from heddle_engine.training.packed.flash_window_attention import FlashWindowAttention
from heddle_engine.training.packed.masked_attention import MaskedTreeAttention
from heddle_engine.training.packed.packed_forward import batch_logprobs, lay_out
from heddle_engine.training.packed.prefix_tree import build_forest
from tests.models import CONFIGS, HYBRIDS, MIXTURES
from tests.training import plain_attention
from tests.training.builders import random_group, sequence
from tests.training.oracle import CPU, delta_nets_by_token, make_pair, oracle_gradients


def oracle_logprobs(oracle, s) -> torch.Tensor:
    """Log-probabilities as a plain training loop computes them: one row without padding, full logits."""
    ids = torch.from_numpy(s.ids)
    logits = oracle(input_ids=ids[None], use_cache=False).logits[0].float()
    logprobs = torch.log_softmax(logits[:-1], -1).gather(1, ids[1:, None])[:, 0]
    return logprobs[torch.from_numpy(s.trained[1:])]


def mixed_sequences():
    """Two groups with shared prompts, the second long and branching twice, and a sequence on its own."""
    g = np.random.default_rng(3)
    first = random_group(g, 320, 40, [5, 9, 1, 30], group=0)
    second = random_group(g, 320, 150, [140, 20], group=1)
    deep = [*second[1].ids[:160], *g.integers(0, 320, 25)]
    return [*first, *second, sequence(deep, 165, group=1), sequence(g.integers(0, 320, 12), 4, group=2)]


@pytest.mark.parametrize("kind", CONFIGS)
def test_packed_gradients_equal_a_plain_loop(kind, model_folders, monkeypatch):
    """Every architecture; `llama3`, `qwen2` and `qwen3` have a tied head (engine 4.5)."""
    delta_nets_by_token(monkeypatch)
    pair = make_pair(model_folders(kind))
    sequences = mixed_sequences()
    batch = lay_out(sequences, CPU)
    assert len(batch) < sum(map(len, sequences)) - 250  # the prompts are stored once
    coefficients = torch.randn(len(batch.targets), generator=torch.Generator().manual_seed(1))

    logprobs, _ = batch_logprobs(pair.decoder, batch, pair.lora, 1024)
    (logprobs * coefficients).sum().backward()

    expected = torch.cat([oracle_logprobs(pair.oracle, s) for s in sequences])
    (expected * coefficients).sum().backward()
    torch.testing.assert_close(logprobs, expected, rtol=0, atol=2e-5)
    reference = oracle_gradients(pair.lora, pair.oracle).double()
    # Both round: of mixtures with delta nets each is up to 1.4e-5 off the gradient in 64 bits, in which the two agree
    # within 4e-7.
    bound = 2e-5 if kind in HYBRIDS and kind in MIXTURES else 1e-5
    assert (pair.lora.gradient.double() - reference).norm() / reference.norm() < bound


def test_rslora_scale_is_applied_once(model_folders):
    """engine 4.5: alpha / sqrt(r) instead of alpha / r."""
    pair = make_pair(model_folders("qwen3"), rslora=True)
    sequences = mixed_sequences()[:2]
    logprobs, _ = batch_logprobs(pair.decoder, lay_out(sequences, CPU), pair.lora, 1024)
    expected = torch.cat([oracle_logprobs(pair.oracle, s) for s in sequences])
    torch.testing.assert_close(logprobs, expected, rtol=0, atol=2e-5)


@pytest.mark.parametrize("kind", ["qwen3", "gemma3", "qwen3_5"])
@pytest.mark.parametrize("changed", [0, 3, 6, 7])
def test_one_sequence_never_sees_another(changed, kind, model_folders):
    """engine 4.5, packed mask: when one member changes, all other log-probabilities stay bit-equal."""
    pair = make_pair(model_folders(kind))

    def run(sequences):
        batch = lay_out(sequences, CPU)
        with torch.no_grad():
            logprobs, _ = batch_logprobs(pair.decoder, batch, pair.lora, 1024)
        return [logprobs[batch.sequence == i] for i in range(len(sequences))]

    before, sequences = run(mixed_sequences()), mixed_sequences()
    sequences[changed].ids[sequences[changed].trained] += 1
    sequences[changed].ids %= 320
    after = run(sequences)
    for i, (old, new) in enumerate(zip(before, after, strict=True)):
        assert torch.equal(old, new) == (i != changed), f"sequence {i}"


@pytest.mark.parametrize("sinks", [None, torch.tensor([-1.0, 0.0, 2.0, 5.0])], ids=["plain", "sinks"])
@pytest.mark.parametrize("window", [None, 1, 2, 7, 24, 100, 1000])
def test_all_attentions_over_shared_prefixes_agree(window, sinks):
    """The longest sequence has 290 tokens, and shares 160 of them."""
    forest = build_forest(mixed_sequences())
    q, k, v = (torch.randn(len(forest.ids), heads, 16, dtype=torch.float32) for heads in (4, 2, 2))
    grad = torch.randn_like(q)

    def results(attend):
        leaves = [x.clone().requires_grad_() for x in (q, k, v)]
        out = attend(0, *leaves, sinks=sinks)
        out.backward(grad)
        return [out, *(leaf.grad for leaf in leaves)]

    masked = results(MaskedTreeAttention(forest, CPU, window))
    chosen = lay_out(mixed_sequences(), CPU).attend
    flash = (
        FlashTreeAttention(forest, CPU, plain_attention.KERNEL)
        if window is None
        else FlashWindowAttention(forest, CPU, window, plain_attention.KERNEL)
    )
    for attend in (lambda *given, sinks: chosen(*given, window, sinks), flash):
        for one, other in zip(results(attend), masked, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


def test_layers_that_are_computed_again_give_the_same_gradient(model_folders, monkeypatch):
    """engine-next G1: where activations do not fit, each layer keeps its input alone."""
    pair = make_pair(model_folders("qwen3"))

    def gradient():
        pair.lora.gradient.zero_()
        logprobs, _ = batch_logprobs(pair.decoder, lay_out(mixed_sequences(), CPU), pair.lora, 1024)
        logprobs.sum().backward()
        return pair.lora.gradient.clone()

    def kept_bytes():
        kept = []
        hooks = torch.autograd.graph.saved_tensors_hooks(lambda x: kept.append(x.nbytes) or x, lambda x: x)
        with hooks:
            batch_logprobs(pair.decoder, lay_out(mixed_sequences(), CPU), pair.lora, 1024)
        return sum(kept)

    kept, whole = kept_bytes(), gradient()
    monkeypatch.setattr(packed_forward, "training_tokens", lambda decoder: 1)
    assert kept_bytes() < kept / 4
    assert torch.equal(gradient(), whole)


def test_chunks_of_the_head_do_not_change_the_result(model_folders):
    pair = make_pair(model_folders("qwen3"))
    batch = lay_out(mixed_sequences(), CPU)
    with torch.no_grad():
        one, _ = batch_logprobs(pair.decoder, batch, pair.lora, 4096)
        many, _ = batch_logprobs(pair.decoder, batch, pair.lora, 16)
    torch.testing.assert_close(one, many, rtol=0, atol=1e-6)


def test_logprobs_are_fp32_whatever_the_hidden_dtype():
    """engine 4.5: with logits of 40 that are rounded to bf16, a log-probability is off by more than 0.05."""
    generator = torch.Generator().manual_seed(0)
    hidden, weight = ((4 * torch.randn(n, 8, generator=generator)).bfloat16() for n in (5, 50))
    targets = torch.arange(5)
    logprobs, entropy = token_logprobs(hidden, targets, FrozenLinear(weight, ()), 1024)
    assert logprobs.dtype == entropy.dtype == torch.float32
    logits = hidden.double() @ weight.double().t()
    assert logits.abs().max() > 35
    torch.testing.assert_close(logprobs.double(), logits.log_softmax(-1)[targets, targets], rtol=0, atol=5e-4)


def test_entropy_is_that_of_the_whole_distribution(model_folders):
    pair = make_pair(model_folders("qwen3"))
    s = random_group(np.random.default_rng(0), 320, 20, [6])[0]
    _, entropy = batch_logprobs(pair.decoder, lay_out([s], CPU), pair.lora, 1024)
    with torch.no_grad():
        logits = pair.oracle(input_ids=torch.from_numpy(s.ids)[None]).logits[0, 19:-1].double()
    p = logits.softmax(-1)
    torch.testing.assert_close(entropy.double(), -(p * p.log()).sum(-1), rtol=1e-5, atol=1e-5)


def test_positions_continue_after_the_prefix_and_restart_for_each_sequence():
    """engine 4.5, positions: a layout worked out by hand."""
    shared = list(range(100, 120))
    forest = build_forest([sequence([*shared, 1, 2], 20), sequence([*shared, 3], 20), sequence([7, 8, 9], 1)])
    assert forest.ids.tolist() == [*shared, 1, 2, 3, 7, 8, 9]
    assert forest.positions.tolist() == [*range(20), 20, 21, 20, 0, 1, 2]
    assert [p.tolist() for p in forest.places] == [[*range(22)], [*range(20), 22], [23, 24, 25]]
