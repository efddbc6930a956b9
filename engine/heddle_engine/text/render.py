"""Turns messages into token ids with the model's chat template, for prompts and for training spans."""

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path

from ..errors import EngineError
from .sandbox import Sandbox
from .tokenizer import TextTokenizer

_CONTINUE = "\uf8ff<continue-here>\uf8ff"
_SPECIAL_NAMES = ("bos_token", "eos_token", "unk_token", "pad_token")
_FIELDS_OF_REQUESTS = (
    "add_generation_prompt",
    "chat_template",
    "continue_final_message",
    "documents",
    "messages",
    "tokenize",
    "tools",
)

# As vLLM gives a tool to the template, in whatever order a request has its keys.
_TOOL_KEYS = ("type", "function")
_FUNCTION_KEYS = ("name", "description", "parameters", "strict")

_MOST_CHARACTERS = 64 << 20

TOOL_TEMPLATE = "additional_chat_templates/tool_use.jinja"
"""Beside `chat_template.jinja`; others that may lie there have names that a request cannot give."""


class TooManyCharactersError(EngineError):
    """The template writes more characters than allowed: at least `count`."""

    def __init__(self, count: int):
        super().__init__("invalid", f"The chat template writes {count} characters: too many.", "messages")
        self.count = count


@dataclass(frozen=True)
class Span:
    """One assistant turn: the prompt it answers and its own tokens, the end-of-turn token included."""

    message_index: int
    prompt_ids: list[int]
    token_ids: list[int]


class Renderer:
    """Renders chat messages of one base model; the template runs in `sandbox`."""

    def __init__(self, folder: Path, tokenizer: TextTokenizer, sandbox: Sandbox):
        self._tokenizer, self._sandbox = tokenizer, sandbox
        self._plain = _template_source(folder, tokenizer.config, tools=False)
        self._with_tools = _template_source(folder, tokenizer.config, tools=True) or self._plain
        for source in {self._plain, self._with_tools} - {None}:
            self._run({"task": "parse", "template": source}, None)
        self._specials = {name: tokenizer.special_token(name) or "" for name in _SPECIAL_NAMES}

    @property
    def source(self) -> str:
        """The template's text, empty when the model has none."""
        return self._with_tools or ""

    def text(
        self,
        messages: list[dict],
        tools: list[dict] | None = None,
        *,
        add_generation_prompt: bool = True,
        continue_final_message: bool = False,
        variables: dict | None = None,
        most: int = _MOST_CHARACTERS,
    ) -> str:
        """The prompt's text.

        Raises `invalid` if the template or the model cannot take the messages, and TooManyCharactersError if the text
        would be longer than `most`.
        """
        source = self._with_tools if tools else self._plain
        if source is None:
            raise EngineError(
                "invalid", "This base model has no chat template: send a prompt instead of messages.", "messages"
            )
        if continue_final_message and add_generation_prompt:
            raise EngineError(
                "invalid",
                "continue_final_message and add_generation_prompt exclude each other: set one of them to false.",
                "continue_final_message",
            )
        _check_variables(variables or {})
        prepared = [_prepare(message, index, source) for index, message in enumerate(messages)]
        if continue_final_message:
            prepared = _mark_continuation(prepared)
        given = {
            **self._specials,
            **(variables or {}),
            "messages": prepared,
            "tools": [_in_order(tool) for tool in tools] if tools else None,
            "documents": None,
            "add_generation_prompt": add_generation_prompt,
        }
        text = self._run({"task": "render", "template": source, "variables": given, "most": most}, "messages")
        if isinstance(text, int):
            raise TooManyCharactersError(text)
        return _up_to_continuation(text) if continue_final_message else text

    def _run(self, task: dict, param: str | None):
        return self._sandbox.run("The base model's chat template", task, param)

    def render(self, messages: list[dict], tools: list[dict] | None = None, **options) -> list[int]:
        """Token ids of `text` with the same options."""
        return self._tokenizer.encode(self.text(messages, tools, **options))

    def spans(self, messages: list[dict], tools: list[dict] | None = None) -> list[Span]:
        """Every assistant message as a span, found by rendering step by step (engine 4.5).

        Where the template repeats the text of an earlier span, the later prompt repeats its ids. A template
        that rewrites history, such as one that drops old reasoning, gives a prompt with other ids.
        """
        spans: list[Span] = []
        done_text, done_ids = "", []
        for index, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            prompt = self._before_answer(messages[: index + 1], tools)
            whole = self.text(messages[: index + 1], tools, add_generation_prompt=False)
            prompt = self._shared_prefix(prompt, whole)
            if done_text and prompt.startswith(done_text):
                prompt_ids = done_ids + self._tokenizer.encode_behind(done_text, prompt[len(done_text) :])
            else:
                prompt_ids = self._tokenizer.encode(prompt)
            turn_ids = self._tokenizer.encode_behind(prompt, whole[len(prompt) :])
            spans.append(Span(index, prompt_ids, self._until_end_of_turn(turn_ids)))
            done_text, done_ids = whole, prompt_ids + turn_ids
        return spans

    def _before_answer(self, messages: list[dict], tools: list[dict] | None) -> str:
        """What stands before the last message; a mark finds it where there is no other, which few templates take."""
        if len(messages) > 1:
            return self.text(messages[:-1], tools)
        [first] = messages
        marked = {**first, "content": _CONTINUE + _flatten(first.get("content"), 0)}
        return self.text([marked], tools, add_generation_prompt=False).partition(_CONTINUE)[0]

    def _shared_prefix(self, prompt: str, whole: str) -> str:
        """`prompt`, cut where `whole` differs from it, as when a generation prompt opens a think block.

        Never within a token of either: `<think>` and `<tool_call>` begin alike, and each is one.
        """
        if whole.startswith(prompt):
            return prompt
        length = next((i for i, (a, b) in enumerate(zip(prompt, whole, strict=False)) if a != b), len(whole))
        for text in (prompt, whole):
            length = self._tokenizer.token_start(text, length)
        return prompt[:length]

    def _until_end_of_turn(self, ids: list[int]) -> list[int]:
        """`ids` without what the template writes after the end-of-turn token (ChatML's newline)."""
        ends = [place for place, token_id in enumerate(ids) if token_id in self._tokenizer.eos_ids]
        return ids[: ends[-1] + 1] if ends else ids


def _mark_continuation(messages: list[dict]) -> list[dict]:
    if not messages or not messages[-1]["content"]:
        raise EngineError(
            "invalid", "continue_final_message needs a last message with text content.", "continue_final_message"
        )
    last = messages[-1]
    return [*messages[:-1], {**last, "content": last["content"] + _CONTINUE}]


def _up_to_continuation(text: str) -> str:
    before, mark, _ = text.partition(_CONTINUE)
    if not mark:
        raise EngineError(
            "invalid", "The chat template does not write the last message, so it cannot be continued.", "messages"
        )
    return before


def _check_variables(variables: dict) -> None:
    for name in _FIELDS_OF_REQUESTS:
        if name in variables:
            raise EngineError(
                "invalid",
                f"chat_template_kwargs may not set {name}: the template gets it from the request itself.",
                "chat_template_kwargs",
            )


def _prepare(message: dict, index: int, source: str) -> dict:
    """A wire message in the form templates expect: text content, parsed arguments, known roles."""
    prepared = dict(message)
    prepared["content"] = _flatten(message.get("content"), index)
    if message.get("tool_calls"):
        prepared["tool_calls"] = _parsed_calls(message["tool_calls"], f"messages[{index}].tool_calls")
    else:
        prepared.pop("tool_calls", None)
    if message["role"] == "developer" and "developer" not in source:
        prepared["role"] = "system"
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    if reasoning:
        prepared["reasoning_content"] = prepared["reasoning"] = reasoning
        if ".thinking" in source:
            prepared |= _as_thinking(prepared, reasoning)
    return prepared


def _as_thinking(prepared: dict, reasoning: str) -> dict:
    """What gpt-oss calls reasoning. Its template refuses it beside content where there are calls: both become one."""
    content = prepared["content"]
    if not content or "tool_calls" not in prepared:
        return {"thinking": reasoning}
    return {"thinking": f"{reasoning}\n{content}", "content": ""}


def _flatten(content, index: int) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise EngineError(
            "invalid",
            f"Message content must be text or a list of parts, not {content!r}.",
            f"messages[{index}].content",
        )
    return "".join(_part_text(part, f"messages[{index}].content[{place}]") for place, part in enumerate(content))


def _part_text(part, where: str) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    text = part.get("text", part.get("refusal")) if kind in ("text", "refusal", "input_text", "output_text") else None
    if not isinstance(text, str):
        raise EngineError("invalid", f"Content part {kind!r} is not supported: models are given text only.", where)
    return text


def _parsed_calls(calls, where: str) -> list[dict]:
    if not isinstance(calls, list):
        raise EngineError("invalid", f"tool_calls must be a list of calls, not {calls!r}.", where)
    for place, call in enumerate(calls):
        if not isinstance(call, dict) or not isinstance(call.get("function") or {}, dict):
            raise EngineError(
                "invalid", f"A tool call must be an object with a function, not {call!r}.", f"{where}[{place}]"
            )
    return [_parsed_call(call) for call in calls]


def _parsed_call(call: dict) -> dict:
    """Templates write arguments with `tojson`, so they want the object behind the wire's JSON string."""
    function = dict(call.get("function") or {})
    if isinstance(function.get("arguments"), str):
        # Malformed arguments are the model's own text: the prompt has them unchanged.
        with contextlib.suppress(ValueError, RecursionError):
            function["arguments"] = json.loads(function["arguments"] or "{}")
    return {**call, "function": function}


def _in_order(tool):
    """The tool with its own keys, and those of its function, in one order.

    Templates print a tool as JSON. ART sends the tools of a trajectory with their keys in another order than its
    rollouts had, and the prompt that is trained on must be the one that was answered.
    """
    if not isinstance(tool, dict):
        return tool
    function = tool.get("function")
    ordered = {**tool, "function": _keys_first(function, _FUNCTION_KEYS)} if isinstance(function, dict) else tool
    return _keys_first(ordered, _TOOL_KEYS)


def _keys_first(value: dict, keys: tuple[str, ...]) -> dict:
    return {key: value[key] for key in keys if key in value} | value


def _template_source(folder: Path, tokenizer_config: dict, tools: bool) -> str | None:
    """The template of a model folder; a folder with several has one named `tool_use`, in a file or in the config."""
    if (file := folder / "chat_template.jinja").is_file():
        with_tools = folder / TOOL_TEMPLATE
        return (with_tools if tools and with_tools.is_file() else file).read_text()
    if (file := folder / "chat_template.json").is_file():
        return json.loads(file.read_text()).get("chat_template")
    found = tokenizer_config.get("chat_template")
    if not isinstance(found, list):
        return found
    named = {entry["name"]: entry["template"] for entry in found}
    return (named.get("tool_use") if tools else None) or named.get("default")
