"""Chat templates render as in transformers, and training spans are the assistant's turns."""

import itertools
import shutil

import pytest
from tokenizers import Tokenizer
from transformers import AutoTokenizer

from heddle_engine.errors import EngineError
from heddle_engine.text.render import Renderer
from heddle_engine.text.sandbox import Sandbox
from heddle_engine.text.tokenizer import TextTokenizer
from heddle_engine.text.toolcalls import OutputParser
from tests.text.spaced import save_spaced_tokenizer

TOOLS = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object", "é": "ü"}}}]
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1, "b": [2, 3]}'}}
CONVERSATION = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "the rain, then\n\nwhat?"},
    {"role": "assistant", "content": "\nfirst answer"},
    {"role": "user", "content": "and 1+2?"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "content": "first answer 3", "tool_call_id": "c1"},
    {"role": "assistant", "content": "3"},
]

FORGETFUL = """\
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{% if message.role == 'assistant' and message.reasoning_content and loop.last -%}
<think>{{ message.reasoning_content }}</think>{% endif -%}
{{ message.content }}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant
{% endif -%}"""


@pytest.fixture(scope="module")
def tokenizer(model_folders):
    return TextTokenizer(model_folders("qwen3"))


@pytest.fixture(scope="module")
def sandbox():
    return Sandbox()


@pytest.fixture(scope="module")
def renderer(model_folders, tokenizer, sandbox):
    return Renderer(model_folders("qwen3"), tokenizer, sandbox)


@pytest.fixture
def with_template(tokenizer, sandbox, tmp_path):
    """`with_template(template)` makes a renderer with that template."""

    def make(template):
        (tmp_path / "chat_template.jinja").write_text(template)
        return Renderer(tmp_path, tokenizer, sandbox)

    return make


@pytest.mark.parametrize("tools", [None, TOOLS])
@pytest.mark.parametrize("generation_prompt", [True, False])
def test_ids_equal_transformers(tools, generation_prompt, renderer, model_folders):
    oracle = AutoTokenizer.from_pretrained(model_folders("qwen3"))
    parsed = [dict(message) for message in CONVERSATION]
    parsed[4] = {**parsed[4], "tool_calls": [{**CALL, "function": {"name": "add", "arguments": {"a": 1, "b": [2, 3]}}}]}
    expected = oracle.apply_chat_template(
        parsed, tools=tools, add_generation_prompt=generation_prompt, return_dict=False
    )
    assert renderer.render(CONVERSATION, tools, add_generation_prompt=generation_prompt) == expected


def test_the_template_for_tools_may_be_a_file_of_its_own_as_in_transformers(model_folders, sandbox, tmp_path):
    writer = AutoTokenizer.from_pretrained(model_folders("qwen3"))
    first = "{{ messages[0].content }}"
    writer.chat_template = {"default": first, "tool_use": "{{ tools | length }}: " + first, "rag": "other"}
    writer.save_pretrained(tmp_path)
    oracle, messages = AutoTokenizer.from_pretrained(tmp_path), CONVERSATION[1:2]
    renderer = Renderer(tmp_path, TextTokenizer(tmp_path), sandbox)
    texts = [renderer.text(messages, tools) for tools in (None, TOOLS)]
    assert texts == [oracle.apply_chat_template(messages, tools=tools, tokenize=False) for tools in (None, TOOLS)]
    assert texts[1] == f"1: {texts[0]}"


@pytest.fixture(scope="module")
def gemma(model_folders, sandbox):
    folder = model_folders("gemma3")
    return Renderer(folder, TextTokenizer(folder), sandbox)


@pytest.mark.parametrize("messages", [CONVERSATION[:3], CONVERSATION[:4], CONVERSATION[1:3]])
@pytest.mark.parametrize("generation_prompt", [True, False])
def test_turns_of_gemma_equal_transformers(messages, generation_prompt, gemma, model_folders):
    """A system message stands in the first turn of the user, and assistants are called `model`."""
    oracle = AutoTokenizer.from_pretrained(model_folders("gemma3"))
    expected = oracle.apply_chat_template(messages, add_generation_prompt=generation_prompt, return_dict=False)
    assert gemma.render(messages, add_generation_prompt=generation_prompt) == expected


def test_what_gemmas_template_writes_and_refuses(gemma):
    text = gemma.text(CONVERSATION[:2])
    assert text == (
        "<bos><start_of_turn>user\nBe kind.\n\nthe rain, then\n\nwhat?<end_of_turn>\n<start_of_turn>model\n"
    )
    # It has no words for tools.
    assert gemma.text(CONVERSATION[:2], TOOLS) == text
    with pytest.raises(EngineError, match="refused the messages: Turns must go user, assistant") as caught:
        gemma.text(CONVERSATION)
    assert (caught.value.kind, caught.value.param) == ("invalid", "messages")


def test_a_span_of_gemma_ends_with_its_end_of_turn(gemma):
    [first, second] = gemma.spans([*CONVERSATION[1:4], {"role": "assistant", "content": "3"}])
    assert gemma._tokenizer.decode(first.token_ids) == "first answer<end_of_turn>"
    assert gemma._tokenizer.decode(second.token_ids) == "3<end_of_turn>"


def test_continuing_the_last_message(renderer):
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hi the"}]
    text = renderer.text(messages, add_generation_prompt=False, continue_final_message=True)
    assert text == "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nhi the"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "user\nab"),
        ({"role": "assistant", "content": None, "refusal": None, "tool_calls": []}, "assistant\n"),
        ({"role": "developer", "content": "d"}, "system\nd"),
    ],
)
def test_wire_forms_of_a_message(message, text, renderer):
    assert renderer.text([message], add_generation_prompt=False) == f"<|im_start|>{text}<|im_end|>\n"


def test_malformed_arguments_are_shown_as_they_were(renderer):
    call = {"function": {"name": "f", "arguments": "{oops"}}
    text = renderer.text([{"role": "assistant", "content": "", "tool_calls": [call]}], add_generation_prompt=False)
    assert '"arguments": "{oops"' in text


@pytest.mark.parametrize(
    ("messages", "options", "words", "param"),
    [
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}],
            {},
            "'image_url' is not supported",
            "messages[0].content[0]",
        ),
        ([{"role": "user", "content": 5}], {}, "not 5", "messages[0].content"),
        (
            [{"role": "user", "content": "x"}],
            {"add_generation_prompt": True, "continue_final_message": True},
            "exclude each other",
            "continue_final_message",
        ),
        (
            [{"role": "assistant", "content": ""}],
            {"add_generation_prompt": False, "continue_final_message": True},
            "last message",
            "continue_final_message",
        ),
    ],
)
def test_refusals(messages, options, words, param, renderer):
    with pytest.raises(EngineError, match=words) as caught:
        renderer.render(messages, **options)
    assert (caught.value.kind, caught.value.param) == ("invalid", param)


def test_the_templates_own_refusal_is_told(with_template):
    renderer = with_template("{{ raise_exception('roles must alternate') }}")
    with pytest.raises(EngineError, match="roles must alternate") as caught:
        renderer.render([{"role": "user", "content": "x"}])
    assert caught.value.param == "messages"


def test_the_sandbox_holds(with_template):
    renderer = with_template("{{ messages.__class__.__mro__ }}")
    with pytest.raises(EngineError):
        renderer.render([{"role": "user", "content": "x"}])


def test_conventions_of_templates(with_template):
    source = "{% generation %}{{ tools is none }} {{ documents is none }} {{ eos_token }} {{ x }}{% endgeneration %}"
    renderer = with_template(source + "{% for m in messages %}{% break %}{% endfor %}")
    assert renderer.text([], variables={"x": 3}) == "True True <|im_end|> 3"
    renderer = with_template("{{ strftime_now('%Y') | int > 2000 }} {{ {'é': 1} | tojson }}")
    assert renderer.text([]) == 'True {"é": 1}'


def test_a_model_without_a_template_takes_prompts_only(tokenizer, sandbox, tmp_path):
    without = Renderer(tmp_path, tokenizer, sandbox)
    without._plain = without._with_tools = None
    with pytest.raises(EngineError, match="no chat template"):
        without.render([{"role": "user", "content": "x"}])


def test_a_tool_is_printed_the_same_in_whatever_order_its_keys_are(renderer):
    """inference-api 4: the prompt of a trajectory whose tools a client wrote anew is the one that was answered."""
    function = {"name": "add", "description": "Adds.", "parameters": {"type": "object", "a": 1}, "x": 2}
    tool = {"type": "function", "function": function}
    other = {"function": {key: function[key] for key in ("x", "parameters", "description", "name")}, "type": "function"}
    text = renderer.text(CONVERSATION[:2], [tool])
    assert '{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": ' in text
    assert renderer.text(CONVERSATION[:2], [other]) == text
    # What the keys of a schema mean may lie in their order.
    turned = {**tool, "function": {**function, "parameters": {"a": 1, "type": "object"}}}
    assert renderer.text(CONVERSATION[:2], [turned]) != text


@pytest.mark.parametrize("name", ["messages", "tools", "add_generation_prompt", "tokenize"])
def test_variables_that_the_request_itself_sets_are_refused_by_name(renderer, name):
    with pytest.raises(EngineError, match=f"chat_template_kwargs may not set {name}: ") as caught:
        renderer.text([{"role": "user", "content": "x"}], variables={name: []})
    assert (caught.value.kind, caught.value.param) == ("invalid", "chat_template_kwargs")


def test_variables_of_any_other_name_reach_the_template(with_template):
    renderer = with_template("{{ name }} {{ bos_token }}")
    assert renderer.text([], variables={"name": "me", "self": 1, "bos_token": "<s>"}) == "me <s>"


def test_a_template_that_drops_the_message_to_continue_is_refused(with_template):
    renderer = with_template("{% for message in messages[:-1] %}{{ message.content }}{% endfor %}")
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    with pytest.raises(EngineError, match="does not write the last message"):
        renderer.text(messages, add_generation_prompt=False, continue_final_message=True)


def test_spans_are_the_assistant_turns_and_nothing_else(renderer, tokenizer):
    """engine 4.5: text of users and tools is never trained, and each end-of-turn token exactly once."""
    spans = renderer.spans(CONVERSATION, TOOLS)
    assert [span.message_index for span in spans] == [2, 4, 6]
    call = '<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": [2, 3]}}\n</tool_call>'
    texts = [tokenizer.decode(span.token_ids) for span in spans]
    assert texts == ["\nfirst answer<|im_end|>", f"{call}<|im_end|>", "3<|im_end|>"]
    end = tokenizer.token_to_id("<|im_end|>")
    assert [span.token_ids.count(end) for span in spans] == [1, 1, 1]


def test_each_span_extends_the_one_before(renderer):
    spans = renderer.spans(CONVERSATION, TOOLS)
    for earlier, later in itertools.pairwise(spans):
        known = earlier.prompt_ids + earlier.token_ids
        assert later.prompt_ids[: len(known)] == known


def test_a_template_that_forgets_reasoning_breaks_the_prefix(with_template, tokenizer):
    """engine 4.5: an answer is trained with the reasoning it was sampled with, which later prompts lack."""
    renderer = with_template(FORGETFUL)
    thinking = {"role": "assistant", "content": "a", "reasoning_content": "why"}
    first, second = renderer.spans(
        [{"role": "user", "content": "q"}, thinking, {"role": "user", "content": "r"}, {**thinking, "content": "b"}]
    )
    assert tokenizer.decode(first.token_ids) == "<think>why</think>a<|im_end|>"
    assert tokenizer.decode(second.token_ids) == "<think>why</think>b<|im_end|>"
    assert "why" not in tokenizer.decode(second.prompt_ids)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"content": "4", "reasoning_content": "sum"}, "[sum|4]"),
        ({"content": "", "reasoning": "sum", "tool_calls": [{"function": {"name": "add"}}]}, "[sum|]"),
        ({"content": "Wait.", "reasoning": "sum", "tool_calls": [{"function": {"name": "add"}}]}, "[sum\nWait.|]"),
        ({"content": "4"}, "[|4]"),
    ],
)
def test_reasoning_reaches_a_template_of_gpt_oss_by_its_name(message, expected, with_template):
    """Its template refuses reasoning beside content in a message with calls."""
    renderer = with_template("{% for m in messages %}[{{ m.thinking }}|{{ m.content }}]{% endfor %}")
    assert renderer.text([{"role": "assistant", **message}], add_generation_prompt=False) == expected


GREETING = """\
{%- if messages[0].role != 'system' %}<|im_start|>system
Be kind.<|im_end|>
{% endif %}{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


def test_an_answer_before_any_question_is_trained_behind_its_header(with_template, tokenizer):
    """Qwen's templates, among others, look at the first message, so that they take no empty dialogue."""
    renderer = with_template(GREETING)
    messages = [
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "the"},
    ]
    first, second = renderer.spans(messages)
    system, header = "<|im_start|>system\nBe kind.<|im_end|>\n", "<|im_start|>assistant\n"
    assert tokenizer.decode(first.prompt_ids) == system + header
    assert [tokenizer.decode(span.token_ids) for span in (first, second)] == ["Hello!<|im_end|>", "the<|im_end|>"]
    known = first.prompt_ids + first.token_ids
    assert second.prompt_ids[: len(known)] == known


OPENING = """\
{%- for m in messages -%}
<|im_start|>{{ m.role }}
{{ m.content }}{% for call in m.tool_calls or [] %}<tool_call>{{ call.function.name }}{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
<think>
{% endif %}"""


@pytest.mark.parametrize("added", [["<tool_call>"], ["<think>", "<tool_call>"]])
def test_a_call_is_trained_whole_where_the_prompt_opens_a_think_block(added, model_folders, sandbox, tmp_path):
    """As that of QwQ does, which writes no reasoning of an answer: the prompt ends where its first token begins."""
    folder = shutil.copytree(model_folders("qwen3"), tmp_path / "model")
    extended = Tokenizer.from_file(str(folder / "tokenizer.json"))
    extended.add_tokens(added)
    extended.save(str(folder / "tokenizer.json"))
    (folder / "chat_template.jinja").write_text(OPENING)
    tokenizer = TextTokenizer(folder)
    renderer = Renderer(folder, tokenizer, sandbox)
    user, call = {"role": "user", "content": "go"}, {"role": "assistant", "content": "", "tool_calls": [CALL]}
    [span] = renderer.spans([user, call])
    assert span.token_ids == tokenizer.encode("<tool_call>add<|im_end|>")
    assert span.token_ids[0] == tokenizer.token_to_id("<tool_call>")
    assert tokenizer.decode(span.prompt_ids).endswith("<|im_start|>assistant\n")
    # Where nothing differs before the end of the prompt, it stays whole.
    [span] = renderer.spans([user, {"role": "assistant", "content": "<think>\nso"}])
    assert tokenizer.decode(span.token_ids) == "so<|im_end|>"


MISTRAL = """\
{%- macro id_of(id) %}{{ id if id | length == 9 else raise_exception('an id has nine characters') }}{% endmacro %}
{%- for m in messages %}
{%- if m.role == 'tool' %}[TOOL_RESULTS]{{ id_of(m.tool_call_id) }} {{ m.content }}
{%- elif m.tool_calls %}[TOOL_CALLS]
{%- for call in m.tool_calls %}{{ id_of(call.id) }} {{ call.function.name }} {% endfor %}
{%- else %}{{ m.content }}{% endif %}
{%- endfor %}"""
"""In the form of Mistral's, which refuse ids of calls that are not nine letters and digits."""


def test_a_call_of_mistral_and_its_result_come_back_into_the_template(with_template):
    parser = OutputParser("mistral", reasoning=False)
    parser.feed('[TOOL_CALLS] [{"name": "add", "arguments": {}}, {"name": "mul", "arguments": {}}]')
    first, second = parser.finish().tool_calls
    assert first.id.isalnum()
    assert first.id != second.id
    calls = [{"id": call.id, "type": "function", "function": {"name": call.name}} for call in (first, second)]
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "content": "3", "tool_call_id": first.id},
    ]
    text = with_template(MISTRAL).text(messages, add_generation_prompt=False)
    assert text == f"go[TOOL_CALLS]{first.id} add {second.id} mul [TOOL_RESULTS]{first.id} 3"


BRACKETS = """\
{{- '<s>' }}{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]
{%- else %}SPACE{{ m.content }}</s>{% endif %}{% endfor %}"""
WORDS = """\
{%- for m in messages %}{% if m.role == 'user' %}u: {{ m.content }}{% else %}a: {{ m.content }}</s>{% endif %}
{%- endfor %}{{ 'a:' if add_generation_prompt else '' }}"""


@pytest.mark.parametrize("in_front", ["always", "first"])
@pytest.mark.parametrize("template", [BRACKETS.replace("SPACE", " "), WORDS])
def test_a_span_has_the_ids_that_it_has_in_the_whole_text(in_front, template, sandbox, tmp_path):
    """SentencePiece puts a space before a text, and none before the answer that goes on behind a prompt."""
    folder = save_spaced_tokenizer(tmp_path, template, in_front)
    renderer, oracle = Renderer(folder, TextTokenizer(folder), sandbox), AutoTokenizer.from_pretrained(folder)
    turns = ["the rain", "the answer", "then", "a  b"]
    messages = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(turns)]
    spans = renderer.spans(messages)
    assert [span.message_index for span in spans] == [1, 3]
    for span in spans:
        whole = oracle.apply_chat_template(messages[: span.message_index + 1], return_dict=False)
        assert span.prompt_ids + span.token_ids == whole


@pytest.mark.parametrize("in_front", ["always", "first"])
def test_an_answer_that_a_token_would_join_to_its_prompt_gets_no_space(in_front, sandbox, tmp_path):
    """`]a` is a token, but nothing that is sampled begins with the end of its prompt."""
    folder = save_spaced_tokenizer(tmp_path, BRACKETS.replace("SPACE", ""), in_front)
    tokenizer = TextTokenizer(folder)
    [span] = Renderer(folder, tokenizer, sandbox).spans(
        [{"role": "user", "content": "the rain"}, {"role": "assistant", "content": "a b"}]
    )
    assert b"".join(map(tokenizer.token_bytes, span.token_ids)) == b"a b</s>"


def test_bytes_of_tokens_are_exact(tokenizer):
    text = "naïve 🙂 the <|im_end|>\n"
    ids = tokenizer.encode(text)
    assert b"".join(tokenizer.token_bytes(token_id) for token_id in ids) == text.encode()
    assert any(
        len(tokenizer.token_bytes(token_id)) == 1 and tokenizer.token_bytes(token_id)[0] > 127 for token_id in ids
    )


def test_end_of_turn_comes_from_every_file(tokenizer):
    assert tokenizer.eos_ids == {tokenizer.token_to_id("<|im_end|>")}
