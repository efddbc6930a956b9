"""Import of adapters made elsewhere: peft's become checkpoints, and anything else is refused with its fault."""

import io
import json
import tarfile

import pytest
import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from heddle_engine.bases import Base
from heddle_engine.errors import EngineError
from heddle_engine.model.lora import read_peft
from heddle_engine.training.saved.adapter_import import import_adapter

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
Q = "base_model.model.model.layers.0.self_attn.q_proj.lora_{}.weight"


@pytest.fixture(scope="module")
def base(model_folders):
    return Base("lab/model", model_folders("qwen3"), torch.device("cpu"), torch.float32)


@pytest.fixture(scope="module")
def adapter(base, tmp_path_factory):
    """Folder of an adapter that peft saved, on two modules with different ranks."""
    folder = tmp_path_factory.mktemp("adapter")
    settings = {"r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "up_proj"], "rank_pattern": {"up_proj": 2}}
    model = get_peft_model(AutoModelForCausalLM.from_pretrained(base.folder), LoraConfig(**settings))
    torch.manual_seed(1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(0, 0.2)
    model.save_pretrained(folder)
    return folder


def files_of(adapter):
    return {f"adapter/{name}": (adapter / name).read_bytes() for name in (CONFIG, WEIGHTS)}


def run(base, folder, files, **params):
    archive = folder / "adapter.tar"
    with tarfile.open(archive, "w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return ask(base, folder, **params)


def ask(base, folder, any_base=False):
    params = {"base": {"name": base.name}, "archive": str(folder / "adapter.tar"), "any_base": any_base}
    return import_adapter({**params, "output": {"path": str(folder / "out")}}, base)


def with_config(files, **changes):
    config = json.loads(files[f"adapter/{CONFIG}"])
    return {**files, f"adapter/{CONFIG}": json.dumps({**config, **changes}).encode()}


def with_tensors(files, tmp_path, change):
    (tmp_path / "weights").write_bytes(files[f"adapter/{WEIGHTS}"])
    tensors = load_file(tmp_path / "weights")
    change(tensors)
    save_file(tensors, tmp_path / "weights")
    return {**files, f"adapter/{WEIGHTS}": (tmp_path / "weights").read_bytes()}


def refused(base, tmp_path, files, reason, **params):
    with pytest.raises(EngineError, match=reason) as failure:
        run(base, tmp_path, files, **params)
    assert failure.value.kind == "invalid"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "weights") == ["adapter.tar"]


def test_an_adapter_of_peft_is_written_anew_with_the_same_values(base, adapter, tmp_path):
    files = {**files_of(adapter), "adapter/README.md": b"a card", "adapter/optimizer.pt": b"a pickle that nobody reads"}
    result = run(base, tmp_path, files)
    assert result["rank"] == 4
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [CONFIG, WEIGHTS, "manifest.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["adapter.tar", "out"]
    before, after = read_peft(adapter, base.config), read_peft(tmp_path / "out", base.config)
    assert before.modules.keys() == after.modules.keys()
    for key, lora in before.modules.items():
        found = after.modules[key]
        assert torch.equal(lora.a, found.a)
        assert torch.equal(lora.b, found.b)
        assert lora.scale == found.scale
    assert json.loads((tmp_path / "out" / CONFIG).read_text())["base_model_name_or_path"] == "lab/model"


def test_files_that_lie_at_the_top_of_the_archive_are_taken_too(base, adapter, tmp_path):
    run(base, tmp_path, {name.removeprefix("adapter/"): content for name, content in files_of(adapter).items()})
    assert (tmp_path / "out" / WEIGHTS).exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"r": 3}, "layer 0 q_proj has rank 4, and adapter_config.json says 3"),
        ({"r": 0}, "r is 0; a rank is a whole number from 1 to 512"),
        ({"r": 513}, "r is 513; a rank is a whole number from 1 to 512"),
        ({"r": "four"}, "r is 'four'"),
        ({"lora_alpha": -1}, "lora_alpha is -1; a number above 0"),
        ({"lora_alpha": 10**400}, "lora_alpha is 10+; a number above 0"),
        ({"rank_pattern": {"up_proj": "two"}}, "rank_pattern is"),
        ({"use_dora": True}, "use_dora is True"),
        ({"peft_type": "IA3"}, "peft_type is 'IA3'"),
        ({"base_model_name_or_path": "other/large-7B"}, "trained on 'other/large-7B'.*'lab/model'.*any_base=true"),
    ],
)
def test_a_config_that_does_not_fit_is_refused(change, reason, base, adapter, tmp_path):
    refused(base, tmp_path, with_config(files_of(adapter), **change), reason)


def test_another_name_of_the_base_is_accepted_with_any_base_or_when_its_end_is_equal(base, adapter, tmp_path):
    files = with_config(files_of(adapter), base_model_name_or_path="other/large-7B")
    run(base, tmp_path, files, any_base=True)
    for name in ("copies/Model", "/home/anna/model/", None):
        (tmp_path / str(name).strip("/").replace("/", "-")).mkdir()
        run(
            base,
            tmp_path / str(name).strip("/").replace("/", "-"),
            with_config(files_of(adapter), base_model_name_or_path=name),
        )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda t: t.update({Q.format("B"): t[Q.format("B")] * float("nan")}),
            "layer 0 q_proj has NaN or infinity in lora_B",
        ),
        (
            lambda t: t.update({Q.format("A"): t[Q.format("A")][:, :-1].contiguous()}),
            r"q_proj has A \[4, 63\].*needs \[r, 64\]",
        ),
        (lambda t: t.pop(Q.format("B")), r"lora_A\.weight but no .*lora_B\.weight"),
        (lambda t: t.update({Q.format("A"): t[Q.format("A")].to(torch.int8)}), "q_proj.lora_A.weight is I8"),
        (lambda t: t.update({"extra": torch.zeros(2, 2)}), "holds a tensor the engine does not serve: extra"),
        (
            lambda t: t.update({Q.format(x).replace("layers.0", "layers.9"): t[Q.format(x)].clone() for x in "AB"}),
            "the base model has 3 layers",
        ),
        (
            lambda t: t.update(
                {Q.format(x).replace("self_attn.q_proj", "lm_head"): t[Q.format(x)].clone() for x in "AB"}
            ),
            "changes .*lm_head.*LoRA on q_proj",
        ),
        (lambda t: t.clear(), "holds no tensors"),
    ],
)
def test_weights_that_do_not_fit_are_refused_by_the_tensor(change, reason, base, adapter, tmp_path):
    refused(base, tmp_path, with_tensors(files_of(adapter), tmp_path, change), reason)


def test_archives_that_lead_elsewhere_or_lack_files_are_refused(base, adapter, tmp_path):
    files = files_of(adapter)
    refused(
        base, tmp_path, {"../evil/adapter_config.json": b"{}", **files}, r"'\.\./evil/adapter_config.json', which leads"
    )
    refused(base, tmp_path, {"/etc/adapter_config.json": b"{}", **files}, "'/etc/adapter_config.json', which leads")
    refused(base, tmp_path, {**files, f"other/{CONFIG}": b"{}"}, "has adapter_config.json twice")
    refused(base, tmp_path, {f"a/{CONFIG}": files[f"adapter/{CONFIG}"]}, f"has no {WEIGHTS}")
    refused(base, tmp_path, {f"a/{WEIGHTS}": files[f"adapter/{WEIGHTS}"]}, f"has no {CONFIG}")
    pickled = {f"a/{CONFIG}": files[f"adapter/{CONFIG}"], "a/adapter_model.bin": b"\x80\x04"}
    refused(base, tmp_path, pickled, "adapter_model.bin, a pickle, which can run code.*writes safetensors")
    refused(base, tmp_path, {**files, f"adapter/{WEIGHTS}": b"\x80\x04 a pickle"}, "not a whole safetensors file")
    refused(base, tmp_path, {**files, f"adapter/{CONFIG}": b"[]"}, "no JSON object")
    refused(base, tmp_path, {**files, f"adapter/{CONFIG}": b"{"}, "is not JSON")
    refused(base, tmp_path, {**files, f"adapter/{CONFIG}": b"[" * 100_000}, "is not JSON: maximum recursion depth")


def test_links_and_files_that_are_no_archive_are_refused(base, adapter, tmp_path):
    with tarfile.open(tmp_path / "adapter.tar", "w") as tar:
        link = tarfile.TarInfo(CONFIG)
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    with pytest.raises(EngineError, match="is a link or a device"):
        ask(base, tmp_path)
    (tmp_path / "adapter.tar").write_bytes(b"PK\x03\x04 a zip file" * 100)
    with pytest.raises(EngineError, match=r"not a whole tar file.*tar -cf"):
        ask(base, tmp_path)
    run(base, tmp_path, files_of(adapter))
    cut = (tmp_path / "adapter.tar").read_bytes()[:3000]
    (tmp_path / "adapter.tar").write_bytes(cut)
    with pytest.raises(EngineError, match=r"not a whole tar file|cut off"):
        ask(base, tmp_path)


def hollow(name, size):
    """The header of a file of `size` bytes that is one hole, as GNU tar writes it."""
    member = tarfile.TarInfo(name)
    member.type = tarfile.GNUTYPE_SPARSE
    header = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    header[386:398] = header[483:495] = b"%011o\0" % size  # where data goes on, and the whole size
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


def test_an_archive_that_grows_when_it_is_unpacked_is_refused(base, adapter, tmp_path):
    """A kilobyte of an archive with holes could fill the disk of the server."""
    config = files_of(adapter)[f"adapter/{CONFIG}"]
    plain = tarfile.TarInfo(CONFIG)
    plain.size = len(config)
    parts = [plain.tobuf(), config, bytes(-len(config) % 512), hollow(WEIGHTS, 1 << 26), bytes(1024)]
    (tmp_path / "adapter.tar").write_bytes(b"".join(parts))
    with pytest.raises(EngineError, match=r"'adapter_model\.safetensors' .* packed without its holes, as by tar -S"):
        ask(base, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["adapter.tar"]
