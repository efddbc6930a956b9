"""Continuous batching gives the results of transformers and peft, whatever else is in the batch."""

import copy
import functools
import json
import random

import pytest
import torch
from peft import LoraConfig, get_peft_model
from torch.nn.utils.rnn import pad_sequence

from heddle_engine.bases import Base
from heddle_engine.model.adapters import AdapterStore, ServedAdapter
from heddle_engine.model.attention import last_tokens
from heddle_engine.model.lora import initial_lora, lora_modules, read_peft
from heddle_engine.serving import batching
from heddle_engine.serving.batching import Batcher
from heddle_engine.serving.generation import Request
from heddle_engine.serving.kv import SlabMemory
from heddle_engine.serving.lora_batch import SegmentLora
from heddle_engine.serving.pool_forward import PoolForward
from heddle_engine.serving.sampler import Sampler
from heddle_engine.serving.sampling import SamplingParams
from tests.models import CONFIGS, oracle_of

CPU = torch.device("cpu")
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
KINDS = ["qwen3", "qwen3_moe", "qwen3_moe_mixed", "gemma3", "gpt_oss", "qwen3_5", "qwen3_5_moe"]
KINDS += ["qwen3_next", "qwen3_next_mixed"]
in_unlike_families = pytest.mark.parametrize("kind", KINDS, indirect=True)


class Recorder:
    """A sink that records everything it gets."""

    def __init__(self, n=1):
        self.cached = None
        self.tokens = [[] for _ in range(n)]
        self.ends = [None] * n
        self.error = None

    def started(self, cached_tokens):
        self.cached = cached_tokens

    def sampled(self, index, token, end):
        self.tokens[index].append(token)
        if end:
            self.ends[index] = (end.reason, end.stop_reason)

    def failed(self, error):
        self.error = error

    def ids(self, index=0):
        return [token.id for token in self.tokens[index]]

    def logprobs(self, index=0):
        return [token.logprob for token in self.tokens[index]]


@pytest.fixture(autouse=True, params=["slabs", "pool"])
def layout(request, monkeypatch):
    """A pool of blocks is for GPUs; computed in plain operators it gives what slabs give."""
    if request.param == "pool":
        monkeypatch.setattr(batching, "forward_of", PoolForward)
    return request.param


@pytest.fixture
def kind(request):
    return getattr(request, "param", "qwen3")


@pytest.fixture(scope="module")
def base_of(model_folders):
    """`base = base_of(kind)`, loaded once: pytest may run tests of several kinds by turns."""
    return functools.cache(lambda kind: Base("tiny", model_folders(kind), CPU, torch.float32))


@pytest.fixture
def base(base_of, kind):
    return base_of(kind)


@pytest.fixture(scope="module")
def model_of(model_folders):
    """`model = model_of(kind)`, as transformers computes it, loaded once."""
    return functools.cache(lambda kind: oracle_of(model_folders(kind)).eval())


def batcher_of(base, **options):
    return Batcher(base.decoder, **{"kv_bytes": 1 << 28, "cache_bytes": 1 << 26, **options})


def request_of(base, prompt, adapter=None, n=1, salt="", tenant="", **wire):
    params = SamplingParams.from_wire({"temperature": 0, "max_tokens": 12, "ignore_eos": True, **wire}, 320)
    sink = Recorder(n)
    return Request(list(prompt), params, n, adapter, salt, sink, base.tokenizer, base.max_model_len, tenant=tenant)


def run(batcher, requests):
    for request in requests:
        batcher.submit(request)
    steps = 0
    while batcher.busy:
        batcher.step()
        steps += 1
        assert steps < 5000
    return [request.sink for request in requests]


def prompts(count, seed=0, low=5, high=60):
    chance = random.Random(seed)
    return [[chance.randrange(300) for _ in range(chance.randint(low, high))] for _ in range(count)]


def make_peft_models(base, oracle, tmp_path_factory):
    """`[(model of peft, folder)]`: three adapters of unlike rank on copies of `oracle`."""
    made, targets = [], list(lora_modules(base.config))
    for number, rank in enumerate((4, 8, 2)):
        torch.manual_seed(number)
        settings = LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=targets)
        model = get_peft_model(copy.deepcopy(oracle), settings).eval()
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if "lora_B" in name:
                    parameter.normal_(0, 0.15)
        folder = tmp_path_factory.mktemp("adapter")
        model.save_pretrained(folder)
        made.append((model, folder))
    return made


@pytest.fixture(scope="module")
def peft_models_of(base_of, model_of, tmp_path_factory):
    """`[(model of peft, folder)] = peft_models_of(kind)`, made once."""
    return functools.cache(lambda kind: make_peft_models(base_of(kind), model_of(kind), tmp_path_factory))


@pytest.fixture
def peft_models(peft_models_of, kind):
    return peft_models_of(kind)


def adapters_of(base, peft_models):
    store = AdapterStore(base.config, CPU, torch.float32)
    return [store.get(f"model@{i}", str(folder)) for i, (_, folder) in enumerate(peft_models)]


def likeliest(model, lines, answers, banned):
    """For each place of each answer, what `model` finds likeliest after the line and the answer up to there: token ids.

    An answer that equals it is the greedy one. A single pass reads all lines, since none sees what pads it at its end.
    """
    whole = [torch.tensor([*line, *answer]) for line, answer in zip(lines, answers, strict=True)]
    with torch.inference_mode():
        logits = model(input_ids=pad_sequence(whole, batch_first=True), use_cache=False).logits
        logits[..., list(banned)] = -torch.inf
        best = logits.argmax(-1).tolist()
    places = [(len(line) - 1, len(answer)) for line, answer in zip(lines, answers, strict=True)]
    return [row[start : start + count] for row, (start, count) in zip(best, places, strict=True)]


def test_a_bf16_model_is_sampled_from_fp32_logits(model_folders, monkeypatch):
    """engine 4.5: with logits of 40 rounded to bf16, reported log-probabilities would be off by up to 0.17."""
    seen, real = [], Sampler.draw
    monkeypatch.setattr(Sampler, "draw", lambda sampler, logits: seen.append(logits) or real(sampler, logits))
    bf16 = Base("tiny", model_folders("qwen3"), CPU, torch.bfloat16)
    run(batcher_of(bf16), [request_of(bf16, [1, 2, 3], max_tokens=3)])
    assert len(seen) == 3
    for logits in seen:
        assert logits.dtype == torch.float32
        assert (logits != logits.bfloat16()).float().mean() > 0.9


LINES = [*prompts(6), prompts(1, seed=9, low=150, high=150)[0]]


@pytest.mark.parametrize("kind", CONFIGS, indirect=True)
def test_greedy_equals_transformers(base, kind, model_of):
    eos = base.tokenizer.eos_ids
    sinks = run(batcher_of(base), [request_of(base, line, logit_bias={str(i): -100 for i in eos}) for line in LINES])
    answers = [sink.ids() for sink in sinks]
    assert answers == likeliest(model_of(kind), LINES, answers, eos)
    for answer, sink in zip(answers, sinks, strict=True):
        assert len(answer) == 12
        assert sink.ends == [("length", None)]


@pytest.mark.parametrize("kind", ["qwen3", "gemma3", "qwen3_5"], indirect=True)
def test_greedy_equals_transformers_by_products(base, kind, model_of, monkeypatch):
    """Models as small as these are otherwise not computed by them."""
    monkeypatch.setattr(last_tokens, "_LEAST_DIM", 0)
    monkeypatch.setattr(last_tokens, "_LEAST_KEYS", 0)
    test_greedy_equals_transformers(base, kind, model_of)


def test_the_last_layer_computes_of_a_prompt_what_is_read(base, monkeypatch):
    """Of the tokens before its last one it needs keys and values alone."""
    seen, real = [], SegmentLora.project

    def project(lora, layer, site, x, frozen):
        seen.append((layer, site, len(x)))
        return real(lora, layer, site, x, frozen)

    monkeypatch.setattr(SegmentLora, "project", project)
    run(batcher_of(base), [request_of(base, line, max_tokens=1) for line in prompts(3, low=20, high=20)])
    last = base.config.num_layers - 1
    assert (last - 1, "down", 60) in seen
    assert [call for call in seen if call[0] == last] == [
        (last, "qkv", 60),
        *((last, site, 3) for site in ("o", "gate_up", "down")),
    ]


@in_unlike_families
def test_mixed_adapters_equal_peft(base, kind, model_of, peft_models):
    chance = random.Random(4)
    lines = prompts(23, seed=2)
    which = [chance.choice([None, 0, 0, 0, 1, 2]) for _ in lines]
    adapters, eos = adapters_of(base, peft_models), base.tokenizer.eos_ids
    ban = {str(i): -100 for i in eos}
    requests = [
        request_of(base, line, None if w is None else adapters[w], logit_bias=ban)
        for line, w in zip(lines, which, strict=True)
    ]
    answers = [sink.ids() for sink in run(batcher_of(base), requests)]
    models = {None: model_of(kind), **dict(enumerate(model for model, _ in peft_models))}
    for w, model in models.items():
        places = [place for place, each in enumerate(which) if each == w]
        assert places
        own = [answers[place] for place in places]
        assert own == likeliest(model, [lines[place] for place in places], own, eos)
    assert {len(answer) for answer in answers} == {12}
    assert len({tuple(answer) for answer in answers}) > 10


@in_unlike_families
def test_result_does_not_depend_on_the_rest_of_the_batch(base, peft_models):
    adapters = adapters_of(base, peft_models)
    lines = prompts(12, seed=5)

    def one(i):
        return request_of(base, lines[i], [None, *adapters][i % 4], temperature=1, seed=str(i), max_tokens=12 + i)

    together = run(batcher_of(base), [one(i) for i in range(12)])
    crowded = run(batcher_of(base, max_rows=3), [one(i) for i in reversed(range(12))])[::-1]
    for i in range(12):
        [alone] = run(batcher_of(base), [one(i)])
        assert alone.ids() == together[i].ids() == crowded[i].ids()
        # Delta nets remember what a router in another order of sums gave.
        bound = 2e-5 if base.config.delta and base.config.mixture else 1e-5
        assert alone.logprobs() == pytest.approx(together[i].logprobs(), abs=bound)
        assert len(alone.ids()) == 12 + i


@in_unlike_families
def test_reported_logprobs_are_those_of_a_full_forward(base, peft_models):
    adapters = adapters_of(base, peft_models)
    [sink] = run(batcher_of(base), [request_of(base, prompts(1)[0], adapters[1], temperature=0.7, seed="5", top_p=0.9)])
    ids = [*prompts(1)[0], *sink.ids()]
    with torch.inference_mode():
        logprobs = peft_models[1][0](input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
    start = len(ids) - len(sink.ids())
    expected = [logprobs[place - 1, ids[place]].item() for place in range(start, len(ids))]
    # Chunks of delta nets add in another order than transformers.
    assert sink.logprobs() == pytest.approx(expected, abs=5e-5 if base.config.delta else 1e-5)


@in_unlike_families
def test_steps_that_go_ahead_of_their_tokens_change_none(base, peft_models, monkeypatch):
    """On a GPU: rows come, end, are cancelled and make room while the next step has already begun."""
    chance = random.Random(11)
    arrivals = [chance.choice([0, 0, 1, 3]) for _ in range(40)]
    lengths = [chance.choice([1, 2, 9, 30, 80]) for _ in arrivals]
    choices = [None, *adapters_of(base, peft_models)]
    begun = []
    told = Recorder.sampled

    def answers(goes_ahead):
        monkeypatch.setattr(PoolForward, "goes_ahead", goes_ahead)
        batcher = batcher_of(base, kv_bytes=14 * 64 * base.decoder.kv_token_bytes)
        if isinstance(batcher._forward, PoolForward):
            monkeypatch.setattr(
                Recorder, "sampled", lambda *call: begun.append(batcher._ahead is not None) or told(*call)
            )
        requests = [
            request_of(
                base, prompt, choices[i % 4], tenant=str(i % 3),
                temperature=1, seed=str(i), max_tokens=lengths[i], stop_token_ids=list(range(0, 320, 16)),
            )
            for i, prompt in enumerate(prompts(len(arrivals), seed=4))
        ]  # fmt: skip
        for i, (request, steps) in enumerate(zip(requests, arrivals, strict=True)):
            batcher.submit(request)
            for _ in range(steps):
                batcher.step()
            if i % 9 == 8:
                requests[i - 1].cancelled = True
        run(batcher, [])
        assert batcher._kv.used_bytes == 0
        return [request.sink for request in requests if not request.cancelled]

    in_turn = answers(False)
    assert not any(begun)
    assert {sink.ends[0][0] for sink in in_turn} == {"stop", "length"}
    if not isinstance(batcher_of(base)._forward, PoolForward):
        return  # Slabs have no steps that go ahead: the same again would tell nothing new.
    for sink, other in zip(answers(True), in_turn, strict=True):
        assert sink.ids() == other.ids()
        assert sink.ends == other.ends
        torch.testing.assert_close(sink.logprobs(), other.logprobs(), rtol=0, atol=1e-4)
    assert sum(begun) > len(begun) / 4


@pytest.mark.parametrize("kind", ["qwen3", "qwen3_5"], indirect=True)
def test_prompts_longer_than_a_prefill_chunk(base, monkeypatch):
    monkeypatch.setattr("heddle_engine.serving.batching.PREFILL_TOKENS", {"cpu": 37})
    monkeypatch.setattr("heddle_engine.serving.batching.PREFILL_TOKENS_BESIDE_DECODE", {"cpu": 11})
    lines = prompts(5, seed=3, low=90, high=200)
    chunked = run(batcher_of(base), [request_of(base, line) for line in lines])
    monkeypatch.undo()
    whole = run(batcher_of(base), [request_of(base, line) for line in lines])
    assert [sink.ids() for sink in chunked] == [sink.ids() for sink in whole]


WINDOWED = [*prompts(3, seed=3, low=90, high=300), *prompts(9, seed=4, low=5, high=250)]


def windowed(base):
    """Requests with these lines; the first three ask for unlike numbers of tokens."""
    counts = [10, 35, 60] + 9 * [40]
    return [request_of(base, line, max_tokens=count) for line, count in zip(WINDOWED, counts, strict=True)]


@pytest.fixture(scope="module")
def windowed_alone(base_of):
    """The answers of gemma3 to those requests, each of them alone: token ids."""
    return [run(batcher_of(base_of("gemma3")), [request])[0].ids() for request in windowed(base_of("gemma3"))]


@pytest.mark.parametrize("is_dense", [False, True])
@pytest.mark.parametrize("kind", ["gemma3"], indirect=True)
def test_lines_are_read_from_where_windows_begin_beside_prompts_that_are_read(
    is_dense, base, windowed_alone, monkeypatch
):
    """Each run of like lines costs nothing, so that many are read apart; those of prompts are among them."""
    monkeypatch.setattr("heddle_engine.serving.kv._RUN_COST_BYTES", 0)
    monkeypatch.setattr("heddle_engine.serving.batching.PREFILL_TOKENS_BESIDE_DECODE", {"cpu": 16})
    if is_dense:
        monkeypatch.setattr(SlabMemory, "_make_pages", lambda memory: None)
    batcher, requests = batcher_of(base), windowed(base)
    for request in requests[:3]:
        batcher.submit(request)
    while not all(request.sink.ids() for request in requests[:3]):
        batcher.step()
    run(batcher, requests[3:])
    assert [request.sink.ids() for request in requests] == windowed_alone


@in_unlike_families
def test_prefix_reuse_gives_the_same_logprobs(base, peft_models):
    adapter = adapters_of(base, peft_models)[0]
    line = prompts(1, seed=8, low=50, high=50)[0]
    batcher = batcher_of(base)
    longer = [*line[:40], 7, 8, 9]
    [first] = run(batcher, [request_of(base, line, adapter)])
    [again] = run(batcher, [request_of(base, line, adapter)])
    [partial] = run(batcher, [request_of(base, longer, adapter)])
    [fresh] = run(batcher_of(base), [request_of(base, longer, adapter)])
    assert (first.cached, again.cached, fresh.cached) == (0, 50, 0)
    # A state of delta nets cannot be cut.
    assert partial.cached == (0 if base.config.delta else 40)
    assert again.ids() == first.ids()
    assert again.logprobs() == first.logprobs()
    assert partial.ids() == fresh.ids()
    assert partial.logprobs() == pytest.approx(fresh.logprobs(), abs=1e-5)


@pytest.mark.parametrize("kind", ["qwen3", "qwen3_5"], indirect=True)
def test_a_conversation_reuses_its_earlier_turns(base):
    line = prompts(1, seed=8, low=50, high=50)[0]
    batcher = batcher_of(base)
    [first] = run(batcher, [request_of(base, line)])
    [second] = run(batcher, [request_of(base, [*line, *first.ids(), 5, 6])])
    [fresh] = run(batcher_of(base), [request_of(base, [*line, *first.ids(), 5, 6])])
    assert (second.cached, fresh.cached) == (50 + 11, 0)
    assert second.ids() == fresh.ids()
    assert second.logprobs() == pytest.approx(fresh.logprobs(), abs=1e-5)


@pytest.mark.parametrize("change", ["salt", "adapter"])
def test_cache_is_separated_by_salt_and_adapter(change, base, peft_models):
    adapters = adapters_of(base, peft_models)
    line = prompts(1, seed=8, low=50, high=50)[0]
    batcher = batcher_of(base)
    run(batcher, [request_of(base, line, adapters[0], salt="a")])
    other = {"salt": (adapters[0], "b"), "adapter": (adapters[1], "a")}[change]
    [sink] = run(batcher, [request_of(base, line, other[0], salt=other[1])])
    assert sink.cached == 0


@pytest.mark.parametrize("kind", ["qwen3", "qwen3_5"], indirect=True)
def test_choices_share_their_prompt(base):
    line = prompts(1, seed=8, low=50, high=50)[0]
    batcher = batcher_of(base)
    computed = []
    kept = batcher._decoder.hidden

    def counting(ids, *rest, **options):
        computed.append(len(ids))
        return kept(ids, *rest, **options)

    batcher._decoder.hidden = counting
    try:
        [sink] = run(batcher, [request_of(base, line, n=5, temperature=1, seed="3", max_tokens=6)])
    finally:
        del batcher._decoder.hidden
    assert computed[0] == 50
    assert max(computed[1:]) <= 8  # five rows, or as many as their batch is filled up to
    assert len({tuple(sink.ids(i)) for i in range(5)}) == 5


PRESSED = prompts(10, seed=6, low=100, high=127)


def pressed(base):
    return [request_of(base, line, max_tokens=80, temperature=1, seed="1") for line in PRESSED]


@pytest.fixture(scope="module")
def answers_with_room(base_of):
    """`[ids] = answers(kind, layout)` to PRESSED, where memory is ample."""
    return functools.cache(
        lambda kind, _layout: [sink.ids() for sink in run(batcher_of(base_of(kind)), pressed(base_of(kind)))]
    )


@pytest.mark.parametrize("cache_bytes", [0, 1 << 26])
@pytest.mark.parametrize("kind", ["qwen3", "qwen3_5"], indirect=True)
def test_memory_pressure_changes_nothing_but_time(cache_bytes, base, kind, layout, answers_with_room, monkeypatch):
    ample = answers_with_room(kind, layout)
    monkeypatch.setattr("heddle_engine.serving.admission._EXPECTED_OUTPUT", 16)
    preempted, preempt = [], Batcher._preempt
    monkeypatch.setattr(Batcher, "_preempt", lambda batcher: preempted.append(1) or preempt(batcher))
    tight = batcher_of(base, kv_bytes=int(1.2 * base.decoder.sequence_bytes(512)), cache_bytes=cache_bytes)
    squeezed = run(tight, pressed(base))
    assert len(preempted) > 3
    assert [sink.ids() for sink in squeezed] == ample
    assert tight._kv.used_bytes == 0


def test_a_sequence_that_can_never_fit_is_refused(base):
    [sink] = run(batcher_of(base, kv_bytes=100_000), [request_of(base, prompts(1, low=200, high=200)[0])])
    assert sink.error.kind == "out_of_memory"
    assert "200 tokens" in sink.error.message


def test_the_context_bounds_the_output(base):
    [sink] = run(batcher_of(base), [request_of(base, [1] * 500, max_tokens=None)])
    assert len(sink.ids()) == 12
    assert sink.ends == [("length", None)]


def test_cancel_frees_the_place(base):
    batcher = batcher_of(base, max_rows=1)
    first, second = request_of(base, [1, 2, 3], max_tokens=400), request_of(base, [4, 5, 6], max_tokens=2)
    batcher.submit(first)
    batcher.submit(second)
    for _ in range(3):
        batcher.step()
    assert (batcher.num_running, batcher.num_waiting) == (1, 1)
    first.cancelled = True
    run(batcher, [])
    assert second.sink.ends == [("length", None)]
    assert len(first.sink.ids()) < 10
    assert batcher._kv.used_bytes == 0


@pytest.mark.parametrize("kind", ["qwen3", "qwen3_5"], indirect=True)
def test_a_failing_step_ends_its_requests_only(base, monkeypatch):
    batcher = batcher_of(base)
    [before] = run(batcher, [request_of(base, [1, 2, 3])])

    def broken(*_, **_options):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    with monkeypatch.context() as patch:
        patch.setattr(batcher._decoder, "hidden", broken)
        [hurt] = run(batcher, [request_of(base, [1, 2, 3])])
    [after] = run(batcher, [request_of(base, [1, 2, 3])])
    assert hurt.error.kind == "out_of_memory"
    assert after.ids() == before.ids()


@pytest.mark.parametrize("kind", ["qwen3", "qwen3_5"], indirect=True)
def test_diverged_weights_fail_their_request_and_leave_nothing_behind(base, peft_models):
    store = AdapterStore(base.config, CPU, torch.float32)
    weights = read_peft(peft_models[0][1], base.config)
    for lora in weights.modules.values():
        lora.b.fill_(torch.inf)
    batcher = batcher_of(base)
    line = prompts(1, low=40, high=40)[0]
    [before] = run(batcher, [request_of(base, line)])
    [hurt] = run(batcher, [request_of(base, line, store.publish("bad@3", weights))])
    [after] = run(batcher, [request_of(base, [9, *line])])
    [fresh] = run(batcher_of(base), [request_of(base, [9, *line])])
    assert hurt.error.kind == "internal"
    assert "bad@3" in hurt.error.message
    assert len(before.ids()) == 12
    assert after.logprobs() == pytest.approx(fresh.logprobs(), abs=1e-5)


def broken_adapter(base):
    weights = initial_lora(base.config, 4, 8.0, seed=1)
    for lora in weights.modules.values():
        lora.a.fill_(torch.nan)
    return ServedAdapter("bad@4", weights, base.config, CPU, torch.float32)


@pytest.mark.parametrize("kind", ["qwen3", "qwen3_5"], indirect=True)
def test_broken_weights_that_sample_nothing_leave_nothing_behind(base, monkeypatch):
    """The request is cancelled while its prompt is computed."""
    monkeypatch.setattr("heddle_engine.serving.batching.PREFILL_TOKENS_BESIDE_DECODE", {"cpu": 80})
    batcher = batcher_of(base)
    # Another row keeps the memory of broken values from being freed, so that a later row may get it.
    batcher.submit(request_of(base, prompts(1, seed=9)[0], max_tokens=60))
    batcher.step()
    hurt = request_of(base, range(100), broken_adapter(base))
    batcher.submit(hurt)
    batcher.step()
    hurt.cancelled = True
    batcher.step()
    [after] = run(batcher, [request_of(base, prompts(1)[0])])
    assert after.error is None
    assert after.ids() == run(batcher_of(base), [request_of(base, prompts(1)[0])])[0].ids()


@pytest.mark.parametrize("method", ["started", "sampled"])
def test_a_sink_that_fails_ends_its_request_only(method, base, monkeypatch):
    [alone] = run(batcher_of(base), [request_of(base, prompts(1)[0])])
    batcher = batcher_of(base)
    hurt, other = request_of(base, prompts(1, seed=5)[0], n=3), request_of(base, prompts(1)[0])
    hurt.sink = Recorder(3)

    def broken(*_):
        raise ValueError("a text that cannot be made")

    monkeypatch.setattr(hurt.sink, method, broken)
    run(batcher, [hurt, other])
    assert "a text that cannot be made" in hurt.sink.error.message
    assert other.sink.ids() == alone.ids()
    assert batcher._kv.used_bytes == 0


@pytest.mark.parametrize("logprob", ["nan", "-inf"])
def test_a_choice_that_fails_beside_one_that_just_ended(logprob, base, monkeypatch):
    """One of a request's two choices fails when the other has just ended; the rows of other requests go on."""
    batcher = batcher_of(base)
    pair, other = request_of(base, [1, 2, 3], n=2, max_tokens=1), request_of(base, [4, 5])
    sample = batcher._sample

    def broken_second(generations, hidden):
        sampled = sample(generations, hidden)
        for place, generation in enumerate(generations):
            if generation.request is pair and generation.index == 1:
                sampled.logprobs[place] = float(logprob)
        return sampled

    monkeypatch.setattr(batcher, "_sample", broken_second)
    run(batcher, [pair, other])
    assert "not finite" in pair.sink.error.message
    assert other.sink.error is None


LINE = 128
"""Number of tokens in the smallest line."""


def few_lines(base, count):
    """A batcher with memory for `count` of the smallest lines."""
    token_bytes = batcher_of(base)._kv.token_bytes
    return batcher_of(base, kv_bytes=count * LINE * token_bytes)


def test_a_request_that_needs_much_memory_is_served_beside_a_stream_of_short_chats(base):
    """Each short chat is replaced when it ends, so that one always runs."""
    batcher = few_lines(base, 4)
    long = [i % 300 for i in range(200)]
    stream = [request_of(base, line, max_tokens=4 + 3 * i) for i, line in enumerate(prompts(4, seed=11))]
    for request in stream:
        batcher.submit(request)
    batcher.step()
    batcher.submit(request := request_of(base, long, max_tokens=1))
    for step in range(200):
        if request.sink.ends[0]:
            break
        for place, running in enumerate(stream):
            if running.sink.ends[0]:
                stream[place] = request_of(base, prompts(1, seed=100 + step)[0], max_tokens=12)
                batcher.submit(stream[place])
        batcher.step()
    assert step < 40, "the long chat has not come to its turn"
    assert [request.sink.ends[0] for request in (run(batcher, []), stream)[1]] == [("length", None)] * 4
    assert batcher._kv.used_bytes == 0


def test_published_weights_serve_as_the_file_does(base, peft_models, tmp_path):
    store = AdapterStore(base.config, CPU, torch.float32)
    folder = peft_models[0][1]
    published = store.publish("live@1", read_peft(folder, base.config))
    line = prompts(1)[0]
    [live] = run(batcher_of(base), [request_of(base, line, published)])
    [disk] = run(batcher_of(base), [request_of(base, line, store.get("disk@1", str(folder)))])
    assert store.get("live@1", str(tmp_path / "absent")) is published
    assert live.logprobs() == disk.logprobs()


def test_store_drops_the_least_recently_used(base, peft_models):
    folders = [str(folder) for _, folder in peft_models]
    size = AdapterStore(base.config, CPU, torch.float32).get("a", folders[0]).bytes
    store = AdapterStore(base.config, CPU, torch.float32, limit=int(2.5 * size))
    for key in ("a", "b", "a", "c"):
        store.get(key, folders[0])
    assert [key in store for key in "abc"] == [True, False, True]


def test_a_store_without_a_limit_holds_as_many_adapters_as_40(base, peft_models):
    """Otherwise a model that is trained for a thousand steps would hold a thousand adapters."""
    store = AdapterStore(base.config, CPU, torch.float32)
    for step in range(50):
        store.get(f"step{step}", str(peft_models[0][1]))
    assert [step for step in range(50) if f"step{step}" in store] == list(range(10, 50))


def test_adapter_config_is_read_whole(peft_models):
    assert set(json.loads((peft_models[0][1] / "adapter_config.json").read_text())["target_modules"]) == set(TARGETS)
