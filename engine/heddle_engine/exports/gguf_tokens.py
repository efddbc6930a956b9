"""A tokenizer.json in the terms of GGUF, where a name says how text is cut before its bytes are merged."""

import json
from pathlib import Path

import gguf
from tokenizers import Regex, Tokenizer, pre_tokenizers

from ..errors import EngineError
from ..text.tokenizer_files import read_tokenizer, special_token, tokenizer_config

_WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LATER_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_CUTS = {
    "qwen2": (_LATER_WORDS % r"\p{N}",),
    "llama-bpe": (_LATER_WORDS % r"\p{N}{1,3}",),
    "gpt-2": (_WORDS,),
    "smollm": (r"\p{N}", _WORDS),
}
"""What readers of GGUF do under each name, one cut after the other."""

_MERGES_IGNORED = ("llama-bpe",)
"""Names under which a word that is a token is not built by merges."""

_SAMPLE = (
    "Hello world! It's what they'd say; WE'LL see, I'M sure.\n\n  Indented\ttext \r\n and   many    spaces  7 "
    '3.14159 plus 1000000 = 1000003? (yes) [no] {"key": \'value\', "n": -12}\n\t\tdef f(x):\n\t\t\treturn x**2\n'
    "  # 42\nnaïve café Straße русский язык 日本語の文章 한국어 العربية हिन्दी ไทย 🙂👩\u200d👩 ½ ² Ⅳ ١٢٣ …—\n"
    "“quotes” \u00a0 x\u3000y\n'S 'tis rock'n'roll a1b22c333d4444 @user #tag http://a.b/c?d=e&f=g <|not_special|> \\n "
    "$5.00 100% 3 + 4 = ?   \n\n\n  "
)


def add_tokenizer(writer: gguf.GGUFWriter, folder: Path, vocab_size: int) -> None:
    """Raises `invalid` where GGUF has no name for how the tokenizer works."""
    config = tokenizer_config(folder)
    tokenizer = read_tokenizer(folder, config)
    described = json.loads((folder / "tokenizer.json").read_text())
    cut = _cut_of(tokenizer, described)
    texts, kinds = _tokens(tokenizer, vocab_size)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(cut)
    writer.add_token_list(texts)
    writer.add_token_types(kinds)
    special = gguf.SpecialVocab(folder, load_merges=True, n_vocab=vocab_size)
    _find_listed(special, tokenizer, config, vocab_size)
    # Readers would put one in front where nothing is said.
    special.add_special_token.setdefault("bos", False)
    special.add_to_gguf(writer, quiet=True)


def _find_listed(special: gguf.SpecialVocab, tokenizer: Tokenizer, config: dict, vocab_size: int) -> None:
    """Ids of special tokens that the tokenizer's config alone lists, which the library looks for in tokenizer.json."""
    for kind in special.special_token_types:
        text = special_token(config, f"{kind}_token")
        token_id = None if text is None else tokenizer.token_to_id(text)
        if token_id is not None and token_id < vocab_size:
            special.special_token_ids[kind] = token_id


def _tokens(tokenizer: Tokenizer, vocab_size: int) -> tuple[list[str], list[int]]:
    """Ids that the tokenizer lacks are there to fill the embedding up."""
    known = {index: text for text, index in tokenizer.get_vocab(with_added_tokens=True).items()}
    added = tokenizer.get_added_tokens_decoder()
    kinds = []
    for index in range(vocab_size):
        if index not in known:
            kinds.append(gguf.TokenType.UNUSED)
        elif index in added:
            kinds.append(gguf.TokenType.CONTROL if added[index].special else gguf.TokenType.USER_DEFINED)
        else:
            kinds.append(gguf.TokenType.NORMAL)
    return [known.get(index, f"[PAD{index}]") for index in range(vocab_size)], kinds


def _cut_of(tokenizer: Tokenizer, described: dict) -> str:
    """The name under which readers come to the same ids, which is tried on a text with something of everything."""
    model = described["model"]
    if model.get("type") != "BPE" or model.get("byte_fallback"):
        kind = "SentencePiece" if model.get("byte_fallback") else model.get("type")
        raise _refused(f"is {kind}, and only byte-level BPE is written")
    normalizer = (described.get("normalizer") or {}).get("type", "NFC")
    if normalizer != "NFC":
        raise _refused(f"changes texts first ({normalizer}), which GGUF has no name for")
    if tokenizer.pre_tokenizer is not None:
        pieces = tokenizer.pre_tokenizer.pre_tokenize_str(_SAMPLE)
        wanted = tokenizer.encode(_SAMPLE, add_special_tokens=False).ids
        ignored = bool(model.get("ignore_merges"))
        cutters = {name: _pre_tokenizer(cuts) for name, cuts in _CUTS.items() if ignored == (name in _MERGES_IGNORED)}
        for name, cutter in cutters.items():
            if cutter.pre_tokenize_str(_SAMPLE) == pieces:
                return name
        # Pieces may differ where no merge reaches.
        for name, cutter in cutters.items():
            tokenizer.pre_tokenizer = cutter
            if tokenizer.encode(_SAMPLE, add_special_tokens=False).ids == wanted:
                return name
    raise _refused(f"cuts texts in a way that GGUF has no name for ({', '.join(_CUTS)} were tried)")


def _pre_tokenizer(cuts: tuple[str, ...]) -> pre_tokenizers.PreTokenizer:
    splits = [pre_tokenizers.Split(Regex(cut), "isolated") for cut in cuts]
    return pre_tokenizers.Sequence([*splits, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def _refused(reason: str) -> EngineError:
    return EngineError(
        "invalid",
        f"The base model's tokenizer {reason}. Export merged weights instead, for a converter that knows this model.",
        "format",
    )
