"""Makes tokenizers in the form of SentencePiece's, in which `▁` stands for a space."""

import string
from pathlib import Path
from typing import Literal

import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

RUNS = ("▁▁", "▁▁▁▁")
"""Added tokens that are not special, as Gemma's runs of spaces are."""


def save_spaced_tokenizer(folder: Path, template: str = "", in_front: Literal["always", "first"] | None = None) -> Path:
    """Saves a tokenizer with the chat template `template` into `folder`.

    `in_front`: it puts a space before each part of a text between special tokens (Llama 2), or before the first.
    """
    pieces = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *string.ascii_letters, *"[]/.:0123456789"]
    merges = [("▁", "▁"), ("▁▁", "▁▁"), ("t", "h"), ("th", "e"), ("▁", "the"), ("▁", "a"), ("]", "a"), ("i", "n")]
    pieces += ["".join(merge) for merge in merges]
    vocab = {piece: index for index, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    spaces = normalizers.Replace(" ", "▁")
    if in_front == "first":
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    else:
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), spaces]) if in_front else spaces
    parts = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer.decoder = decoders.Sequence([*parts, decoders.Strip(" ", 1, 0)] if in_front else parts)
    tokenizer.add_special_tokens(["<s>", "</s>"])
    tokenizer.add_tokens([AddedToken(run, normalized=False) for run in RUNS])
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", chat_template=template or None
    ).save_pretrained(folder)
    return folder
