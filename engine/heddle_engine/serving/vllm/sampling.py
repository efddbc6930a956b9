"""A request in vLLM's terms, and vLLM's tokens in those of the engine."""

from ...errors import EngineError
from ..generation import Generation, Request, Token
from ..prompt_reading import PromptLogprobs, PromptToken


def refuse_unsupported(request: Request) -> None:
    """Raises `invalid` that names what only the engine's own sampler can do."""
    way_out = "Start the server with HEDDLE_SAMPLER=heddle for that."
    if request.grammar is not None:
        # vLLM masks the logits before it takes the raw log-probabilities, which training needs as they were without.
        raise EngineError(
            "invalid",
            f"With HEDDLE_SAMPLER=vllm no answer can be held to {request.grammar.param}. {way_out}",
            request.grammar.param,
        )
    if request.reader is not None and not isinstance(request.reader, PromptLogprobs):
        raise EngineError("invalid", f"With HEDDLE_SAMPLER=vllm there are no embeddings. {way_out}")


def generate_frame(generation: Generation, adapter: dict | None) -> dict:
    """`adapter`: its name, vLLM's number for it and its folder."""
    request = generation.request
    return {
        "prompt_ids": request.prompt_ids,
        "sampling": _sampling(generation),
        "adapter": adapter,
        "salt": request.cache_salt or None,
    }


def _sampling(generation: Generation) -> dict:
    params = generation.params
    most = max(generation.remaining, 1)  # vLLM samples one at least
    reads = generation.reads_prompt and isinstance(generation.request.reader, PromptLogprobs)
    return {
        "max_tokens": most,
        "min_tokens": min(params.min_tokens, most),
        "temperature": 0.0 if params.greedy else params.temperature,
        "top_p": params.top_p,
        "top_k": params.top_k,
        "min_p": params.min_p,
        "presence_penalty": params.presence_penalty,
        "frequency_penalty": params.frequency_penalty,
        "repetition_penalty": params.repetition_penalty,
        "logit_bias": params.logit_bias or {},
        "allowed_token_ids": params.allowed_token_ids,
        "seed": generation.seed,
        "stop_token_ids": sorted(generation.end_ids),
        "logprobs": params.top_logprobs,
        "prompt_logprobs": generation.request.reader.num_top if reads else None,
    }


def sampled_token(wire: list, num_top: int) -> Token | None:
    """None where the log-probability is not finite."""
    token_id, logprob, ranked = wire
    if logprob is None:
        return None
    # The sampled token comes on top where it is not among the likeliest.
    return Token(token_id, logprob, [(other, _number(value)) for other, value in ranked[:num_top]])


def prompt_tokens(wire: list, num_top: int) -> list[PromptToken]:
    return [_prompt_token(ranked, num_top) for ranked in wire]


def _prompt_token(ranked: list, num_top: int) -> PromptToken:
    _, logprob, rank = ranked[0]
    likeliest = sorted(ranked, key=lambda each: each[2])[:num_top]
    return PromptToken(_number(logprob), rank, [(token_id, _number(value)) for token_id, value, _ in likeliest])


def _number(value: float | None) -> float:
    return float("-inf") if value is None else value
