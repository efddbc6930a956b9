"""Tokenizer of a base model: ids, exact token bytes, and text that grows token by token."""

import codecs
import json
import math
import os
import re
from functools import cache, cached_property
from pathlib import Path

from ..errors import EngineError
from .harmony import CHANNEL, HARMONY_TOKENS
from .tokenizer_files import read_json, read_tokenizer, special_token, tokenizer_config
from .toolcalls import MARKER_TOKENS

# Texts come one at a time: a pool of threads would have nothing to share.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


class TextTokenizer:
    """`tokenizer.json` and what the other tokenizer files add to it."""

    def __init__(self, folder: Path, model_tokens: int | None = None):
        """`model_tokens`: how many a model has weights for. Raises `invalid` where it lacks any but added tokens."""
        self.config = tokenizer_config(folder)
        self._tokenizer = read_tokenizer(folder, self.config)
        added = self._tokenizer.get_added_tokens_decoder()
        self._added = {token_id: token.content for token_id, token in added.items()}
        special = {token_id: token.content for token_id, token in added.items() if token.special}
        self.special_ids = frozenset(special)
        # Special tokens that text leaves out; the markers of calls and reasoning are read from the text.
        markers = MARKER_TOKENS + (HARMONY_TOKENS if CHANNEL in special.values() else ())
        self.unseen_ids = frozenset(token_id for token_id, text in special.items() if text not in markers)
        self.vocab_size = self._tokenizer.get_vocab_size()
        self._foreign = self._beyond(folder, model_tokens)
        self.eos_ids = self._end_of_turn_ids(folder, model_tokens)
        self._bytes: dict[int, bytes] = {}

    def encode(self, text: str) -> list[int]:
        """Ids of `text`, special tokens written in it recognised, none added."""
        return self._ids(text, add_special_tokens=False)

    def encode_behind(self, before: str, text: str) -> list[int]:
        """Ids of `text`, which goes on behind `before`: no space is put between them."""
        if not self.opens_with_space:
            return self.encode(text)
        # Where a token would join both, a line break stands for what comes before: few tokens go on behind one.
        for lead in (before, "\n"):
            known, both = self.encode(lead), self.encode(lead + text)
            if both[: len(known)] == known:
                return both[len(known) :]
        return self.encode(text)

    def token_start(self, text: str, place: int) -> int:
        """Where the token of `text` begins that reaches across `place`; `place` itself where none does."""
        [encoding] = self._tokenizer.encode_batch([_well_formed(text)], add_special_tokens=False)
        return next((start for start, end in encoding.offsets if start < place < end), place)

    def encode_prompt(self, text: str) -> list[int]:
        """Ids of a raw prompt, with the special tokens (such as BOS) the tokenizer puts around any text."""
        return self._ids(text, add_special_tokens=True)

    def _ids(self, text: str, *, add_special_tokens: bool) -> list[int]:
        # `encode` keeps the interpreter's lock: a long text would stop heartbeats and every other chat.
        batch = [_well_formed(text)]
        ids = self._tokenizer.encode_batch_fast(batch, add_special_tokens=add_special_tokens)[0].ids
        foreign = self._foreign and next((self._foreign[each] for each in ids if each in self._foreign), None)
        if foreign:
            raise EngineError("invalid", f"The text holds {foreign!r}, a token that this model has no weights for.")
        return ids

    @cached_property
    def opens_with_space(self) -> bool:
        """Whether a space is put before every text, as SentencePiece does for some models."""
        return b"".join(map(self.token_bytes, self.encode("x"))) == b" x"

    def _beyond(self, folder: Path, model_tokens: int | None) -> dict[int, str]:
        """The tokens from `model_tokens` on: models of text come with the tokenizer of others that read pictures."""
        if model_tokens is None or self.vocab_size <= model_tokens:
            return {}
        beyond = {token_id: text for text, token_id in self._tokenizer.get_vocab().items() if token_id >= model_tokens}
        if not beyond.keys() <= self._added.keys():
            raise EngineError(
                "invalid",
                f"{folder}: the tokenizer has {self.vocab_size} tokens, the model {model_tokens}.",
                "base_model",
            )
        return beyond

    @cached_property
    def longest_symbol(self) -> int:
        """Characters of the longest token: no text is longer than this times its number of tokens."""
        return max(map(len, self._tokenizer.get_vocab()))

    def decode(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=False)

    def token_to_id(self, token: str) -> int | None:
        return self._tokenizer.token_to_id(token)

    def token_bytes(self, token_id: int) -> bytes:
        """The token's bytes; those of an added token are its text."""
        known = self._bytes.get(token_id)
        if known is None:
            known = self._bytes[token_id] = self._to_bytes(token_id)
        return known

    def special_token(self, name: str) -> str | None:
        """The text of `bos_token`, `eos_token` … of `tokenizer_config.json`."""
        return special_token(self.config, name)

    def _to_bytes(self, token_id: int) -> bytes:
        added = self._added.get(token_id)
        if added is not None:
            # Runs of spaces are added tokens of Gemma's, and spelled as in its vocabulary.
            return (added if self._byte_level else added.replace("▁", " ")).encode()
        symbol = self._tokenizer.id_to_token(token_id)
        if symbol is None:
            return b""
        if self._byte_level:
            table = _byte_of_symbol()
            return bytes(table[char] for char in symbol) if all(c in table for c in symbol) else symbol.encode()
        raw = re.fullmatch(r"<0x([0-9A-Fa-f]{2})>", symbol)
        return bytes([int(raw[1], 16)]) if raw else symbol.replace("▁", " ").encode()

    @cached_property
    def _byte_level(self) -> bool:
        """Whether symbols spell bytes (GPT-2's alphabet) rather than text with `▁` for a space."""
        used = self._tokenizer.decoder
        # Its JSON, for which the library has no other way but to write the whole tokenizer.
        decoder = {} if used is None else json.loads(used.__getstate__())
        return any(part.get("type") == "ByteLevel" for part in [decoder, *decoder.get("decoders", [])])

    def _end_of_turn_ids(self, folder: Path, model_tokens: int | None) -> frozenset[int]:
        """Of tokens that the model has weights for: others are never sampled, and have no place among its logits."""
        named = []
        for file in ("generation_config.json", "config.json"):
            value = read_json(folder / file).get("eos_token_id")
            named += value if isinstance(value, list) else [value]
        if text := self.special_token("eos_token"):
            named.append(self.token_to_id(text))
        most = math.inf if model_tokens is None else model_tokens
        return frozenset(token_id for token_id in named if token_id is not None and 0 <= token_id < most)


class GrowingText:
    """Text of a token stream. A character whose bytes are not all there yet is held back."""

    def __init__(self):
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> str:
        return self._decoder.decode(data)

    def finish(self) -> str:
        return self._decoder.decode(b"", True)


def _well_formed(text: str) -> str:
    """`text` with U+FFFD for halves of characters, which clients that cut JavaScript strings send."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


@cache
def _byte_of_symbol() -> dict[str, int]:
    """GPT-2's printable alphabet for the 256 bytes: printable Latin-1 is itself, the rest follows U+0100."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + i): byte for i, byte in enumerate(others)}
