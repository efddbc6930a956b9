"""Log-probabilities of prompts, and embeddings, are those of a plain forward pass of transformers (inference-api 9)."""

from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from heddle_engine.bases import Base
from heddle_engine.errors import EngineError
from heddle_engine.serving import batching, prompt_reading
from heddle_engine.serving.batching import Batcher
from heddle_engine.serving.chat import ChatCall
from heddle_engine.serving.embedding import EmbedCall
from heddle_engine.serving.prompt_reading import PromptLogprobs, PromptToken
from tests.models import oracle_of
from tests.serving.test_batching import adapters_of, make_peft_models, prompts

CPU = torch.device("cpu")
TINY = Path(__file__).parents[2] / "models/heddle-tiny"


@pytest.fixture(scope="module")
def tiny():
    """`heddle/tiny` in the engine and in transformers."""
    oracle = AutoModelForCausalLM.from_pretrained(TINY, dtype=torch.float32).eval()
    return Base("heddle/tiny", TINY, CPU, torch.float32), oracle


@pytest.fixture(scope="module")
def base(model_folders, request):
    return Base("tiny", model_folders(getattr(request, "param", "qwen3")), CPU, torch.float32)


@pytest.fixture(scope="module")
def peft_models(base, tmp_path_factory):
    return make_peft_models(base, oracle_of(base.folder), tmp_path_factory)


def batcher_of(base):
    return Batcher(base.decoder, kv_bytes=1 << 28, cache_bytes=1 << 26)


def outcomes(base, batcher, calls):
    """The result or error of each of `calls`, which are (class, parameters)."""
    found = {}

    def done(index):
        return lambda value: found.update({index: value})

    for index, (kind, params) in enumerate(calls):
        params = {"base": {}, "adapter": None, **params}
        if kind is ChatCall:
            call = ChatCall(base, params, 0, print, done(index))
        else:
            call = EmbedCall(base, params, done(index))
        batcher.submit(call.request)
    while batcher.busy:
        batcher.step()
    return [value() if callable(value := found[index]) else value for index in range(len(calls))]


def scoring(ids, num_top=2, max_tokens=0, **changes):
    sampling = {"max_tokens": max_tokens, "temperature": 0, "ignore_eos": True, "top_logprobs": 1}
    return ChatCall, {"prompt_token_ids": ids, "prompt_logprobs": num_top, "sampling": sampling, **changes}


def expected_logprobs(oracle, ids):
    with torch.inference_mode():
        return oracle(torch.tensor([ids])).logits[0].double().log_softmax(-1)


@pytest.fixture(params=["whole", "in chunks"])
def steps(request, monkeypatch):
    """Runs a test twice: prompts in one step, or in steps of 64 tokens with logits for 5 tokens at a time."""
    if request.param == "in chunks":
        monkeypatch.setattr(batching, "PREFILL_TOKENS", {"cpu": 64})
        monkeypatch.setattr(batching, "PREFILL_TOKENS_BESIDE_DECODE", {"cpu": 64})
        monkeypatch.setitem(prompt_reading._LOGITS_BYTES, "cpu", 5 * 4 * 512)


def test_every_token_of_a_prompt_has_the_logprob_and_rank_of_a_plain_forward_pass(tiny, steps):
    base, oracle = tiny
    ids = torch.randint(0, 500, (300,), generator=torch.Generator().manual_seed(1)).tolist()
    [result] = outcomes(base, batcher_of(base), [scoring(ids)])
    expected = expected_logprobs(oracle, ids)
    first, *rest = result["prompt_logprobs"]
    assert first == {
        "id": ids[0],
        "logprob": None,
        "rank": None,
        "bytes": list(base.tokenizer.token_bytes(ids[0])),
        "top": [],
    }
    assert [token["id"] for token in rest] == ids[1:]
    for place, token in enumerate(rest):
        row = expected[place]
        assert token["logprob"] == pytest.approx(row[ids[place + 1]].item(), abs=2e-5)
        assert token["rank"] == (row > row[ids[place + 1]]).sum() + 1
        assert [top["id"] for top in token["top"]] == row.topk(2).indices.tolist()
        assert token["top"][0]["logprob"] == pytest.approx(row.max().item(), abs=2e-5)
    assert result["completion_tokens"] == 0
    assert [(c["content"], c["finish_reason"], c["tokens"]) for c in result["choices"]] == [("", "length", [])]


def test_a_token_is_sampled_behind_a_scored_prompt_as_behind_any_other(tiny, steps):
    base, oracle = tiny
    ids = list(b"the rain in spain falls mainly") * 5
    scored, plain = outcomes(base, batcher_of(base), [scoring(ids, 0, 3, n=2), scoring(ids, None, 3)])
    assert scored["choices"][0] == plain["choices"][0]
    assert scored["choices"][1]["tokens"] == plain["choices"][0]["tokens"]
    assert [token["top"] for token in scored["prompt_logprobs"][1:]] == [[]] * (len(ids) - 1)
    assert plain["prompt_logprobs"] is None
    best = expected_logprobs(oracle, ids)[-1].argmax().item()
    assert scored["choices"][0]["tokens"][0]["id"] == best


def test_a_cached_prompt_is_computed_again_to_be_scored(tiny):
    base, _ = tiny
    batcher, ids = batcher_of(base), list(range(100, 200))
    first, second = (outcomes(base, batcher, [scoring(ids)])[0] for _ in range(2))
    assert first["prompt_logprobs"] == second["prompt_logprobs"]
    assert second["cached_tokens"] == 0
    assert outcomes(base, batcher, [scoring(ids, None, 1)])[0]["cached_tokens"] == 100


def test_a_prompt_of_one_token_has_nothing_to_score(tiny):
    base, _ = tiny
    assert outcomes(base, batcher_of(base), [scoring([5])])[0]["prompt_logprobs"] == [
        {"id": 5, "logprob": None, "rank": None, "bytes": list(base.tokenizer.token_bytes(5)), "top": []}
    ]


@pytest.mark.parametrize("num_top", [0, 2])
@pytest.mark.parametrize("count", [0, 3])
def test_what_another_backend_has_read_of_a_prompt_is_kept_also_where_that_is_nothing(num_top, count):
    likeliest = [(7 + rank, -0.5 * rank) for rank in range(num_top)]
    read = [PromptToken(-1.5 - at, at + 1, likeliest) for at in range(count)]
    reader = PromptLogprobs(list(range(count + 1)), num_top)
    reader.add(read)
    assert list(reader.tokens()) == read


def test_a_prompt_that_fills_the_context_is_scored_where_nothing_is_sampled(tiny):
    base, _ = tiny
    full = [7] * base.max_model_len
    assert len(outcomes(base, batcher_of(base), [scoring(full, 0)])[0]["prompt_logprobs"]) == 2048


def test_logits_of_a_large_vocabulary_are_formed_for_few_tokens_at_a_time(monkeypatch):
    rows = []

    class Head:
        out_features = 151_936

        def in_fp32(self, hidden):
            rows.append(len(hidden))
            return torch.zeros(len(hidden), 4)

    class Decoder:
        head = Head()

    reader = prompt_reading.PromptLogprobs([1] * 201, 1)
    reader.read(Decoder(), torch.zeros(150, 8))
    reader.read(Decoder(), torch.zeros(51, 8))
    assert rows == [55, 55, 40, 50]
    assert len(list(reader.tokens())) == 200


@pytest.mark.parametrize("base", ["qwen3", "gemma3"], indirect=True)
def test_scored_prompts_and_embeddings_of_adapters_are_those_of_peft(base, peft_models):
    adapters = adapters_of(base, peft_models)
    ids = prompts(1, low=50, high=50)[0]
    for adapter, (oracle, folder) in zip(adapters, peft_models, strict=True):
        ref = {"key": adapter.key, "path": str(folder)}
        scored, embedded = outcomes(
            base,
            batcher_of(base),
            [scoring(ids, adapter=ref), (EmbedCall, {"prompt_token_ids": ids, "adapter": ref})],
        )
        expected = expected_logprobs(oracle, ids)
        ours = [token["logprob"] for token in scored["prompt_logprobs"][1:]]
        assert ours == pytest.approx(expected[:-1].gather(1, torch.tensor(ids[1:])[:, None])[:, 0].tolist(), abs=1e-4)
        assert embedded["embedding"] == pytest.approx(mean_state(oracle, ids), abs=1e-5)


def mean_state(oracle, ids):
    with torch.inference_mode():
        state = oracle(torch.tensor([ids]), output_hidden_states=True).hidden_states[-1][0].double().mean(0)
    return (state / state.norm()).tolist()


def test_an_embedding_is_the_mean_of_the_last_hidden_states_of_length_1(tiny, steps):
    base, oracle = tiny
    texts = ["the rain in spain", "a" * 150]
    batcher = batcher_of(base)
    found = outcomes(base, batcher, [(EmbedCall, {"prompt": text}) for text in texts])
    for text, result in zip(texts, found, strict=True):
        ids = base.tokenizer.encode_prompt(text)
        assert result["prompt_token_ids"] == ids
        assert result["embedding"] == pytest.approx(mean_state(oracle, ids), abs=1e-5)
        assert sum(value**2 for value in result["embedding"]) == pytest.approx(1, abs=1e-5)
    # The prompt is cached by now, and all of it is embedded all the same.
    assert outcomes(base, batcher, [(EmbedCall, {"prompt": texts[0]})])[0] == found[0]


def test_prompts_are_scored_and_embedded_beside_running_rows(tiny):
    base, _ = tiny
    ids = list(range(300))
    calls = [scoring(ids), (EmbedCall, {"prompt_token_ids": ids[:90]}), scoring(ids[:40], None, 30)]
    together = outcomes(base, batcher_of(base), calls)
    for call, result in zip(calls, together, strict=True):
        [alone] = outcomes(base, batcher_of(base), [call])
        if "embedding" in alone:
            assert result["embedding"] == pytest.approx(alone["embedding"], abs=1e-6)
            continue
        assert [t["id"] for t in result["choices"][0]["tokens"]] == [t["id"] for t in alone["choices"][0]["tokens"]]
        for ours, theirs in zip(*((found["prompt_logprobs"] or [])[1:] for found in (result, alone)), strict=True):
            assert ours["logprob"] == pytest.approx(theirs["logprob"], abs=1e-5)


def test_a_scored_row_that_had_to_make_room_is_not_scored_again(tiny):
    base, _ = tiny
    ids = list(range(100, 220))
    [alone] = outcomes(base, batcher_of(base), [scoring(ids, 1, 60)])
    tight = Batcher(base.decoder, kv_bytes=440 * base.decoder.kv_token_bytes, cache_bytes=0)
    calls = [scoring([*ids[:-1], last], 1, 60, tenant=f"{last}") for last in (219, 300, 301)]
    for result, last in zip(outcomes(base, tight, calls), (219, 300, 301), strict=True):
        assert len(result["prompt_logprobs"]) == 120
        assert result["prompt_logprobs"][-1]["id"] == last
        assert len(result["choices"][0]["tokens"]) == 60
        if last == 219:
            logprobs = [token["logprob"] for token in result["prompt_logprobs"][1:]]
            assert logprobs == pytest.approx([t["logprob"] for t in alone["prompt_logprobs"][1:]], abs=1e-5)


@pytest.mark.parametrize("kind", ["score", "embed"])
def test_broken_weights_fail_calls_that_only_read_prompts(model_folders, kind):
    base = Base("tiny", model_folders("qwen3"), CPU, torch.float32)
    base.decoder.final_norm.fill_(torch.nan)
    call = scoring([1, 2, 3], 1) if kind == "score" else (EmbedCall, {"prompt_token_ids": [1, 2, 3]})
    [error] = outcomes(base, batcher_of(base), [call])
    assert "The logits of the base model are not finite" in error.message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"prompt_logprobs": 21}, "prompt_logprobs must be between 0 and 20, not 21."),
        ({"prompt_logprobs": None}, "max_tokens must be at least 1, not 0, unless prompt_logprobs asks for some."),
        ({"prompt_token_ids": [1] * 2049}, "maximum context length is 2048 tokens"),
    ],
)
def test_refusals(tiny, changes, message):
    base, _ = tiny
    _, params = scoring([1, 2])
    with pytest.raises(EngineError, match=message.replace(".", r"\.")):
        ChatCall(base, {"adapter": None, **params, **changes}, 0, print, print)
