"""The text of a choice: stop strings across token borders, special tokens, streamed pieces."""

import pytest
from tokenizers import Tokenizer

from heddle_engine.serving.generation import End, StopStrings
from heddle_engine.serving.output import ChoiceText
from heddle_engine.serving.sampling import SamplingParams
from heddle_engine.text.tokenizer import TextTokenizer
from heddle_engine.text.toolcalls import OutputParser


@pytest.fixture(scope="module")
def tokenizer(model_folders):
    return TextTokenizer(model_folders("qwen3"))


def ids_of(tokenizer, text):
    """Ids of the text, one for each byte, so that strings cross the borders of tokens."""
    return [token for char in text.encode() for token in _byte_id(tokenizer, char)]


def _byte_id(tokenizer, byte):
    return [next(i for i in range(256) if tokenizer.token_bytes(i) == bytes([byte]))]


def generate(tokenizer, ids, **wire):
    """Text, streamed pieces and end of a choice for which the model samples `ids`, ended as the batcher ends it."""
    params = SamplingParams.from_wire(wire, 320)
    text = ChoiceText(tokenizer, params, OutputParser(None, reasoning=False))
    stops = StopStrings(params, tokenizer) if params.stop else None
    pieces = []
    for place, token_id in enumerate(ids):
        found = stops.feed(token_id) if stops else None
        found = found if place + 1 >= params.min_tokens else None
        end = End("stop", found) if found is not None else End("length") if place == len(ids) - 1 else None
        pieces.append(text.feed(token_id, end).content)
        if end:
            break
    return text, pieces, end


def test_a_stop_string_is_cut_off_and_never_streamed(tokenizer):
    text, pieces, end = generate(tokenizer, ids_of(tokenizer, "one <stop> two"), stop=["<stop>", "xyz"])
    assert text.content == "one " == "".join(pieces)
    assert end.stop_reason == "<stop>"
    assert len(pieces) == len("one <stop>")


def test_a_stop_string_may_be_kept(tokenizer):
    text, _, _ = generate(
        tokenizer, ids_of(tokenizer, "one <stop> two"), stop=["<stop>"], include_stop_str_in_output=True
    )
    assert text.content == "one <stop>"


def test_text_that_might_become_a_stop_string_is_held_until_it_does_not(tokenizer):
    text, pieces, _ = generate(tokenizer, ids_of(tokenizer, "a<st a<st"), stop=["<stop>"])
    assert pieces[:5] == ["a", "", "", "", "<st "]
    assert text.content == "a<st a<st"


def test_the_earliest_stop_string_wins(tokenizer):
    merged = tokenizer.token_to_id(chr(0x120) + "the")
    text, _, end = generate(tokenizer, [*ids_of(tokenizer, "a"), merged], stop=["e", "th"])
    assert (text.content, end.stop_reason) == ("a ", "th")


def test_stop_strings_do_not_count_before_min_tokens(tokenizer):
    text, _, _ = generate(tokenizer, ids_of(tokenizer, "a.b.c"), stop=["."], min_tokens=3)
    assert text.content == "a.b"


def test_a_stop_string_that_did_not_count_is_not_found_again(tokenizer):
    ids = ids_of(tokenizer, "ab.defghijk")
    text, pieces, end = generate(tokenizer, ids, stop=["b", "longer than the rest"], min_tokens=4)
    assert text.content == "ab.defghijk" == "".join(pieces)
    assert end == End("length")


def test_a_stop_string_that_did_not_count_is_not_cut_off(tokenizer):
    """It is held back with what may become a longer one when the one that counts comes."""
    ids = [*ids_of(tokenizer, "th"), tokenizer.token_to_id("the")]
    text, _, end = generate(tokenizer, ids, stop=["h", "that"], min_tokens=3)
    assert (text.content, end.stop_reason) == ("tht", "h")


def test_a_special_marker_stands_between_the_letters_of_a_stop_string(tmp_path, model_folders):
    """Text contains the markers from which calls are read, so a stop string does not reach across one."""
    folder = model_folders("qwen3")
    special = Tokenizer.from_file(str(folder / "tokenizer.json"))
    special.add_special_tokens(["<tool_call>"])
    special.save(str(tmp_path / "tokenizer.json"))
    tokenizer = TextTokenizer(tmp_path)
    letters = ids_of(tokenizer, "ab")
    text, _, end = generate(tokenizer, [letters[0], tokenizer.token_to_id("<tool_call>"), letters[1]], stop=["ab"])
    assert text.content == "a<tool_call>b"
    assert end == End("length")


def test_characters_wait_for_all_their_bytes(tokenizer):
    text, pieces, _ = generate(tokenizer, ids_of(tokenizer, "é🙂!"))
    assert pieces == ["", "é", "", "", "", "🙂", "!"]
    assert text.content == "é🙂!"


def test_a_torn_character_is_replaced_at_the_end(tokenizer):
    text, _, _ = generate(tokenizer, ids_of(tokenizer, "a🙂")[:3])
    assert text.content == "a\ufffd"


def test_special_tokens_are_left_out_unless_asked_for(tokenizer):
    special, letters = tokenizer.token_to_id("<|im_start|>"), ids_of(tokenizer, "ab")
    ids = [letters[0], special, letters[1]]
    assert generate(tokenizer, ids)[0].content == "ab"
    assert generate(tokenizer, ids, skip_special_tokens=False)[0].content == "a<|im_start|>b"


def test_the_token_that_ends_a_turn_is_not_text(tokenizer):
    for keep, expected in ((False, "a"), (True, "a<|im_end|>")):
        params = SamplingParams.from_wire({"skip_special_tokens": False, "include_stop_str_in_output": keep}, 320)
        text = ChoiceText(tokenizer, params, OutputParser(None, reasoning=False))
        text.feed(ids_of(tokenizer, "a")[0], None)
        text.feed(tokenizer.token_to_id("<|im_end|>"), End("stop"))
        assert text.content == expected


def test_calls_make_the_finish_reason(tokenizer):
    params = SamplingParams.from_wire({}, 320)
    for end, expected in ((End("stop"), "tool_calls"), (End("length"), "length")):
        text = ChoiceText(tokenizer, params, OutputParser("hermes", reasoning=False))
        ids = ids_of(tokenizer, '<tool_call>{"name":"f"}</tool_call>')
        for token_id in ids[:-1]:
            text.feed(token_id, None)
        text.feed(ids[-1], None)
        text.feed(tokenizer.token_to_id("<|im_end|>"), end)
        assert text.finish_reason(end) == expected
        assert text.content == ""
