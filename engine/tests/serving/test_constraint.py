"""An answer must follow its grammar; the reasoning before it is free."""

import pytest
from tokenizers import AddedToken

from heddle_engine.errors import EngineError
from heddle_engine.serving.constraint import Constraint
from heddle_engine.text.grammar import GrammarCompiler
from heddle_engine.text.grammar_text import grammar_text
from heddle_engine.text.tokenizer import TextTokenizer
from tests.models import SHAPE, byte_tokenizer

VOCAB = SHAPE["vocab_size"] + 2


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    """A tokenizer like Qwen 3's, in which the markers of reasoning are tokens, but not special ones."""
    folder = tmp_path_factory.mktemp("thinking")
    tokenizer = byte_tokenizer(SHAPE["vocab_size"])
    tokenizer.add_tokens([AddedToken("<think>", special=False), AddedToken("</think>", special=False)])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text('{"eos_token": "<|im_end|>"}')
    return TextTokenizer(folder)


@pytest.fixture
def constraint(tokenizer):
    matcher = GrammarCompiler(tokenizer, VOCAB).compile(grammar_text("choice", '["yes", "no"]'), "p")
    return lambda thinking: Constraint(matcher.fork(), tokenizer, thinking)


def allowed(constraint, tokenizer):
    """Texts of the tokens that may come next; None when any may."""
    mask = constraint.allowed()
    return None if mask is None else {tokenizer.token_bytes(i).decode() for i in range(VOCAB) if mask[i]}


def feed(constraint, tokenizer, text):
    for token_id in tokenizer.encode(text):
        constraint.accept(token_id)


def test_an_answer_without_reasoning_is_held_from_its_first_token(constraint, tokenizer):
    held = constraint("never")
    assert allowed(held, tokenizer) == {"y", "n"}
    feed(held, tokenizer, "yes")
    assert allowed(held, tokenizer) == {"<|im_end|>"}


def test_an_answer_may_begin_with_a_think_block(constraint, tokenizer):
    held = constraint("may")
    assert allowed(held, tokenizer) == {"y", "n", "<think>"}
    feed(held, tokenizer, "<think>no </thinking> yet")
    assert allowed(held, tokenizer) is None
    feed(held, tokenizer, "</think>")
    assert allowed(held, tokenizer) == {"y", "n"}
    feed(held, tokenizer, "no")
    assert allowed(held, tokenizer) == {"<|im_end|>"}


def test_an_answer_that_begins_at_once_cannot_think_later(constraint, tokenizer):
    held = constraint("may")
    feed(held, tokenizer, "y")
    assert allowed(held, tokenizer) == {"e"}


def test_a_think_block_that_the_prompt_opened_ends_where_its_marker_is_spelled_out(constraint, tokenizer):
    held = constraint("does")
    assert allowed(held, tokenizer) is None
    for byte in b"well </think>":
        held.accept(tokenizer.encode(chr(byte))[0])
    assert allowed(held, tokenizer) == {"y", "n"}


def test_a_model_without_an_end_of_turn_is_refused(tmp_path):
    byte_tokenizer(SHAPE["vocab_size"]).save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(EngineError, match="no end-of-turn token"):
        GrammarCompiler(TextTokenizer(tmp_path), SHAPE["vocab_size"])
