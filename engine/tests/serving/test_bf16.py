"""Serving in bf16 on a CPU: what the rest of the batch and the prefix cache change is within the format's rounding."""

import random

import pytest
import torch

from heddle_engine.bases import Base
from heddle_engine.model.adapters import AdapterStore
from heddle_engine.model.lora import LoraModule, initial_lora
from heddle_engine.serving.embedding import EmbedCall
from tests.models import needs_bf16
from tests.serving.engine_process import EngineProcess
from tests.serving.test_batching import batcher_of, prompts, request_of, run
from tests.serving.test_prompt_reading import outcomes, scoring

pytestmark = needs_bf16
CPU = torch.device("cpu")
TOLERANCES = {"qwen3": 0.1, "qwen3_5": 0.2, "qwen3_next_mixed": 0.4}
"""Nats that one log-probability may differ by where products add up in another order; on average a fifth of it.

What a delta net has rounded it remembers, and near a tie another rounding picks another expert.
"""
TOLERANCE = TOLERANCES["qwen3"]
in_unlike_families = pytest.mark.parametrize("kind", TOLERANCES, indirect=True)


@pytest.fixture(scope="module")
def kind(request):
    return getattr(request, "param", "qwen3")


@pytest.fixture(scope="module")
def base(model_folders, kind):
    return Base("tiny", model_folders(kind), CPU, torch.bfloat16)


@pytest.fixture(scope="module")
def exact(model_folders, kind):
    """The same model in fp32."""
    return Base("tiny", model_folders(kind), CPU, torch.float32)


def adapters_of(base):
    made = []
    for number, rank in enumerate((4, 8, 2)):
        weights = initial_lora(base.config, rank, 2 * rank, number)
        generator = torch.Generator().manual_seed(number)
        for key, module in weights.modules.items():
            b = torch.randn(module.b.shape, generator=generator) * 0.1
            weights.modules[key] = LoraModule(module.a, b, module.scale)
        made.append(AdapterStore(base.config, CPU, base.dtype).publish(f"model@{number}", weights))
    return made


def assert_alike(ours, theirs, tolerance):
    """Two runs as (ids, logprobs): equal ids up to the first near tie, and log-probabilities within the tolerance."""
    compared, distances = 0, []
    for (own, own_logprobs), (other, other_logprobs) in zip(ours, theirs, strict=True):
        same = next((i for i, (a, b) in enumerate(zip(own, other, strict=True)) if a != b), len(own))
        compared += same
        distances += [a - b for a, b in zip(own_logprobs[: same + 1], other_logprobs[: same + 1], strict=True)]
    distances = torch.tensor(distances)
    assert compared > 0.7 * sum(len(ids) for ids, _ in ours)
    assert distances.abs().max() < tolerance
    assert distances.square().mean().sqrt() < tolerance / 5


def greedy(base, lines, which, together):
    adapters = adapters_of(base)
    requests = [
        request_of(base, line, None if w is None else adapters[w]) for line, w in zip(lines, which, strict=True)
    ]
    batches = [requests] if together else [[request] for request in requests]
    sinks = [sink for batch in batches for sink in run(batcher_of(base, cache_bytes=0), batch)]
    return [(sink.ids(), sink.logprobs()) for sink in sinks]


@in_unlike_families
def test_a_request_alone_gets_what_it_gets_in_a_batch_of_adapters(base, kind):
    chance = random.Random(4)
    lines = prompts(23, seed=2)
    which = [chance.choice([None, 0, 0, 0, 1, 2]) for _ in lines]
    together, alone = (greedy(base, lines, which, together) for together in (True, False))
    assert_alike(together, alone, TOLERANCES[kind])


@in_unlike_families
def test_bf16_samples_what_fp32_samples(base, exact, kind):
    lines, which = prompts(12, seed=5), [None, 0, 1] * 4
    rounded, plain = (greedy(each, lines, which, together=True) for each in (base, exact))
    assert_alike(rounded, plain, TOLERANCES[kind])


@in_unlike_families
def test_behind_a_cached_beginning_as_behind_a_computed_one(base, kind):
    prompt = prompts(1, seed=7, low=150, high=150)[0]
    batcher = batcher_of(base)
    run(batcher, [request_of(base, prompt[:100])])
    [cached] = run(batcher, [request_of(base, prompt)])
    [computed] = run(batcher_of(base, cache_bytes=0), [request_of(base, prompt)])
    assert cached.cached >= 96
    outcomes_of = ([(sink.ids(), sink.logprobs())] for sink in (cached, computed))
    assert_alike(*outcomes_of, TOLERANCES[kind])


def test_scores_of_a_prompt_and_embeddings_are_those_of_fp32(base, exact):
    ids = prompts(1, seed=8, low=120, high=120)[0]
    calls = [scoring(ids), (EmbedCall, {"prompt_token_ids": ids})]
    (scored, embedded), (scored_exactly, embedded_exactly) = (
        outcomes(each, batcher_of(each), calls) for each in (base, exact)
    )
    distance = torch.tensor(
        [
            a["logprob"] - b["logprob"]
            for a, b in zip(scored["prompt_logprobs"][1:], scored_exactly["prompt_logprobs"][1:], strict=True)
        ]
    )
    assert 0 < distance.square().mean().sqrt() < TOLERANCE / 5
    cosine = torch.dot(torch.tensor(embedded["embedding"]), torch.tensor(embedded_exactly["embedding"]))
    assert cosine > 0.9995


def test_an_engine_that_is_started_with_bf16_says_so_and_answers(model_folders, tmp_path):
    engine = EngineProcess(tmp_path, "--dtype", "bf16")
    try:
        client = engine.wait_until_listening()
        base = {"name": "tiny", "path": str(model_folders("qwen3"))}
        client.call("hello", {"protocol": 1, "token": None})
        _, found = client.call("base.resolve", {"base": base})
        assert found["dtype"] == "bf16"
        params = {"base": base, "adapter": None, "messages": [{"role": "user", "content": "the rain"}]}
        _, answer = client.call("chat", {**params, "sampling": {"max_tokens": 8, "temperature": 0, "ignore_eos": True}})
        assert len(answer["choices"][0]["tokens"]) == 8
        assert "is in memory, in bf16" in engine.log.read_text()
    finally:
        engine.close()
