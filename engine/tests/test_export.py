"""What is exported gives the engine's own log-probs in transformers, peft and llama.cpp; what does not fit is refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from peft import AutoPeftModelForCausalLM, PeftModel
from safetensors.torch import load_file
from test_policy import tree_data
from tiny_models import VOCABULARY, write_model
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM, AutoTokenizer

from toolwise_engine.convert_gguf import convert
from toolwise_engine.datum import Datum
from toolwise_engine.errors import EngineError
from toolwise_engine.export import main
from toolwise_engine.gguf_file import check_fits, pre_tokenizer
from toolwise_engine.policy import AdamParams, Policy

FAMILIES = ("llama", "qwen2", "qwen3")
TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
SEQUENCES = [[5, 6, 7, 8, 33, 2, 90, 14], [1, 1, 40, 60, 3]]


def trained(folder: Path, kind: str, tied: bool, rank: int) -> tuple[Path, Path, Policy]:
    """A model folder with a tokenizer that llama.cpp can have, a checkpoint of a policy that has moved, and that policy."""
    model = write_model(folder / "model", kind, tied)
    tokenizer = json.loads((model / "tokenizer.json").read_text())
    letters = list(tokenizer["model"]["vocab"])[: VOCABULARY - 2]
    tokenizer["model"]["vocab"] = {token: i for i, token in enumerate([*letters, "12"])}
    tokenizer["model"]["merges"] = [["1", "2"]]
    end = {"id": VOCABULARY - 1, "content": "<end>", "special": True}
    tokenizer["added_tokens"] = [{**end, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}]
    (model / "tokenizer.json").write_text(json.dumps(tokenizer))
    facts = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<end>", "chat_template": TEMPLATE}
    (model / "tokenizer_config.json").write_text(json.dumps(facts))
    (model / "notes.md").write_text("not of the export")
    policy = Policy.create(model, "float32", rank=rank, seed=3)
    for _ in range(2):
        policy.forward_backward(tree_data(), "cross_entropy", {})
        policy.optim_step(AdamParams(learning_rate=0.05 if rank else 0.005))
    policy.save(folder / "checkpoint", optimizer=False)
    return model, folder / "checkpoint", policy


def run(model: Path, checkpoint: Path | None, to: Path, *options: str) -> int:
    taken = [] if checkpoint is None else ["--checkpoint", str(checkpoint)]
    return main(["--model", str(model), *taken, "--to", str(to), *options])


def own(policy: Policy) -> list[np.ndarray]:
    return policy.forward([Datum(ids[:-1], ids[1:]) for ids in SEQUENCES])


def plain(model: torch.nn.Module) -> list[np.ndarray]:
    found = []
    with torch.no_grad():
        for ids in SEQUENCES:
            scores = model.eval()(torch.tensor([ids[:-1]])).logits[0].log_softmax(-1)
            found.append(scores[torch.arange(len(ids) - 1), torch.tensor(ids[1:])].numpy())
    return found


def close(got: list[np.ndarray], want: list[np.ndarray], tolerance: float = 5e-5) -> None:
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, atol=tolerance)


def same_tensors(file: Path, folder: Path) -> None:
    """Of a family whose queries and keys are in the same order in both."""
    written = load_file(folder / "model.safetensors")
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN3, 3)
    read = {tensor.name: tensor.data for tensor in gguf.GGUFReader(file).tensors}
    assert set(read) == {names.get_name(name, (".weight", ".bias")) for name in written}
    for name, tensor in written.items():
        np.testing.assert_array_equal(read[names.get_name(name, (".weight", ".bias"))], tensor.numpy())


@pytest.mark.parametrize("kind", FAMILIES)
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("rank", [0, 4])
def test_plain_transformers_peft_and_gguf_give_the_engines_log_probs(tmp_path, kind, tied, rank):
    model, checkpoint, policy = trained(tmp_path, kind, tied, rank)
    want = own(policy)
    untrained = plain(AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32))
    assert max(np.abs(a - b).max() for a, b in zip(want, untrained, strict=True)) > 0.1

    assert run(model, checkpoint, tmp_path / "hf", "--dtype", "float32") == 0
    close(plain(AutoModelForCausalLM.from_pretrained(tmp_path / "hf")), want)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "hf")
    assert tokenizer("121").input_ids == AutoTokenizer.from_pretrained(model)("121").input_ids
    assert tokenizer.apply_chat_template([{"role": "user", "content": "12"}], tokenize=False) == "12"

    if rank:
        assert run(model, checkpoint, tmp_path / "peft", "--format", "peft", "--base-name", str(model)) == 0
        base = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
        close(plain(PeftModel.from_pretrained(base, tmp_path / "peft")), want)
        close(plain(AutoPeftModelForCausalLM.from_pretrained(tmp_path / "peft", dtype=torch.float32)), want)

    assert run(model, checkpoint, tmp_path / "gguf", "--format", "gguf", "--dtype", "float32") == 0
    assert [path.name for path in (tmp_path / "gguf").iterdir()] == ["model-toolwise-f32.gguf"]
    file = tmp_path / "gguf" / "model-toolwise-f32.gguf"
    if kind == "qwen3":  # transformers reads no head size from a GGUF file of this family.
        same_tensors(file, tmp_path / "hf")
    else:
        convert(file, tmp_path / "back")
        close(plain(AutoModelForCausalLM.from_pretrained(tmp_path / "back")), want)


@pytest.mark.parametrize("kind", FAMILIES)
def test_llama_cpp_gives_the_engines_log_probs(tmp_path, kind):
    llama_cpp = pytest.importorskip("llama_cpp", reason="not verified: llama-cpp-python is not installed")
    model, checkpoint, policy = trained(tmp_path, kind, False, 4)
    assert run(model, checkpoint, tmp_path / "gguf", "--format", "gguf", "--dtype", "float32") == 0
    file = next((tmp_path / "gguf").iterdir())
    exact = {"type_k": llama_cpp.GGML_TYPE_F32, "type_v": llama_cpp.GGML_TYPE_F32}
    llama = llama_cpp.Llama(str(file), n_ctx=64, logits_all=True, verbose=False, n_threads=1, **exact)
    found = []
    for ids in SEQUENCES:
        llama.reset()
        llama.eval(ids[:-1])
        scores = torch.tensor(np.array(llama.scores[: len(ids) - 1])).log_softmax(-1)
        found.append(scores[torch.arange(len(ids) - 1), torch.tensor(ids[1:])].numpy())
    assert llama.token_eos() == VOCABULARY - 1
    llama.close()
    close(found, own(policy), 2e-4)


TEXTS = ["a 12 and 4567", "don't  stop\n\n  x = [1,2]\t# über 7", "1  2\n 3", "<end>it's<end>"]


@pytest.mark.parametrize("name", ["gpt-2", "smollm", "qwen2", "llama-bpe"])
def test_llama_cpp_splits_text_as_the_tokenizer_does(tmp_path, name):
    llama_cpp = pytest.importorskip("llama_cpp", reason="not verified: llama-cpp-python is not installed")
    tokenizer = word_tokenizer(name)
    assert pre_tokenizer(tokenizer) == name
    model = write_model(tmp_path / "model")
    size = len(tokenizer["model"]["vocab"]) + 1
    grow(model, size)
    (model / "tokenizer.json").write_text(json.dumps(tokenizer))
    (model / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<end>"}))
    assert run(model, None, tmp_path / "gguf", "--format", "gguf") == 0
    llama = llama_cpp.Llama(str(next((tmp_path / "gguf").iterdir())), vocab_only=True, verbose=False)
    theirs = [llama.tokenize(text.encode(), add_bos=False, special=True) for text in TEXTS]
    llama.close()
    assert theirs == [Tokenizer.from_str(json.dumps(tokenizer)).encode(text).ids for text in TEXTS]


def word_tokenizer(name: str) -> dict:
    """A byte-level BPE with merges that cross every place where one of the four kinds of splitting differs from another."""
    from tokenizers import pre_tokenizers

    from toolwise_engine.gguf_file import _LLAMA3, _QWEN2

    bytes_by = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    digits = {"type": "Digits", "individual_digits": True}

    def split(pattern: str) -> dict:
        step = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
        return {"type": "Sequence", "pretokenizers": [step, {**bytes_by, "use_regex": False}]}

    steps = {
        "gpt-2": {**bytes_by, "use_regex": True},
        "smollm": {"type": "Sequence", "pretokenizers": [digits, {**bytes_by, "use_regex": True}]},
        "qwen2": split(_QWEN2),
        "llama-bpe": split(_LLAMA3),
    }
    merges = [["4", "5"], ["45", "6"], ["456", "7"], ["Ġ", "1"], ["1", "2"], ["Ġ", "x"], ["Ċ", "Ċ"], ["'", "t"], ["Ġ", "Ġ"], ["s", "t"]]
    vocabulary = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *(a + b for a, b in merges)]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {
        "version": "1.0",
        "added_tokens": [{"id": len(vocabulary), "content": "<end>", "special": True, **flags}],
        "normalizer": None,
        "pre_tokenizer": steps[name],
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": name == "llama-bpe",
            "vocab": {token: i for i, token in enumerate(vocabulary)},
            "merges": merges,
        },
    }


def grow(model: Path, vocabulary: int) -> None:
    """The same model with another number of embeddings."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig.from_pretrained(model)
    config.vocab_size = vocabulary
    LlamaForCausalLM(config).save_pretrained(model)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_matrices_take_the_precision_that_is_asked_for(tmp_path, dtype):
    model, checkpoint, policy = trained(tmp_path, "llama", True, 4)
    assert run(model, checkpoint, tmp_path / "hf", "--dtype", dtype) == 0
    assert run(model, checkpoint, tmp_path / "gguf", "--format", "gguf", "--dtype", dtype) == 0
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path / "hf")
    assert loaded.dtype == getattr(torch, dtype)
    close(plain(loaded.float()), own(policy), 0.1)
    kinds = {t.name: t.tensor_type for t in gguf.GGUFReader(next((tmp_path / "gguf").iterdir())).tensors}
    wanted = {"bfloat16": gguf.GGMLQuantizationType.BF16, "float16": gguf.GGMLQuantizationType.F16}[dtype]
    assert {kind for name, kind in kinds.items() if "norm" not in name} == {wanted}
    assert {kind for name, kind in kinds.items() if "norm" in name} == {gguf.GGMLQuantizationType.F32}


def test_the_folder_holds_what_other_programs_need_and_nothing_of_this_machine(tmp_path, capsys):
    model, checkpoint, _ = trained(tmp_path, "llama", True, 4)
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, "_name_or_path": str(model), "torch_dtype": "float64"}))
    (tmp_path / "README.md").write_text("a card")
    assert run(model, checkpoint, tmp_path / "hf", "--add", str(tmp_path / "README.md")) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["files"] == sorted(path.name for path in (tmp_path / "hf").iterdir())
    assert "notes.md" not in told["files"] and (tmp_path / "hf" / "README.md").read_text() == "a card"
    written = json.loads((tmp_path / "hf" / "config.json").read_text())
    # A head with an adapter of its own is no longer the embeddings.
    assert written["tie_word_embeddings"] is False
    assert written["rope_theta"] == written["rope_parameters"]["rope_theta"]
    assert "torch_dtype" not in written and str(tmp_path) not in json.dumps(written)


def test_a_folder_is_replaced_only_when_asked_and_only_one_that_looks_like_an_export(tmp_path, capsys):
    model, checkpoint, policy = trained(tmp_path, "llama", True, 0)
    assert run(model, None, tmp_path / "out") == 0
    assert run(model, checkpoint, tmp_path / "out") == 2
    assert "not empty" in capsys.readouterr().err
    assert run(model, checkpoint, tmp_path / "out", "--force") == 0
    close(plain(AutoModelForCausalLM.from_pretrained(tmp_path / "out")), own(policy))
    (tmp_path / "home" / "documents").mkdir(parents=True)
    assert run(model, checkpoint, tmp_path / "home", "--force") == 2
    assert run(model, checkpoint, model, "--force") == 2
    assert run(model, checkpoint, tmp_path, "--force") == 2
    assert (tmp_path / "home" / "documents").is_dir() and (model / "model.safetensors").is_file()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_failure_leaves_the_earlier_export_and_nothing_half_written(tmp_path, monkeypatch, capsys):
    model, checkpoint, _ = trained(tmp_path, "llama", True, 0)
    assert run(model, None, tmp_path / "out") == 0
    before = (tmp_path / "out" / "model.safetensors").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("toolwise_engine.export.write_tensors", full)
    assert run(model, checkpoint, tmp_path / "out", "--force") == 1
    assert "disk is full" in capsys.readouterr().err
    assert (tmp_path / "out" / "model.safetensors").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint", "model", "out"]


def test_mistakes_are_told_in_a_sentence(tmp_path, capsys):
    model, checkpoint, _ = trained(tmp_path, "llama", True, 0)
    other = write_model(tmp_path / "other", "qwen3")

    def refusal(*arguments) -> str:
        assert run(*arguments) == 2
        return capsys.readouterr().err

    assert "no LoRA adapter" in refusal(model, checkpoint, tmp_path / "o", "--format", "peft")
    assert "no LoRA adapter" in refusal(model, None, tmp_path / "o", "--format", "peft")
    assert "there is no checkpoint" in refusal(model, tmp_path, tmp_path / "o")
    assert "has no config.json" in refusal(tmp_path, None, tmp_path / "o")
    assert "is a file" in refusal(model, None, model / "config.json")
    assert "of another model" in refusal(other, checkpoint, tmp_path / "o")
    assert not (tmp_path / "o").exists()


def test_what_llama_cpp_has_no_name_for_is_refused_by_name(tmp_path):
    with pytest.raises(EngineError, match="GPTNeoXForCausalLM cannot be written as GGUF"):
        check_fits(write_model(tmp_path / "neox", "neox"))
    model, *_ = trained(tmp_path, "llama", True, 0)
    assert check_fits(model) == "llama"
    config = json.loads((model / "config.json").read_text())
    scaled = {**config, "rope_parameters": {"rope_type": "yarn", "factor": 4.0, "rope_theta": 10000.0}}
    (model / "config.json").write_text(json.dumps(scaled))
    with pytest.raises(EngineError, match="rotary positions of kind yarn"):
        check_fits(model)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"model": {"byte_fallback": True}}, "BPE with byte fallback"),
        ({"model": {"type": "Unigram"}}, "kind Unigram"),
        ({"model": {"merges": []}}, "without merges"),
        ({"model": {"ignore_merges": True}}, "no name for"),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "no name for"),
        ({"pre_tokenizer": {"add_prefix_space": True}}, "no name for"),
        ({"normalizer": {"type": "Lowercase"}}, "no name for"),
    ],
)
def test_a_tokenizer_that_llama_cpp_would_read_otherwise_is_refused(change, told):
    tokenizer = word_tokenizer("gpt-2")
    for part, fields in change.items():
        tokenizer[part] = {**(tokenizer[part] or {}), **fields}
    with pytest.raises(EngineError, match=told):
        pre_tokenizer(tokenizer)
