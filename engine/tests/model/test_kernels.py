"""The kernels of a GPU against what a CPU computes in plain operators; Triton interprets them where there is no GPU."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

pytest.importorskip("triton", reason="Triton is not made for this system")

from heddle_engine.bases import Base
from heddle_engine.model import kernels
from heddle_engine.model.adapters import ServedAdapter
from heddle_engine.model.attention.attention_heads import rotate
from heddle_engine.model.attention.paged_attention import _gathered
from heddle_engine.model.attention.rope import RopeConfig, rope_tables
from heddle_engine.model.delta.delta_net import DeltaNet, DeltaNetConfig, DeltaState, Stretches
from heddle_engine.model.kernels import delta, delta_gates, gate, heads, lora, norm, pairs, routing
from heddle_engine.model.kernels import logits as logit_kernel
from heddle_engine.model.kernels.paged_attention import attend_in_blocks
from heddle_engine.model.lora import initial_lora
from heddle_engine.model.mixture import grouped_linear
from heddle_engine.serving import batching
from heddle_engine.serving.pool_forward import PoolForward
from heddle_engine.training.packed.packed_forward import batch_logprobs, lay_out
from heddle_engine.training.trainable_lora import TrainableLora
from tests.serving.test_batching import batcher_of, request_of, run
from tests.training.builders import random_group

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
FORMATS = [torch.float32, torch.bfloat16]
PRODUCT_FORMATS = [torch.float32, torch.bfloat16 if DEVICE.type == "cuda" else torch.float16]
"""The interpreter does not multiply matrices in bf16."""
EPS = 1e-6


interpreted = pytest.mark.skipif(DEVICE.type == "cuda", reason="tests/gpu runs the same on a GPU")


def draw(*shape, dtype=torch.float32, scale=1.0):
    source = torch.Generator().manual_seed(sum(shape))
    return (scale * torch.randn(shape, generator=source)).to(dtype)


def assert_near(found: torch.Tensor, exact: torch.Tensor) -> None:
    """In fp32 but for the order of sums, else within the rounding of bf16."""
    bound = 1e-5 if found.dtype == torch.float32 else 1e-2
    assert found.shape == exact.shape
    assert float((found.cpu().double() - exact.double()).norm()) <= bound * float(exact.double().norm())


def exact_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return x * (x.square().mean(-1, keepdim=True) + EPS).rsqrt() * weight.double()


def gradients(outs, inputs, grads):
    torch.autograd.backward(outs, [grad.double() for grad in grads])
    return [each.grad for each in inputs]


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("weight_dtype", FORMATS)
@pytest.mark.parametrize("width", [64, 100, 896])
def test_the_norm_of_a_sum_and_its_gradient(width, weight_dtype, dtype):
    x, added, grad_total, grad_normal = (draw(5, width, dtype=dtype) * (i + 1) for i in range(4))
    weight = draw(width, dtype=weight_dtype) + 1
    on_device = [each.to(DEVICE) for each in (x, added, weight)]
    total, normal = norm.add_norm(*on_device, EPS)
    slope = norm.add_norm_gradient(grad_total.to(DEVICE), grad_normal.to(DEVICE), total, on_device[2], EPS)

    leaves = [each.double().requires_grad_() for each in (x, added)]
    exact_total = sum(leaves)
    exact = exact_norm(exact_total, weight)
    expected = gradients([exact_total, exact], leaves, [grad_total, grad_normal])
    assert_near(total, exact_total.detach())
    assert_near(normal, exact.detach())
    for each in expected:
        assert_near(slope, each)


def test_a_norm_of_nothing_added_leaves_its_input_as_it_is():
    x, weight, grad = draw(3, 32).to(DEVICE), draw(32).to(DEVICE), draw(3, 32, scale=2).to(DEVICE)
    total, normal = norm.add_norm(x, None, weight, EPS)
    assert total is x
    leaf = x.cpu().double().requires_grad_()
    exact = exact_norm(leaf, weight.cpu())
    [expected] = gradients([exact], [leaf], [grad.cpu()])
    assert_near(normal, exact.detach())
    assert_near(norm.add_norm_gradient(None, grad, total, weight, EPS), expected)


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("normed", [True, False])
@pytest.mark.parametrize(
    ("counts", "dim", "rotary"),
    [((4, 2), 16, 16), ((14, 2), 64, 64), ((3, 3), 96, 96), ((16, 8), 128, 128), ((4, 2), 16, 8), ((8, 2), 96, 24)],
)
def test_queries_and_keys_and_their_gradient(counts, dim, rotary, normed, dtype):
    tokens, (queries, keys) = 6, counts
    qkv = draw(tokens, queries + 2 * keys, dim, dtype=dtype)
    weight = draw(queries + keys, dim) + 1 if normed else None
    rope = RopeConfig(10_000.0, "yarn", {"factor": 4.0, "original_max_position_embeddings": 16})
    cos, sin = (table[3 : 3 + tokens, None].to(dtype) for table in rope_tables(rope, rotary, 64))
    grads = [draw(tokens, count, dim, dtype=dtype, scale=place + 1) for place, count in enumerate((*counts, keys))]
    place = [None if each is None else each.to(DEVICE) for each in (qkv, weight, cos, sin)]
    made = heads.make_heads(place[0], counts, place[1], EPS, *place[2:])
    on_device = tuple(grad.to(DEVICE) for grad in grads)
    slope = heads.heads_gradient(on_device, place[0], counts, place[1], EPS, *place[2:])

    leaf = qkv.double().requires_grad_()
    turning, values = leaf.split([queries + keys, keys], 1)
    turned = rotate(turning if weight is None else exact_norm(turning, weight), cos.double(), sin.double())
    exact = [*turned.split(counts, 1), values]
    [expected] = gradients(exact, [leaf], grads)
    for found, reference in zip(made, exact, strict=True):
        assert_near(found, reference.detach())
    assert_near(slope, expected)


@pytest.mark.parametrize("dtype", [None, *FORMATS])
@pytest.mark.parametrize("vocabulary", [320, 5000])
def test_logprobs_entropy_and_their_gradient(vocabulary, dtype):
    logits, targets = draw(6, vocabulary, scale=4), torch.arange(6) * 50
    logits[2, 7] = -torch.inf
    logprobs, entropy = torch.empty(6, device=DEVICE), torch.empty(6, device=DEVICE)
    slope = logit_kernel.read_logits(logits.to(DEVICE), targets.to(DEVICE), logprobs, entropy, dtype)
    exact = torch.log_softmax(logits.double(), -1)
    assert_near(logprobs, exact.gather(1, targets[:, None])[:, 0])
    assert_near(entropy, torch.special.entr(exact.exp()).sum(-1))
    if dtype is None:
        assert slope is None
    else:
        assert_near(slope, exact.exp() - F.one_hot(targets, vocabulary))


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("gelu", [False, True], ids=["silu", "gelu"])
@pytest.mark.parametrize("inner", [24, 1500])
def test_gated_units_and_their_gradient(inner, gelu, dtype):
    gate_up, grad = draw(4, 2 * inner, dtype=dtype, scale=3), draw(4, inner, dtype=dtype)
    found = gate.gate(gate_up.to(DEVICE), gelu)
    slope = gate.gate_gradient(grad.to(DEVICE), gate_up.to(DEVICE), gelu)
    leaf = gate_up.double().requires_grad_()
    opening, up = leaf.chunk(2, -1)
    exact = (F.gelu(opening, approximate="tanh") if gelu else F.silu(opening)) * up
    [expected] = gradients([exact], [leaf], [grad])
    assert_near(found, exact.detach())
    assert_near(slope, expected)


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("gelu", [False, True], ids=["silu", "gelu"])
@pytest.mark.parametrize("inner", [24, 1500])
def test_the_gradient_of_weighted_gated_units(inner, gelu, dtype):
    gate_up, grad, weights = draw(4, 2 * inner, dtype=dtype, scale=3), draw(4, inner, dtype=dtype), draw(4)
    found = gate.weighted_gate_gradient(*(each.to(DEVICE) for each in (grad, gate_up, weights)), gelu)
    leaves = [gate_up.double().requires_grad_(), weights.double().requires_grad_()]
    opening, up = leaves[0].chunk(2, -1)
    unit = (F.gelu(opening, approximate="tanh") if gelu else F.silu(opening)) * up
    expected = gradients([unit * leaves[1][:, None]], leaves, [grad])
    for each, exact in zip(found, expected, strict=True):
        assert_near(each, exact)


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("tokens", "count", "width"), [(1, 8, 64), (5, 3, 1500)])
def test_the_sum_of_the_pairs_of_each_token(tokens, count, width, weighted, dtype):
    sorted_pairs, weights = draw(tokens * count, width, dtype=dtype), draw(tokens, count)
    places = torch.randperm(tokens * count, generator=torch.Generator().manual_seed(1)).view(tokens, count)
    given = [each.to(DEVICE) for each in (sorted_pairs, places, weights)]
    found = pairs.sum_pairs(*given[:2], given[2] if weighted else None)
    scale = weights.double() if weighted else torch.ones_like(weights).double()
    assert_near(found, torch.einsum("nk,nkd->nd", scale, sorted_pairs.double()[places]))


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize(("tokens", "experts", "count"), [(1, 8, 3), (7, 100, 8), (40, 128, 1)])
def test_the_likeliest_experts_of_each_token(tokens, experts, count, normalised):
    logits = draw(tokens, experts, scale=3)
    probabilities, weights, chosen = routing.choose(logits.to(DEVICE), count, normalised)
    exact = logits.double().softmax(-1)
    best = exact.topk(count)
    assert_near(probabilities, exact)
    assert_near(weights, best.values / best.values.sum(-1, keepdim=True) if normalised else best.values)
    assert torch.equal(chosen.cpu(), best.indices)


def test_experts_of_what_is_not_a_number_are_experts():
    _, weights, chosen = routing.choose(torch.full((2, 100), torch.nan, device=DEVICE), 8, True)
    assert weights.isnan().all()
    assert ((chosen >= 0) & (chosen < 100)).all()


@pytest.mark.parametrize(("count", "experts"), [(1, 8), (130, 100), (300, 4)])
def test_few_pairs_are_sorted_by_their_experts(count, experts):
    chosen = torch.randint(experts - 1, (count,), generator=torch.Generator().manual_seed(count))
    order, places, ends = (each.cpu() for each in routing.sort_few(chosen.to(DEVICE), experts))
    assert torch.equal(order, chosen.argsort(stable=True))
    assert torch.equal(order[places], torch.arange(count))
    assert torch.equal(ends.long(), chosen.bincount(minlength=experts).cumsum(0))


@pytest.mark.parametrize("dtype", PRODUCT_FORMATS)
@pytest.mark.parametrize("ranks", [16, 128])
@pytest.mark.parametrize(("inputs", "outputs"), [(48, 40), (1100, 260)])
@pytest.mark.parametrize(("height", "rows", "slots"), [(8, 32, [2, 0, 2, 1]), (16, 5, [0]), (64, 130, [1, 1, 1])])
def test_rows_in_tiles_are_changed_by_the_adapter_of_their_tile(height, rows, slots, inputs, outputs, ranks, dtype):
    x, y = draw(rows, inputs, dtype=dtype), draw(rows, outputs, dtype=dtype)
    a, b = draw(3, inputs, ranks, dtype=dtype, scale=0.1), draw(3, ranks, outputs, dtype=dtype, scale=0.1)
    tiles = torch.tensor(slots, device=DEVICE)
    changed = y.to(DEVICE, copy=True)
    parts = lora.down(x.to(DEVICE), a.to(DEVICE), tiles, height)
    assert lora.up(changed, parts, b.to(DEVICE), tiles, height) is changed
    of_row = torch.tensor(slots).repeat_interleave(height)[:rows]
    inner = torch.einsum("ni,nir->nr", x.double(), a.double()[of_row])
    assert_near(changed, y.double() + torch.einsum("nr,nro->no", inner, b.double()[of_row]))


@pytest.mark.parametrize("dtype", PRODUCT_FORMATS)
@pytest.mark.parametrize("window", [None, 6])
@pytest.mark.parametrize("splits", [1, 4])
@pytest.mark.parametrize("has_sinks", [False, True])
def test_attention_over_blocks_equals_that_over_gathered_keys(has_sinks, splits, window, dtype):
    block, lengths = 16, [1, 15, 16, 17, 60]
    keys, values = (draw(25 * block, 2, 16, dtype=dtype, scale=scale) for scale in (1, 2))
    table = torch.randperm(20, generator=torch.Generator().manual_seed(1)).int().view(5, 4)
    q = draw(5, 6, 16, dtype=dtype)
    seen = torch.tensor(lengths, dtype=torch.int32)
    sinks = torch.tensor([-20.0, -1.0, 0.0, 1.0, 3.0, 30.0]) if has_sinks else None
    place = [each.to(DEVICE) for each in (q, keys, values, table, seen)]
    found = attend_in_blocks(*place, block, splits, window, sinks if sinks is None else sinks.to(DEVICE))
    assert_near(found, _gathered(q.double(), keys.double(), values.double(), table, seen, block, window, sinks))


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize(("count", "dim"), [(4, 8), (12, 40), (32, 128)])
def test_decays_and_strengths_of_a_delta_net_and_its_gated_norm(count, dim, dtype):
    projected = draw(5, count * dim + 2 * count, dtype=dtype, scale=3)
    projected[0, -count:] *= 10
    gate_, strength, decay = projected.to(DEVICE).split([count * dim, count, count], 1)
    rate, bias, weight, mixed = draw(count).exp(), draw(count) - 9, draw(dim) + 1, draw(5, count, dim)
    found = delta_gates.weigh(decay, strength, rate.to(DEVICE), bias.to(DEVICE))
    out = delta_gates.gated_norm(mixed.to(DEVICE), gate_, weight.to(DEVICE), EPS)
    gate_, strength, decay = (x.cpu().double() for x in (gate_, strength, decay))
    assert_near(found[0], -rate.double() * torch.log1p((decay + bias.double()).exp()))
    assert_near(found[1], strength.sigmoid())
    # What is next to nothing keeps its digits too.
    torch.testing.assert_close(
        found[0].cpu().double(), -rate.double() * torch.log1p((decay + bias).exp()), rtol=1e-5, atol=1e-30
    )
    assert_near(out, exact_norm(mixed.double(), weight).flatten(1) * F.silu(gate_))
    assert out.dtype == dtype


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize(
    ("key_heads", "shared", "key_dim", "value_dim", "taps"), [(2, 2, 12, 8, 4), (1, 3, 16, 40, 3), (2, 1, 128, 64, 2)]
)
def test_a_token_of_a_delta_net_for_rows_whose_states_are_in_slots(key_heads, shared, key_dim, value_dim, taps, dtype):
    count = key_heads * shared
    config = DeltaNetConfig(key_heads, count, key_dim, value_dim, taps)
    net = DeltaNet(config, draw(config.channels, taps), draw(count), draw(count), draw(value_dim), EPS)
    states = DeltaState(draw(7, *config.memory_shape), draw(7, *config.inputs_shape, dtype=dtype))
    # A view of wider rows, as a projection gives it.
    inputs = draw(4, config.channels + 5, dtype=dtype)[None, :, : config.channels]
    tokens = Stretches(inputs, -draw(1, 4, count).abs(), draw(1, 4, count).sigmoid())
    slots, used, own = torch.tensor([3, 0, 6, 1]), torch.tensor([0, 2, 3]), torch.tensor([3, 6, 1])

    exact = states.memory.double()[own]
    seen = torch.cat([states.inputs[own], inputs[0, used, None]], 1)
    mixed = F.silu((seen.double() * net.conv.double().t()).sum(1))
    q, k, v = mixed.split([config.keys, config.keys, config.values], 1)
    q, k = (F.normalize(x.view(-1, key_heads, key_dim), dim=-1).repeat_interleave(shared, 1) for x in (q, k))
    v, decay, strength = (
        x.double() for x in (v.view(-1, count, value_dim), tokens.decay[0, used], tokens.strength[0, used])
    )
    exact *= decay.exp()[..., None, None]
    wanted = strength[..., None] * (v - torch.einsum("nhk,nhkv->nhv", k, exact))
    exact += k[..., None] * wanted[:, :, None]
    expected = torch.einsum("nhk,nhkv->nhv", q, exact) * key_dim**-0.5

    on_device = DeltaNet(config, *(x.to(DEVICE) for x in (net.conv, net.rate, net.bias, net.norm)), EPS)
    given = Stretches(*(x.to(DEVICE) for x in (tokens.inputs, tokens.decay, tokens.strength)))
    found = DeltaState(states.memory.to(DEVICE, copy=True), states.inputs.to(DEVICE, copy=True))
    out = delta.step_in_slots(on_device, given, found, slots.to(DEVICE), 0).cpu()
    assert_near(out[used], expected)
    assert_near(found.memory[own.to(DEVICE)], exact)
    assert torch.equal(found.inputs[own.to(DEVICE)].cpu(), seen[:, 1:])
    others = torch.tensor([0, 2, 4, 5])
    assert torch.equal(found.memory.cpu()[others], states.memory[others])
    assert torch.equal(found.inputs.cpu()[others], states.inputs[others])
    assert not out[1].any()


def compute_on(devices, monkeypatch):
    """As on a GPU where `devices` are those of a CPU."""
    monkeypatch.setattr(kernels, "_DEVICES", devices)
    monkeypatch.setattr(grouped_linear, "_DEVICES", devices)


def adapter_of(base, seed):
    weights = initial_lora(base.config, rank=4 + 4 * seed, alpha=8.0, seed=seed)
    for number, module in enumerate(weights.modules.values()):
        module.b.normal_(std=0.05, generator=torch.Generator().manual_seed(100 * seed + number))
    return weights


@interpreted
@pytest.mark.parametrize("kind", ["qwen3", "llama3", "gemma3", "qwen3_moe", "gpt_oss", "qwen3_5"])
def test_a_training_pass_by_kernels_has_the_gradient_of_one_in_plain_operators(kind, model_folders, monkeypatch):
    batch = lay_out(random_group(np.random.default_rng(1), 320, 9, [5, 4], group=0), DEVICE)
    found = []
    for devices in (set(), {"cpu"}):
        compute_on(devices, monkeypatch)
        base = Base("tiny", model_folders(kind), DEVICE, torch.float32)
        lora = TrainableLora(adapter_of(base, 1), DEVICE)
        logprobs, entropy = batch_logprobs(base.decoder, batch, lora, 1024)
        (logprobs * torch.arange(len(logprobs))).sum().backward()
        found.append((logprobs.detach(), entropy, lora.gradient.clone()))
    for by_kernels, plain in zip(found[1], found[0], strict=True):
        assert_near(by_kernels, plain)


@interpreted
@pytest.mark.parametrize(
    ("kind", "seeds"),
    [
        ("qwen3", [None]),
        ("qwen3", [1, None, 2]),
        *((kind, [1]) for kind in ("qwen3", "qwen3_moe", "qwen3_5", "gpt_oss")),
    ],
)
def test_steps_by_kernels_sample_what_plain_operators_do(kind, seeds, model_folders, monkeypatch):
    """Rows of the base model, of one adapter and of several."""
    monkeypatch.setattr(batching, "forward_of", PoolForward)
    # Programs are interpreted one after the other: as many as a small GPU takes, not a large one. Rows are split still.
    monkeypatch.setattr("heddle_engine.model.attention.paged_attention._PROGRAMS", 128)
    answers = []
    for devices in (set(), {"cpu"}):
        compute_on(devices, monkeypatch)
        base = Base("tiny", model_folders(kind), DEVICE, torch.float32)
        adapters = [
            seed and ServedAdapter(f"a{seed}", adapter_of(base, seed), base.config, DEVICE, torch.float32)
            for seed in seeds
        ]
        requests = [
            request_of(base, [7, 8, 9 + row], adapter, temperature=1, seed=str(row), max_tokens=2)
            for row, adapter in enumerate(adapters)
        ]
        answers.append(run(batcher_of(base, cache_bytes=0), requests))
    for by_kernels, plain in zip(*answers, strict=True):
        assert by_kernels.ids() == plain.ids()
        torch.testing.assert_close(by_kernels.logprobs(), plain.logprobs(), rtol=0, atol=1e-4)
