"""From what a request asks an answer to be to the text of a grammar, in the form that llguidance compiles."""

from llguidance import LLMatcher, LLParserLimits, grammar_from

JSON_OPTIONS = {"whitespace_pattern": r"( |\n( {0,24}|\t{0,6}))?"}
"""Between the parts of JSON, as writers put it there: where any blanks may stand, a weak model writes nothing else."""

LIMITS = LLParserLimits(verbose_errors=False)


def grammar_text(kind: str, body: str) -> str:
    """`kind` of the wire's `structuredOutput`, or `lark`; `body` the JSON of the schema or options, or the text itself.

    Raises ValueError.
    """
    if kind == "json":
        return LLMatcher.grammar_from_json_schema(body, overrides=JSON_OPTIONS)
    return grammar_from(kind, body)
