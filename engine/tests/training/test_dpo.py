"""DPO jobs (training-api 7.7): a step equal to TRL's, pairs, batches, refusals, references."""

import math
from pathlib import Path

import pytest
import torch
import transformers
from datasets import Dataset
from safetensors.torch import load_file
from trl import DPOConfig, DPOTrainer

from heddle_engine.errors import EngineError
from heddle_engine.training import micro_batches
from heddle_engine.training.dpo import DpoWork
from heddle_engine.training.jobs import TrainingJob
from heddle_engine.training.loss.preference_loss import PairLogprobs, preference_loss
from heddle_engine.training.optimizer import SFT_OPTIMIZER
from heddle_engine.training.saved.snapshots import Snapshots
from heddle_engine.training.trainable_lora import TrainableLora
from heddle_engine.training.trainer import Trainer
from tests.training.jobs_support import DPO_CONFIG, cpu_bases, job_params, pair_lines, run_job, steps, write_lines
from tests.training.oracle import CPU, delta_nets_by_token, lora_of, make_pair, oracle_gradients

TEXTS = [("in the inn", "at"), ("at the mill, then", "on the hill"), ("by the sea", "by the lake and the lea")]


@pytest.fixture(scope="module")
def folder(model_folders, request):
    return model_folders(getattr(request, "param", "qwen3"))


@pytest.fixture(scope="module")
def base(folder):
    return cpu_bases().load({"name": "test", "path": str(folder)})


def load(base, tmp_path, lines, **config) -> DpoWork:
    work = DpoWork({**DPO_CONFIG, **config}, base)
    for _ in work.load(**write_lines(tmp_path / "data.jsonl", lines)):
        pass
    return work


def refusal(base, tmp_path, lines) -> str:
    with pytest.raises(EngineError) as error:
        load(base, tmp_path, lines)
    return error.value.message


def done(turns):
    """Runs turns to their end and returns their result."""
    while True:
        try:
            next(turns)
        except StopIteration as end:
            return end.value


def test_the_loss_of_literal_log_probabilities():
    """arXiv 2305.18290, equation 7, computed by hand with beta 0.5, for margins of 0 and 1."""
    policy = PairLogprobs(torch.tensor([-4.0, -3.0]), torch.tensor([-6.0, -9.0]))
    reference = PairLogprobs(torch.tensor([-5.0, -4.0]), torch.tensor([-7.0, -8.0]))
    found = preference_loss(policy, reference, 0.5)
    assert found.chosen_reward.tolist() == [0.5, 0.5]
    assert found.rejected_reward.tolist() == [0.5, -0.5]
    assert found.margin.tolist() == [0.0, 1.0]
    assert found.loss.tolist() == pytest.approx([0.6931472, 0.3132617], abs=1e-6)
    assert found.slope.tolist() == pytest.approx([0.25, 0.1344707], abs=1e-6)


@pytest.mark.parametrize(
    "folder", ["qwen3", "qwen3_moe_mixed", "qwen3_next_mixed", "qwen3_5", "qwen3_5_moe"], indirect=True
)
@pytest.mark.parametrize("moved", [False, True], ids=["at the reference", "away from it"])
def test_loss_and_gradient_of_a_step_equal_trl(base, folder, tmp_path, monkeypatch, moved):
    """TRL's own trainer, model of transformers and adapter of peft, with a copy of the adapter as the reference.

    Of mixtures TRL also balances the load of the experts, whose router is frozen here: that is switched off.
    """
    delta_nets_by_token(monkeypatch)
    pair = make_pair(folder)
    work = load(base, tmp_path, pair_lines(TEXTS), batch_size=3, beta=0.3)
    options = {"report_to": [], "use_cpu": True, "bf16": False, "gradient_checkpointing": False}
    if base.config.mixture:
        options["router_aux_loss_coef"] = 0.0
    trl = DPOTrainer(
        model=pair.oracle,
        args=DPOConfig(output_dir=str(tmp_path), beta=0.3, **options),
        train_dataset=Dataset.from_dict({"prompt": ["1"], "chosen": ["2"], "rejected": ["3"]}),
        processing_class=transformers.AutoTokenizer.from_pretrained(
            Path(__file__).parents[2] / "models" / "heddle-tiny"
        ),
    )
    trainer = Trainer(
        base.decoder, lora_of(pair.oracle, base.config), SFT_OPTIMIZER, micro_batches.MicroBatches(base.decoder, 1024)
    )
    done(work.prepare(trainer))
    if moved:
        torch.manual_seed(9)
        with torch.no_grad():
            for name, parameter in pair.oracle.named_parameters():
                if "lora_B.default" in name:
                    parameter += 0.05 * torch.randn_like(parameter)
        trainer.lora = TrainableLora(lora_of(pair.oracle, base.config), CPU)

    gradients = []
    monkeypatch.setattr(trainer, "update", lambda *_: gradients.append(trainer.lora.gradient.clone()) or 1.0)
    metrics = done(work.step(0, trainer))
    loss = trl._compute_loss(trl.model.train(), trl_inputs(work), return_outputs=False)
    pair.oracle.zero_grad()
    loss.backward()
    expected = oracle_gradients(trainer.lora, pair.oracle)
    logged = {name: values[-1] for name, values in trl._metrics["train"].items()}
    assert metrics["loss"] == pytest.approx(loss.item(), rel=1e-5)
    assert (metrics["loss"] == pytest.approx(math.log(2))) is not moved
    assert metrics["chosen_reward"] == pytest.approx(logged["rewards/chosen"], abs=1e-5)
    assert metrics["rejected_reward"] == pytest.approx(logged["rewards/rejected"], abs=1e-5)
    assert metrics["reward_margin"] == pytest.approx(logged["rewards/margins"], abs=1e-5)
    if moved:
        assert metrics["accuracy"] == pytest.approx(logged["rewards/accuracies"])
    assert expected.abs().max() > 1e-3
    # Of mixtures with delta nets both round: see `test_packed_gradients_equal_a_plain_loop`.
    bound = 2e-5 if base.config.delta and base.config.mixture else 1e-5
    torch.testing.assert_close(gradients[0], expected, rtol=1e-5, atol=bound * float(expected.abs().max()))


def trl_inputs(work) -> dict[str, torch.Tensor]:
    """Inputs in the layout of TRL's collator: chosen answers, then rejected ones, padded on the right."""
    pairs = work._batches[0]
    sequences = [pair[0] for pair in pairs] + [pair[1] for pair in pairs]
    shape = len(sequences), max(map(len, sequences))
    inputs = {name: torch.zeros(shape, dtype=torch.long) for name in ("input_ids", "attention_mask", "completion_mask")}
    for row, one in enumerate(sequences):
        inputs["input_ids"][row, : len(one)] = torch.from_numpy(one.ids)
        inputs["attention_mask"][row, : len(one)] = 1
        inputs["completion_mask"][row, : len(one)] = torch.from_numpy(one.trained).long()
    return inputs


def test_only_the_last_answer_and_its_end_of_turn_count(base, tmp_path):
    asked = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "before"},
        {"role": "user", "content": "b"},
    ]
    lines = [
        {"group": 0, "index": index, "messages": [*asked, {"role": "assistant", "content": text}]}
        for index, text in enumerate(("yes", "no"))
    ]
    work = load(base, tmp_path, lines)
    [[pair]] = work._batches
    assert [base.tokenizer.decode(one.ids[one.trained].tolist()) for one in pair] == ["yes<|im_end|>", "no<|im_end|>"]


def test_a_job_learns_to_prefer_the_chosen_answers_and_reports_the_margin(folder, tmp_path):
    events, result = run_job(job_params(folder, tmp_path, pair_lines(TEXTS * 8), "dpo", learning_rate=5e-3))
    told = steps(events)
    assert [event.data["number"] for event in events if event.kind == "gradient_step"] == list(range(1, 13))
    first, last = told[0], told[-1]
    # At first the model equals the reference, so no answer is preferred yet.
    assert first["loss"] == pytest.approx(math.log(2), abs=1e-6)
    assert (first["reward_margin"], first["accuracy"]) == (0.0, 0.0)
    assert last["loss"] < 0.6
    assert last["accuracy"] == 1.0
    assert last["reward_margin"] == pytest.approx(last["chosen_reward"] - last["rejected_reward"], abs=1e-5)
    assert set(first) == {
        "loss",
        "learning_rate",
        "grad_norm",
        "reward_margin",
        "accuracy",
        "chosen_reward",
        "rejected_reward",
        "num_pairs",
        "num_tokens",
        "num_trainable_tokens",
        "tokens_per_second",
    }
    assert result["data_metrics"] == {"pairs": 24}


def test_any_split_into_micro_batches_gives_the_same_step(folder, tmp_path, monkeypatch):
    """engine 4.5, mean of means: also when the two sequences of a pair are in different pieces."""
    lines = pair_lines(TEXTS * 2)
    _, whole = run_job(job_params(folder, tmp_path, lines, "dpo", name="whole", batch_size=6))
    monkeypatch.setitem(micro_batches.TOKENS, "cpu", 8)
    monkeypatch.setitem(micro_batches.MOST_TOKENS, "cpu", 8)
    _, split = run_job(job_params(folder, tmp_path, lines, "dpo", name="split", batch_size=6))
    one, other = (load_file(Path(result["output"]["path"]) / "adapter_model.safetensors") for result in (whole, split))
    assert max(float((one[name] - other[name]).abs().max()) for name in one) < 1e-6


def test_the_reference_is_the_start_or_the_base_model(folder, tmp_path):
    _, first = run_job(job_params(folder, tmp_path, pair_lines(TEXTS * 4), "dpo", name="first", learning_rate=5e-3))
    for reference, expected in (("start", math.log(2)), ("base", None)):
        params = job_params(
            folder, tmp_path, pair_lines(TEXTS), "dpo", reference, first["output"], batch_size=3, reference=reference
        )
        loss = steps(run_job(params)[0])[0]["loss"]
        if expected is None:
            # The first job has moved away from the base model, towards the chosen answers.
            assert loss < 0.65
        else:
            assert loss == pytest.approx(expected, abs=1e-6)


def test_a_resumed_job_does_not_need_its_starting_checkpoint_as_the_reference(folder, tmp_path, monkeypatch):
    """The checkpoint that the job started from may be deleted while the job is paused."""
    monkeypatch.setattr(Snapshots, "due", lambda _self: False)
    lines = pair_lines(TEXTS * 4)
    _, first = run_job(job_params(folder, tmp_path, lines, "dpo", name="first", learning_rate=5e-3))
    adapters = []
    for name in ("whole", "paused"):
        params = job_params(folder, tmp_path, lines, "dpo", name, first["output"], learning_rate=1e-3)
        if name == "paused":
            running = TrainingJob(params, cpu_bases().load(params["base"])).run()
            while next(running) is None or not Path(params["work_dir"]).exists():
                pass
            for event in running:
                if event is not None and event.kind == "gradient_step":
                    break
            running.close()
            params["start"] = None
        _, result = run_job(params)
        adapters.append(load_file(Path(result["output"]["path"]) / "adapter_model.safetensors"))
    one, other = adapters
    assert max(float((one[name] - other[name]).abs().max()) for name in one) < 1e-6


def test_pairs_too_long_are_dropped_whole_and_counted(base, tmp_path):
    lines = pair_lines([("a", "b"), ("x " * 600, "c"), ("d", "x " * 600), ("e", "f")])
    work = load(base, tmp_path, lines)
    assert [len(batch) for batch in work._batches] == [2]
    assert work.data_metrics([]) == {"pairs": 4, "pairs_dropped_overlong": 2}
    assert work.warnings == [
        "2 of 4 pairs have an answer that makes more than 512 tokens with its prompt, and were dropped"
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[:3], "line 3: pair 1 ends with its chosen answer; the rejected one is missing"),
        (
            lambda lines: [lines[1], *lines[2:]],
            "line 1: it is answer 1 of pair 0, expected the chosen answer of a pair (index 0)",
        ),
        (
            lambda lines: [lines[0], lines[3]],
            "line 2: it is answer 1 of pair 1, expected the other answer of 0",
        ),
        (
            lambda lines: [{**lines[0], "messages": [{"role": "user", "content": "x"}]}],
            "line 1: the last message has role 'user', expected 'assistant'",
        ),
    ],
)
def test_lines_that_are_no_pairs_name_the_line(base, tmp_path, change, message):
    lines = pair_lines(TEXTS)
    assert refusal(base, tmp_path, change(lines)) == f"Training data, {message}"
