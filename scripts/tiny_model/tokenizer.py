"""The tiny model's tokenizer: byte-level BPE of 512 entries, so any text has tokens.

Digits stand alone, as in Qwen's tokenizers: a number is the same few tokens wherever it stands.
"""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from tiny_model.seed_text import short_conversation, tool_conversation

VOCABULARY_SIZE = 512
CONTEXT_LENGTH = 2048
END_OF_TEXT, TURN_START, TURN_END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
CONTROL_TOKENS = (END_OF_TEXT, TURN_START, TURN_END)
TAG_TOKENS = ("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")
"""Tags of one token each, which decoded text keeps when special tokens are dropped."""

CHAT_TEMPLATE = Path(__file__).with_name("chat_template.jinja")
_WORD = r" ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""The longest text that can become one token: a word, one digit, a run of punctuation, or a run of space."""


def train_tokenizer(seed: int) -> PreTrainedTokenizerFast:
    """Train on seed conversations; the same seed gives the same vocabulary."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_WORD), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE - len(TAG_TOKENS),
        special_tokens=list(CONTROL_TOKENS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    bpe.train_from_iterator(_corpus(seed), trainer)
    bpe.add_tokens([AddedToken(tag, normalized=False) for tag in TAG_TOKENS])
    if bpe.get_vocab_size() != VOCABULARY_SIZE:
        raise ValueError(f"the corpus gave {bpe.get_vocab_size()} tokens, not {VOCABULARY_SIZE}: widen it")
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        eos_token=TURN_END,
        pad_token=END_OF_TEXT,
        model_max_length=CONTEXT_LENGTH,
        padding_side="left",
        clean_up_tokenization_spaces=False,
        chat_template=CHAT_TEMPLATE.read_text("utf-8"),
    )


def save_tokenizer(tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write tokenizer.json, tokenizer_config.json and chat_template.jinja."""
    tokenizer.save_pretrained(folder)
    # transformers 5 names its own new class here, which transformers 4 does not know.
    config_file = folder / "tokenizer_config.json"
    config = json.loads(config_file.read_text("utf-8"))
    config["tokenizer_class"] = "PreTrainedTokenizerFast"
    config_file.write_text(json.dumps(config, indent=2) + "\n", "utf-8")
    (folder / "chat_template.jinja").write_bytes(CHAT_TEMPLATE.read_bytes())


def _corpus(seed: int, conversations: int = 1000) -> Iterator[str]:
    """Yield the rendered conversations, split at control and tag tokens, which are never merged."""
    renderer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.BPE()), chat_template=CHAT_TEMPLATE.read_text("utf-8")
    )
    cuts = re.compile("|".join(map(re.escape, CONTROL_TOKENS + TAG_TOKENS)))
    rng = random.Random(seed)
    for _ in range(conversations):
        for make in (short_conversation, tool_conversation):
            yield from cuts.split(renderer.apply_chat_template(**make(rng), tokenize=False))
