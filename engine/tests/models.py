"""Makes random models of every supported architecture, small enough to be made in less than a second."""

import json
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from heddle_engine.model.number_format import multiplies_bf16

SHAPE = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "vocab_size": 320,
    "max_position_embeddings": 512,
}

LLAMA3_ROPE = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
YARN_ROPE = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 128}
LINEAR_ROPE = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.0}

GEMMA3 = {
    "num_hidden_layers": 4,
    "layer_types": ["sliding_attention", "full_attention"] * 2,
    "sliding_window": 24,
    "query_pre_attn_scalar": 24,
    "rope_parameters": {
        "full_attention": {"rope_type": "linear", "rope_theta": 1e6, "factor": 4.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
    },
}

MIXTURE = {"num_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 40, "norm_topk_prob": True}

GPT_OSS = {
    "num_local_experts": 8,
    "num_experts_per_tok": 3,
    "sliding_window": 24,
    "rope_parameters": {**YARN_ROPE, "truncate": False},
}

HYBRID = {
    "num_hidden_layers": 4,
    "layer_types": ["linear_attention", "full_attention", "linear_attention", "linear_attention"],
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 12,
    "linear_value_head_dim": 8,
    "linear_conv_kernel_dim": 4,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5},
}

HYBRID_MIXTURE = {**HYBRID, **MIXTURE, "shared_expert_intermediate_size": 48}
del HYBRID_MIXTURE["norm_topk_prob"]

NEXT_MIXED = {"norm_topk_prob": False, "mlp_only_layers": [0, 1]}

QWEN_TOWER = {"hidden_size": 16, "intermediate_size": 16, "depth": 1, "num_heads": 2, "out_hidden_size": 64}
GEMMA_TOWER = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "image_size": 28,
    "patch_size": 14,
}

CONFIGS = {
    "llama": ("LlamaConfig", {"attention_bias": True}),
    "llama3": ("LlamaConfig", {"rope_parameters": LLAMA3_ROPE, "tie_word_embeddings": True}),
    "mistral": ("MistralConfig", {"sliding_window": 40, "rope_parameters": LINEAR_ROPE}),
    "qwen2": ("Qwen2Config", {"tie_word_embeddings": True, "rope_parameters": YARN_ROPE}),
    "qwen3": ("Qwen3Config", {"tie_word_embeddings": True}),
    "qwen3_moe": ("Qwen3MoeConfig", MIXTURE),
    "qwen3_moe_mixed": ("Qwen3MoeConfig", {**MIXTURE, "norm_topk_prob": False, "mlp_only_layers": [1]}),
    "qwen3_next": ("Qwen3NextConfig", HYBRID_MIXTURE),
    "qwen3_next_mixed": ("Qwen3NextConfig", {**HYBRID_MIXTURE, **NEXT_MIXED}),
    "qwen3_5": ("Qwen3_5TextConfig", HYBRID),
    "qwen3_5_moe": ("Qwen3_5MoeTextConfig", HYBRID_MIXTURE),
    "gemma": ("GemmaConfig", {}),
    "gemma3": ("Gemma3TextConfig", GEMMA3),
    "gpt_oss": ("GptOssConfig", GPT_OSS),
    "qwen3_5_whole": ("Qwen3_5Config", {**HYBRID, "vision_config": QWEN_TOWER}),
    "qwen3_5_moe_whole": ("Qwen3_5MoeConfig", {**HYBRID_MIXTURE, "vision_config": QWEN_TOWER}),
    "gemma3_whole": ("Gemma3Config", {**GEMMA3, "vision_config": GEMMA_TOWER, "mm_tokens_per_image": 4}),
}
"""`qwen3_moe_mixed` has a plain layer between its mixtures, and weights of experts that do not add up to 1.

`qwen3_next_mixed` has plain layers, a delta net and one with attention, and such weights.
"""

HYBRIDS = [kind for kind, (_, settings) in CONFIGS.items() if "linear_conv_kernel_dim" in settings]
MIXTURES = [kind for kind, (_, settings) in CONFIGS.items() if "num_experts_per_tok" in settings]

WHOLES = [kind for kind in CONFIGS if kind.endswith("_whole")]
"""They read pictures too, and their language models are those of `qwen3_5` and `gemma3`.

`qwen3_5_whole` has a head of its own, `gemma3_whole` a tied one and the older names.
"""

needs_bf16 = pytest.mark.skipif(
    not multiplies_bf16(torch.device("cpu")), reason="the processor has neither AVX512-BF16 nor AMX"
)

SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]

CHAT_TEMPLATE = """\
{%- if tools %}<|im_start|>system
# Tools
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}For each call write <tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call><|im_end|>
{% endif -%}
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor -%}
<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant
{% endif -%}"""


GEMMA_SPECIALS = ["<bos>", "<start_of_turn>", "<end_of_turn>"]

GEMMA_TEMPLATE = """\
{{- bos_token -}}
{%- set has_system = messages[0].role == 'system' -%}
{%- for message in (messages[1:] if has_system else messages) -%}
{%- if (message.role == 'user') == (loop.index0 % 2 == 1) -%}
{{ raise_exception('Turns must go user, assistant, user, assistant') }}
{%- endif -%}
<start_of_turn>{{ 'model' if message.role == 'assistant' else message.role }}
{% if loop.first and has_system -%}
{{ messages[0].content }}

{% endif -%}
{{ message.content | trim }}<end_of_turn>
{% endfor -%}
{%- if add_generation_prompt -%}<start_of_turn>model
{% endif -%}"""
"""In the form of Gemma's: it has no turn of a system, which stands in the first of the user, and writes no tools."""


HARMONY_SPECIALS = [
    "<|endoftext|>", "<|start|>", "<|return|>", "<|channel|>", "<|message|>", "<|end|>", "<|call|>", "<|constrain|>",
]  # fmt: skip

HARMONY_TEMPLATE = """\
{%- for message in messages -%}
{%- set channel = '<|channel|>final' if message.role == 'assistant' -%}
<|start|>{{ message.role }}{{ channel }}<|message|>{{ message.content }}<|end|>
{%- endfor -%}
{{- '<|start|>assistant' if add_generation_prompt -}}"""
"""In the form of gpt-oss's, without its tools and its message of the system."""


def byte_tokenizer(vocab_size: int, specials: list[str] = SPECIALS) -> Tokenizer:
    """Byte-level BPE: 256 bytes, `specials`, then filler ids so that every sampled id decodes."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {symbol: index for index, symbol in enumerate(alphabet)}
    merges = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("i", "n"), ("e", "r"), ("a", "n")]
    for left, right in merges:
        vocab[left + right] = len(vocab)
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(specials)
    tokenizer.add_tokens([f"<extra_{i}>" for i in range(vocab_size - tokenizer.get_vocab_size())])
    return tokenizer


def _drawn(model):
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            # Weights of norms lie about 1, or about 0 where a family adds 1 to them.
            spread = 1.0 if "sinks" in name else 0.2 if "norm" in name else 0.12
            parameter.normal_(float(parameter.mean()) if "norm" in name else 0.0, spread)
    return model.eval()


def make_model(kind: str, folder: Path, seed: int = 0, **changes) -> Path:
    """Save a random model of `kind` with a tokenizer and a chat template into `folder`."""
    import transformers

    config_class, settings = CONFIGS[kind]
    is_gemma = kind.startswith("gemma")
    specials, template = SPECIALS, CHAT_TEMPLATE
    if is_gemma:
        specials, template = GEMMA_SPECIALS, GEMMA_TEMPLATE
    if kind == "gpt_oss":
        specials, template = HARMONY_SPECIALS, HARMONY_TEMPLATE
    tokenizer = byte_tokenizer(SHAPE["vocab_size"], specials)
    eos = tokenizer.token_to_id(specials[2])
    settings = {**SHAPE, **settings, "eos_token_id": eos, "bos_token_id": None, "pad_token_id": None, **changes}
    whole = {name: settings.pop(name) for name in ("vision_config", "mm_tokens_per_image") if name in settings}
    if whole:
        settings = {**whole, "text_config": settings, "tie_word_embeddings": is_gemma}
    config = getattr(transformers, config_class)(**settings)
    torch.manual_seed(seed)
    model = _drawn(transformers.AutoModelForCausalLM.from_config(config.get_text_config()))
    if whole:
        alone, model = model, _drawn(transformers.AutoModelForImageTextToText.from_config(config))
        model.model.language_model.load_state_dict(alone.model.state_dict())
        model.lm_head.load_state_dict(alone.lm_head.state_dict())
    model.generation_config.eos_token_id = eos
    model.save_pretrained(folder)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=specials[2],
        pad_token=specials[0],
        bos_token=specials[0] if is_gemma else None,
        chat_template=template,
    ).save_pretrained(folder)
    return folder


def oracle_of(folder: Path, dtype: torch.dtype = torch.float32):
    """The model in `folder` as transformers computes it, of the class that its config names."""
    import transformers

    [name] = json.loads((folder / "config.json").read_text())["architectures"]
    return getattr(transformers, name).from_pretrained(folder, dtype=dtype)
