"""Feeds a text to a parser of answers in pieces."""


def fed_in_pieces(parser, text, step):
    """Content, reasoning and calls (name, arguments), put together; the ids of calls differ."""
    pieces = [parser.feed(text[start : start + step]) for start in range(0, len(text), step)] + [parser.finish()]
    calls = [call for piece in pieces for call in piece.tool_calls]
    assert len({call.id for call in calls}) == len(calls)
    content, reasoning = ("".join(getattr(piece, part) for piece in pieces) for part in ("content", "reasoning"))
    return content, reasoning, [(call.name, call.arguments) for call in calls]
