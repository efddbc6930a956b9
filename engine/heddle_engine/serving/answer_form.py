"""What an answer must be: a call where `tool_choice` asks for one, or of the form that the request gives."""

from ..bases import Base
from ..text.grammar import GrammarSource
from ..text.harmony import START, Place, place_at_end
from ..text.harmony_grammar import form_grammar, harmony_call_grammar
from ..text.tool_choice import call_grammar, call_opening
from ..text.toolcalls import ToolFormat, tool_format


def forced_opening(base: Base, params: dict) -> str:
    """How the answer begins where `tool_choice` asks for a call: written into the prompt, not sampled.

    Nothing of an answer in the harmony format is, as it may begin with reasoning.
    """
    forced = forced_call(base, params)
    return call_opening(*forced) if forced and forced[0] != "harmony" else ""


def forced_call(base: Base, params: dict) -> tuple[ToolFormat, str | None] | None:
    """The format of the call that must be made, and the tool's name unless the model chooses."""
    choice = params.get("tool_choice", "auto")
    turn_begins = params.get("add_generation_prompt", True)
    if choice in ("none", "auto") or not (turn_begins and params.get("tools") and params.get("messages")):
        return None
    return tool_format(base.renderer.source), None if choice == "required" else choice["name"]


def grammar_of(base: Base, params: dict, ids: list[int], most_bytes: int) -> GrammarSource | None:
    """The constraint on the answer to the prompt `ids`, or None."""
    if wanted := params.get("structured_output"):
        chat = params.get("messages") is not None
        in_harmony = chat and tool_format(base.renderer.source) == "harmony"
        return GrammarSource.from_wire(wanted, most_bytes, form_grammar(_place(base, ids)) if in_harmony else "")
    if forced := forced_call(base, params):
        format_, name = forced
        if format_ == "harmony":
            text = harmony_call_grammar(params["tools"], name, _place(base, ids))
        else:
            text = call_grammar(format_, params["tools"], name)
        return GrammarSource.from_wire({"kind": "lark", "text": text, "param": "tools"}, most_bytes)
    return None


def _place(base: Base, ids: list[int]) -> Place:
    """Where an answer in the harmony format begins behind the prompt `ids`."""
    start = base.tokenizer.token_to_id(START)
    last = next((place for place in reversed(range(len(ids))) if ids[place] == start), 0)
    return place_at_end(base.tokenizer.decode(ids[last:]))
