"""The shipped base model `heddle/tiny`: its files, chat format, tokenizer and starting skill."""

import hashlib
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "engine" / "models" / "heddle-tiny"

sys.path.insert(0, str(ROOT / "examples" / "art_loop"))
import tasks  # noqa: E402

TOOL_LINE = (
    '{"type": "function", "function": {"name": "get_weather", '
    '"description": "Current weather of a city", "parameters": {"type": "object", '
    '"properties": {"city": {"type": "string"}}, "required": ["city"]}}}'
)
TOOLS_TEXT = (
    "# Tools\n\nFunctions you may call:\n<tools>\n"
    + TOOL_LINE
    + "\n</tools>\n\nTo call one, write its name and arguments as JSON:\n"
    '<tool_call>\n{"name": <name>, "arguments": <object>}\n</tool_call>'
)


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(MODEL)


@pytest.fixture(scope="module")
def model():
    return AutoModelForCausalLM.from_pretrained(MODEL)


def call(name: str, arguments: object) -> dict:
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


class TestFiles:
    def test_hashes_match_their_list(self):
        listed = {}
        for line in (MODEL / "SHA256SUMS").read_text().splitlines():
            digest, name = line.split("  ")
            listed[name] = digest
        found = {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest()
            for file in MODEL.iterdir()
            if file.name != "SHA256SUMS"
        }
        assert found == listed
        assert {"README.md", "chat_template.jinja", "config.json", "generation_config.json"} < set(listed)
        assert {"model.safetensors", "tokenizer.json", "tokenizer_config.json"} < set(listed)

    def test_the_folder_is_small_enough_for_the_repository(self):
        assert (MODEL / "model.safetensors").stat().st_size <= 3_500_000
        assert sum(file.stat().st_size for file in MODEL.iterdir()) <= 4_000_000

    def test_the_card_names_the_hash_of_the_weights(self):
        digest = hashlib.sha256((MODEL / "model.safetensors").read_bytes()).hexdigest()
        assert digest in (MODEL / "README.md").read_text()

    def test_architecture(self, model):
        config = model.config
        assert config.model_type == "qwen3"
        assert (config.hidden_size, config.num_hidden_layers) == (128, 4)
        assert (config.num_attention_heads, config.num_key_value_heads, config.head_dim) == ((4, 2, 32))
        assert (config.intermediate_size, config.vocab_size) == (384, 512)
        assert config.max_position_embeddings == 2048
        assert model.lm_head.weight is model.model.embed_tokens.weight
        assert model.dtype == torch.float32


class TestChatTemplate:
    def test_plain_turns(self, tokenizer):
        messages = [
            {"role": "system", "content": "Answer briefly."},
            {"role": "user", "content": "3 + 4 = ?"},
            {"role": "assistant", "content": "7"},
            {
                "role": "user",
                "content": [{"type": "text", "text": "1 + "}, {"type": "text", "text": "1 = ?"}],
            },
        ]
        assert tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True) == (
            "<|im_start|>system\nAnswer briefly.<|im_end|>\n"
            "<|im_start|>user\n3 + 4 = ?<|im_end|>\n"
            "<|im_start|>assistant\n7<|im_end|>\n"
            "<|im_start|>user\n1 + 1 = ?<|im_end|>\n"
            "<|im_start|>assistant\n"
        )

    @pytest.mark.parametrize(
        ("system", "prefix"),
        [([], ""), ([{"role": "system", "content": "Be kind."}], "Be kind.\n\n")],
    )
    def test_tools_end_the_system_turn(self, tokenizer, system, prefix):
        messages = [*system, {"role": "user", "content": "Weather in Oslo?"}]
        text = tokenizer.apply_chat_template(messages, tools=[tasks.GET_WEATHER], tokenize=False)
        assert text == (
            f"<|im_start|>system\n{prefix}{TOOLS_TEXT}<|im_end|>\n<|im_start|>user\nWeather in Oslo?<|im_end|>\n"
        )

    def test_calls_and_results(self, tokenizer):
        messages = [
            {"role": "user", "content": "Weather in Oslo and Rome?"},
            {
                "role": "assistant",
                "content": "I ask.",
                "tool_calls": [
                    # Arguments that come as text stay as they are, spaces included, because the model may have sampled
                    # them so.
                    call("get_weather", '{"city":  "Oslo"}'),
                    call("get_weather", {"city": "Rome"}),
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "snowy"},
            {"role": "tool", "tool_call_id": "b", "content": "sunny"},
            {"role": "assistant", "content": None, "tool_calls": [call("rest", "{}")]},
        ]
        assert tokenizer.apply_chat_template(messages, tokenize=False) == (
            "<|im_start|>user\nWeather in Oslo and Rome?<|im_end|>\n"
            "<|im_start|>assistant\nI ask.\n"
            '<tool_call>\n{"name": "get_weather", "arguments": {"city":  "Oslo"}}\n</tool_call>\n'
            '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
            "<|im_end|>\n"
            "<|im_start|>user\n<tool_response>\nsnowy\n</tool_response>\n"
            "<tool_response>\nsunny\n</tool_response><|im_end|>\n"
            "<|im_start|>assistant\n"
            '<tool_call>\n{"name": "rest", "arguments": {}}\n</tool_call><|im_end|>\n'
        )

    def test_an_unknown_role_is_refused_by_name(self, tokenizer):
        with pytest.raises(Exception, match="unknown role robot: use system, developer, user"):
            tokenizer.apply_chat_template([{"role": "robot", "content": "hi"}], tokenize=False)


class TestTokenizer:
    @pytest.mark.parametrize(
        "text",
        [
            "Weather in Oslo?",
            "  two  spaces\t\r\n\n end ",
            "naïve cafe\u0301 ＡＢＣ ﬁ \u00a0\u200b",
            "日本語 العربية हिन्दी 👩‍👩‍👧 \U0001f9f5",
            "\x00\x7f\ufeff\ufffd",
            '{"a": [1, 20, 300]} <tool_call>\n</tool_call>',
        ],
    )
    def test_any_unicode_comes_back_unchanged(self, tokenizer, text):
        ids = tokenizer.encode(text, add_special_tokens=False)
        assert tokenizer.decode(ids) == text

    def test_every_id_of_the_model_has_a_token(self, tokenizer):
        assert len(tokenizer) == 512
        assert sorted(tokenizer.get_vocab().values()) == list(range(512))

    def test_control_tokens(self, tokenizer):
        assert tokenizer.encode("<|im_start|>", add_special_tokens=False) == [1]
        assert (tokenizer.eos_token, tokenizer.eos_token_id) == ("<|im_end|>", 2)
        assert (tokenizer.pad_token, tokenizer.pad_token_id) == ("<|endoftext|>", 0)

    def test_call_tags_are_one_token_and_survive_decoding(self, tokenizer):
        ids = tokenizer.encode("<tool_call>x</tool_call><|im_end|>", add_special_tokens=False)
        assert len(ids) == 4
        assert tokenizer.decode(ids, skip_special_tokens=True) == "<tool_call>x</tool_call>"


class TestTasks:
    @pytest.mark.parametrize("task", tasks.TASKS)
    def test_the_two_sets_share_no_question(self, task):
        train = {scenario.question for scenario in tasks.all_scenarios(task, "train")}
        held_out = {scenario.question for scenario in tasks.all_scenarios(task, "held_out")}
        assert train
        assert held_out
        assert not train & held_out

    def test_the_seed_decides_the_draw(self):
        first = tasks.sample_scenarios("train", 30, seed=3)
        assert first == tasks.sample_scenarios("train", 30, seed=3)
        assert first != tasks.sample_scenarios("train", 30, seed=4)
        assert len(set(first)) == 30
        assert [scenario.task for scenario in first[:3]] == ["add", "reverse", "weather"]

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ("7", 1.0),
            (" 7\n", 1.0),
            ("07", 0.0),
            ("7 8", 0.0),
            ("6 7", 0.0),
            ("", 0.0),
            (None, 0.0),
        ],
    )
    def test_only_the_exact_sum_is_rewarded(self, content, expected):
        scenario = tasks.Scenario("add", "3 + 4 = ?", "7")
        assert tasks.reward(scenario, {"role": "assistant", "content": content}) == expected

    def test_only_the_exact_order_is_rewarded(self):
        scenario = tasks.Scenario("reverse", "Reverse: red green blue", "blue green red")
        assert tasks.reward(scenario, {"content": "blue green red"}) == 1.0
        assert tasks.reward(scenario, {"content": "red green blue"}) == 0.0
        assert tasks.reward(scenario, {"content": "blue green red green"}) == 0.0

    @pytest.mark.parametrize(
        ("calls", "content", "expected"),
        [
            ([("get_weather", '{"city": "Oslo"}')], None, 1.0),
            ([("get_weather", '{"city": "Oslo"}')], "Wait.", 0.0),
            ([("get_weather", '{"city": "oslo"}')], None, 0.0),
            ([("get_weather", '{"city": "Rome", "city": "Oslo"}')], None, 0.0),
            ([("get_weather", '{"city": "Oslo", "day": 1}')], None, 0.0),
            ([("get_weather", '{"city": "Oslo"')], None, 0.0),
            ([("get_weather", '[["city", "Oslo"]]')], None, 0.0),
            ([("weather", '{"city": "Oslo"}')], None, 0.0),
            ([("get_weather", '{"city": "Oslo"}')] * 2, None, 0.0),
            ([], '<tool_call>{"name": "get_weather"}</tool_call>', 0.0),
        ],
    )
    def test_only_the_one_right_call_is_rewarded(self, calls, content, expected):
        scenario = tasks.Scenario("weather", "Weather in Oslo?", "Oslo")
        plain = {"content": content, "tool_calls": [call(*each) for each in calls]}
        functions = [SimpleNamespace(name=name, arguments=text) for name, text in calls]
        typed = SimpleNamespace(content=content, tool_calls=[SimpleNamespace(function=f) for f in functions] or None)
        assert tasks.reward(scenario, plain) == expected
        assert tasks.reward(scenario, typed) == expected


class TestSkill:
    """The model's skill before any reinforcement learning."""

    @staticmethod
    def answers(model, tokenizer, scenarios, samples, **sampling) -> list[tuple]:
        pairs = []
        for tools in (None, [tasks.GET_WEATHER]):
            batch = [scenario for scenario in scenarios if scenario.tools == tools]
            prompts = tokenizer.apply_chat_template(
                [scenario.messages for scenario in batch],
                tools=tools,
                add_generation_prompt=True,
                padding=True,
                return_dict=True,
                return_tensors="pt",
            )
            output = model.generate(**prompts, max_new_tokens=40, num_return_sequences=samples, **sampling)
            texts = tokenizer.batch_decode(output[:, prompts["input_ids"].shape[1] :], skip_special_tokens=True)
            pairs += [(batch[i // samples], text) for i, text in enumerate(texts)]
        return pairs

    @staticmethod
    def message(text: str) -> dict:
        found = re.fullmatch(r"<tool_call>\n(.*)\n</tool_call>", text)
        if not found:
            return {"content": text}
        body = json.loads(found[1])
        return {"tool_calls": [call(body["name"], json.dumps(body["arguments"]))]}

    def test_about_three_held_out_answers_in_ten_are_right(self, model, tokenizer):
        torch.manual_seed(0)
        scenarios = tasks.sample_scenarios("held_out", 48, seed=1)
        pairs = self.answers(model, tokenizer, scenarios, samples=4, do_sample=True, top_k=0, top_p=1.0)
        rewards = {task: [] for task in tasks.TASKS}
        for scenario, text in pairs:
            rewards[scenario.task].append(tasks.reward(scenario, self.message(text)))
        means = {task: sum(values) / len(values) for task, values in rewards.items()}
        assert 0.2 <= sum(means.values()) / 3 <= 0.4, means
        # Every task begins with some successes to learn from, and with room to improve.
        assert all(0.08 <= mean <= 0.55 for mean in means.values()), means

    def test_a_prompt_that_fills_the_context_is_answered(self, model, tokenizer):
        turns = [{"role": "user", "content": "Thanks!"}, {"role": "assistant", "content": "Bye."}]
        ids = tokenizer.apply_chat_template(turns * 200, return_dict=False)[:2047]
        with torch.no_grad():
            logits = model(torch.tensor([[*ids, 2]])).logits
        assert logits.shape == (1, 2048, 512)
        assert bool(torch.isfinite(logits).all())
