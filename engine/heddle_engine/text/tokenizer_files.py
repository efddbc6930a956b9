"""The files that say how a model cuts text into tokens, as transformers reads them."""

import hashlib
import json
import threading
from pathlib import Path
from weakref import WeakValueDictionary

from tokenizers import AddedToken, Tokenizer

from ..errors import EngineError

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
"""Of an added token, by the names of `AddedToken`."""


_known: WeakValueDictionary[bytes, Tokenizer] = WeakValueDictionary()
"""Those in use, by a hash of what they were made from. To make one of 32,768 tokens takes 9 MB, and 45 ms in which no
other thread runs."""
_making = threading.Lock()


def read_tokenizer(folder: Path, config: dict) -> Tokenizer:
    """`tokenizer.json` with the tokens that `config` (`tokenizer_config`) lists, without padding and truncation.

    Models with the same files get the same object, so do not change it. Raises `not_found` and `invalid`.
    """
    file = folder / "tokenizer.json"
    if not file.is_file():
        raise EngineError(
            "not_found",
            f"{folder} has no tokenizer.json. The engine reads fast tokenizers only; "
            "convert it with transformers' AutoTokenizer and save_pretrained.",
            "base_model",
        )
    content, listed = file.read_bytes(), config.get("added_tokens_decoder") or {}
    key = hashlib.sha256(json.dumps(listed).encode() + b"\0" + content).digest()
    with _making:
        tokenizer = _known.get(key)
        if tokenizer is None:
            tokenizer = _known[key] = _made(file, content, listed)
    return tokenizer


def _made(file: Path, content: bytes, listed: dict) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:  # the library has no class of its own
        raise EngineError("invalid", f"{file} is no tokenizer: {error}.", "base_model") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    _add_listed_tokens(tokenizer, listed)
    return tokenizer


def _add_listed_tokens(tokenizer: Tokenizer, listed: dict) -> None:
    """Tokens that `tokenizer_config.json` alone lists, where its ids are those that they get, as in transformers.

    Without, a text is cut within them, and the end of a turn may be none.
    """
    known = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    for token_id, token in sorted(listed.items(), key=lambda item: int(item[0])):
        flags = {name: bool(token.get(name)) for name in _FLAGS}
        free = tokenizer.get_vocab_size()
        place = tokenizer.token_to_id(token["content"])
        if token["content"] not in known and int(token_id) == (free if place is None else place):
            add = tokenizer.add_special_tokens if flags["special"] else tokenizer.add_tokens
            add([AddedToken(token["content"], **flags)])


def tokenizer_config(folder: Path) -> dict:
    """`tokenizer_config.json`; empty where there is none. Raises `invalid`."""
    return read_json(folder / "tokenizer_config.json")


def special_token(config: dict, name: str) -> str | None:
    """The text of `bos_token`, `eos_token` … of `tokenizer_config.json`."""
    value = config.get(name)
    return value.get("content") if isinstance(value, dict) else value


def read_json(file: Path) -> dict:
    """Empty where there is no such file. Raises `invalid`."""
    try:
        return json.loads(file.read_text()) if file.is_file() else {}
    except ValueError as error:
        raise EngineError("invalid", f"{file} is not JSON: {error}.", "base_model") from error
