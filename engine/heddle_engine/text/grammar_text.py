"""From what a request asks an answer to be to the text of a grammar, in the form that llguidance compiles."""

import json

from llguidance import LLMatcher, LLParserLimits, grammar_from

JSON_OPTIONS = {"whitespace_pattern": r"( |\n( {0,24}|\t{0,6}))?"}
"""Between the parts of JSON, as writers put it there: where any blanks may stand, a weak model writes nothing else."""

LIMITS = LLParserLimits(verbose_errors=False)


def grammar_text(kind: str, body: str, around: str = "") -> str:
    """`kind` of the wire's `structuredOutput`, or `lark`; `body` the JSON of the schema or options, or the text itself.

    `around`, if any, is Lark that names the form `@answer`. Raises ValueError.
    """
    if kind == "json":
        form = LLMatcher.grammar_from_json_schema(body, overrides=JSON_OPTIONS)
    else:
        form = grammar_from(kind, body)
    return _within(around, form) if around else form


def _within(around: str, form: str) -> str:
    """`form` is Lark, or llguidance's JSON of one grammar."""
    [grammar] = json.loads(form)["grammars"] if form.startswith("{") else [{"lark_grammar": form}]
    return json.dumps({"grammars": [{"lark_grammar": around}, {**grammar, "name": "answer"}]})
