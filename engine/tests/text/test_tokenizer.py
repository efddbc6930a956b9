"""Encoding of long texts beside other threads, and of texts that are not valid or too long."""

import json
import shutil
import threading
import time

import pytest
import torch
from tokenizers import Tokenizer
from transformers import AutoTokenizer

from heddle_engine.bases import Base
from heddle_engine.errors import EngineError
from heddle_engine.text.tokenizer import GrowingText, TextTokenizer
from tests.text.spaced import RUNS, save_spaced_tokenizer


@pytest.fixture(scope="module")
def tokenizer(model_folders):
    return TextTokenizer(model_folders("qwen3"))


def test_other_threads_run_while_a_long_text_is_encoded(tokenizer):
    text = "the rain in spain " * 60_000
    ids = []
    encoding = threading.Thread(target=lambda: ids.extend(tokenizer.encode(text)))
    began = time.monotonic()
    encoding.start()
    turns = 0
    while encoding.is_alive():
        time.sleep(0.001)
        turns += 1
    # Counts turns, not seconds, which depend on the machine: a thread that waited for the lock would get one or two.
    assert turns > 10, f"{turns} turns in {time.monotonic() - began:.2f} s"
    assert len(ids) > 60_000


@pytest.mark.parametrize(
    ("text", "whole"), [("a\ud83d", "a\ufffd"), ("\ude00b", "\ufffdb"), ("\ud83d\ude00", "\U0001f600")]
)
def test_half_a_character_is_encoded_as_the_replacement_character(tokenizer, text, whole):
    assert tokenizer.encode(text) == tokenizer.encode(whole)
    assert tokenizer.encode_prompt(text) == tokenizer.encode_prompt(whole)


def test_no_text_is_longer_than_its_tokens_longest_symbols(tokenizer):
    for text in ("the rain in spain", "x" * 1000, "\u00e9\u4e2d\U0001f600" * 50, "<|im_start|>" * 20):
        assert len(text) <= len(tokenizer.encode(text)) * tokenizer.longest_symbol


def test_a_token_that_the_model_has_no_weights_for_is_refused_where_it_is_written(model_folders, tmp_path):
    """Gemma 3 1B has 262,144 tokens, and one more in its tokenizer, for the pictures that larger ones read."""
    folder = shutil.copytree(model_folders("gemma3"), tmp_path / "model")
    extended = Tokenizer.from_file(str(folder / "tokenizer.json"))
    extended.add_special_tokens(["<picture>"])
    extended.save(str(folder / "tokenizer.json"))
    tokenizer = Base("model", folder, torch.device("cpu"), torch.float32).tokenizer
    assert (tokenizer.vocab_size, tokenizer.encode("a <b>")) == (321, TextTokenizer(folder).encode("a <b>"))
    with pytest.raises(EngineError, match="holds '<picture>', a token that this model has no weights for") as caught:
        tokenizer.encode("a <picture>")
    assert caught.value.kind == "invalid"


def test_an_end_of_turn_that_the_model_has_no_weights_for_is_none(model_folders, tmp_path):
    """`min_tokens` masks the logits of ends: one behind the last fails all requests of the batch."""
    folder = shutil.copytree(model_folders("qwen3"), tmp_path / "model")
    told = json.loads((folder / "generation_config.json").read_text())
    known = TextTokenizer(folder, 320).eos_ids
    told["eos_token_id"] = [*known, 320, -1]
    (folder / "generation_config.json").write_text(json.dumps(told))
    assert TextTokenizer(folder, 320).eos_ids == known


def test_a_tokenizer_of_another_model_is_refused(model_folders):
    with pytest.raises(EngineError, match="the tokenizer has 320 tokens, the model 200") as caught:
        TextTokenizer(model_folders("qwen3"), 200)
    assert (caught.value.kind, caught.value.param) == ("invalid", "base_model")


@pytest.mark.parametrize("step", [1, 3])
def test_runs_of_spaces_that_are_added_tokens_are_spaces(step, tmp_path):
    """Gemma's vocabulary spells a space `▁`, and its runs of them, which indent code, are added tokens."""
    folder = save_spaced_tokenizer(tmp_path)
    tokenizer = TextTokenizer(folder)
    text = "def f(x):\n    return  x\n\nthe é"
    ids = tokenizer.encode(text)
    assert {tokenizer.token_to_id(run) for run in RUNS} <= set(ids)
    assert AutoTokenizer.from_pretrained(folder).decode(ids) == text
    growing = GrowingText()
    pieces = [
        growing.feed(b"".join(map(tokenizer.token_bytes, ids[start : start + step])))
        for start in range(0, len(ids), step)
    ]
    assert "".join([*pieces, growing.finish()]) == text


def test_tokens_that_the_config_alone_lists_are_tokens_as_in_transformers(model_folders, tmp_path):
    folder = shutil.copytree(model_folders("qwen3"), tmp_path / "model")
    config = json.loads((folder / "tokenizer_config.json").read_text())
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    listed = {
        "320": {"content": "<|over|>", **flags, "special": True},
        "321": {"content": "<note>", **flags, "special": False},
        str(Tokenizer.from_file(str(folder / "tokenizer.json")).token_to_id("the")): {
            "content": "the",
            **flags,
            "single_word": True,
            "special": False,
        },
    }
    config |= {"added_tokens_decoder": listed, "eos_token": "<|over|>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    tokenizer, oracle = TextTokenizer(folder), AutoTokenizer.from_pretrained(folder)
    for text in ("a<note>b<|over|>", "the <|im_end|> other"):
        assert tokenizer.encode(text) == oracle(text, add_special_tokens=False)["input_ids"]
    assert {320, 321} <= set(tokenizer.encode("a<note>b<|over|>"))
    assert 320 in tokenizer.eos_ids & tokenizer.unseen_ids
    assert 321 not in tokenizer.special_ids


def test_models_with_the_same_tokenizer_share_one(model_folders, tmp_path):
    """To make another takes memory, and stops every other thread meanwhile."""
    original = TextTokenizer(model_folders("qwen3"))
    folder = shutil.copytree(model_folders("qwen3"), tmp_path / "model")
    assert TextTokenizer(folder)._tokenizer is original._tokenizer
    config = json.loads((folder / "tokenizer_config.json").read_text())
    listed = {"320": {"content": "<|over|>", "special": True}}
    (folder / "tokenizer_config.json").write_text(json.dumps({**config, "added_tokens_decoder": listed}))
    other = TextTokenizer(folder)
    assert (other.encode("<|over|>"), other.vocab_size, original.vocab_size) == ([320], 321, 320)


def test_a_file_that_is_no_tokenizer_is_refused_by_its_name(tmp_path):
    """A model cloned without git-lfs has pointers in place of its large files."""
    (tmp_path / "tokenizer.json").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    with pytest.raises(EngineError, match=r"tokenizer\.json is no tokenizer: ") as caught:
        TextTokenizer(tmp_path)
    assert (caught.value.kind, caught.value.param) == ("invalid", "base_model")
