"""Answers in the harmony format of gpt-oss, in pieces of any size."""

import pytest

from heddle_engine.text.harmony import HarmonyParser
from tests.text.pieces import fed_in_pieces

THOUGHT = "<|channel|>analysis<|message|>Two and two.<|end|>"
FINAL = "<|start|>assistant<|channel|>final<|message|>4, <b>of course</b>"
CALL = "<|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>"
ENDLESS = f"<|channel|>{'a' * 20_000}<|message|>b"
CASES = {
    "reasoning, then an answer": (True, f"{THOUGHT}{FINAL}<|return|>", ("4, <b>of course</b>", "Two and two.", [])),
    "an answer alone": (True, "<|channel|>final<|message|>4", ("4", "", [])),
    "reasoning cut short": (True, "<|channel|>analysis<|message|>Two and <|e", ("", "Two and <|e", [])),
    "a call, whose end is not in the text": (
        True,
        f'{THOUGHT}{CALL}{{"city": "Wien"}}',
        ("", "Two and two.", [("get_weather", '{"city": "Wien"}')]),
    ),
    "the recipient before the channel": (
        True,
        " to=functions.f<|channel|>commentary json<|message|>{}<|call|>",
        ("", "", [("f", "{}")]),
    ),
    "words before a call": (
        True,
        f"<|channel|>commentary<|message|>I look.<|end|>{CALL}{{}}<|call|>",
        ("I look.", "", [("get_weather", "{}")]),
    ),
    "two calls": (
        True,
        f'{CALL}{{"city": "Graz"}}<|call|>{CALL}{{"city": "Linz"}}<|call|>',
        ("", "", [("get_weather", '{"city": "Graz"}'), ("get_weather", '{"city": "Linz"}')]),
    ),
    "arguments that are no object stay text": (True, f"{CALL}[1]<|call|>", ("[1]", "", [])),
    "arguments that break off stay text": (True, f'{CALL}{{"city', ('{"city', "", [])),
    "tools not asked for": (False, f"{CALL}{{}}<|call|>", ("{}", "", [])),
    "no end between messages": (
        True,
        "<|channel|>analysis<|message|>Hm<|start|>assistant<|channel|>final<|message|>4",
        ("4", "Hm", []),
    ),
    "a header without a body": (True, f"{THOUGHT}<|start|>assistant<|chan", ("", "Two and two.", [])),
    "a sign that a marker begins with": (True, "<", ("<", "", [])),
    "what begins like a header and goes on": (True, ENDLESS, (ENDLESS, "", [])),
    "no header at all": (True, "to be or not", ("to be or not", "", [])),
}


@pytest.mark.parametrize("step", [1, 2, 3, 7, 10_000])
@pytest.mark.parametrize("case", CASES)
def test_pieces_add_up_to_the_same(case, step):
    tools, text, expected = CASES[case]
    assert fed_in_pieces(HarmonyParser(tools), text, step) == expected


def test_what_has_become_too_long_for_a_header_is_given_out_as_it_comes():
    parser = HarmonyParser(tools=False)
    assert parser.feed("<|channel|>" + "a" * 9_000).content == ""
    assert len(parser.feed("a" * 9_000).content) == 18_011
    assert parser.feed("b").content == "b"


def test_text_is_given_out_as_soon_as_it_cannot_be_an_end():
    parser = HarmonyParser(tools=False)
    assert parser.feed("<|channel|>final<|message|>4 <|en").content == "4 "
    assert parser.feed("vy|>").content == "<|envy|>"
