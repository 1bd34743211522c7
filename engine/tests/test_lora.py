"""LoRA adapters: the same log-probs and gradients as peft on transformers, snapshots, checkpoints, exports."""

from pathlib import Path

import numpy as np
import pytest
import torch
from peft import PeftModel
from test_policy import plain, tree_data
from tiny_models import write_model
from transformers import AutoModelForCausalLM

from toolwise_engine.datum import Datum
from toolwise_engine.errors import EngineError
from toolwise_engine.export import write_adapter_folder
from toolwise_engine.generation import Generator
from toolwise_engine.policy import AdamParams, Policy
from toolwise_engine.sample_request import SampleRequest
from toolwise_engine.snapshot import Snapshot

PARTS = {"all": {}, "body": {"train_unembed": False}, "head": {"train_attn": False, "train_mlp": False}}


def moved(folder: Path, dtype: str = "float32", **options) -> Policy:
    """A policy whose adapters are no longer zero."""
    policy = Policy.create(folder, dtype, rank=4, seed=3, **options)
    for _ in range(2):
        policy.forward_backward(tree_data(), "cross_entropy", {})
        policy.optim_step(AdamParams(learning_rate=0.05))
    return policy


def in_peft(folder: Path, policy: Policy, adapter: Path, trainable: bool = False) -> torch.nn.Module:
    write_adapter_folder(adapter, policy._network, str(folder))
    base = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    return PeftModel.from_pretrained(base, adapter, is_trainable=trainable)


def logprobs(model: torch.nn.Module, data: list) -> list[torch.Tensor]:
    found = []
    for d in data:
        scores = model(input_ids=torch.tensor([d.tokens])).logits.log_softmax(-1)
        found.append(scores[0, torch.arange(len(d.tokens)), torch.tensor(d.targets)])
    return found


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
@pytest.mark.parametrize("parts", PARTS)
def test_equals_peft(tmp_path, kind, parts):
    folder = write_model(tmp_path / "m", kind)
    policy = moved(folder, **PARTS[parts])
    data = tree_data(5)
    model = in_peft(folder, policy, tmp_path / "adapter", trainable=True)
    expected = logprobs(model, data)
    weights = [torch.tensor(d.weights if d.weights is not None else [1.0] * len(d.tokens)) for d in data]
    got, _ = policy.forward_backward(data, "cross_entropy", {})
    for own, want, w in zip(got, expected, weights, strict=True):
        np.testing.assert_allclose(own, (want * w).detach().numpy(), atol=5e-5)
    (-sum((w * lp).sum() for w, lp in zip(weights, expected, strict=True))).backward()
    trained = {n: p for n, p in model.named_parameters() if p.requires_grad}
    assert len(trained) == len(policy._gradients)
    for name, gradient in policy._gradients.items():
        reference = trained["base_model.model." + name.replace(".weight", ".default.weight")].grad
        torch.testing.assert_close(
            gradient, reference, atol=1e-4 * max(1.0, float(reference.abs().max())), rtol=1e-3, msg=lambda m, n=name: f"{n}: {m}"
        )


def test_begins_as_the_base_and_leaves_it_alone(tmp_path):
    folder = write_model(tmp_path / "m")
    data = tree_data()
    whole, adapted = Policy.create(folder, "float32"), Policy.create(folder, "float32", rank=4)
    for a, b in zip(whole.forward(data), adapted.forward(data), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    before = {n: t.clone() for n, t in adapted._network.weights.items() if "lora" not in n}
    moved_policy = moved(folder)
    assert all(torch.equal(t, moved_policy._network.weights[n]) for n, t in before.items())
    assert set(moved_policy._masters) == {n for n in moved_policy._network.weights if "lora" in n}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_checkpoint_and_snapshot(tmp_path, dtype):
    folder = write_model(tmp_path / "m")
    policy = moved(folder, dtype)
    snapshot = policy.snapshot()
    kept = {n: t.clone() for n, t in snapshot.network.weights.items()}
    policy.save(tmp_path / "c", optimizer=True)
    resumed = Policy.create(folder, dtype, rank=4, seed=9)
    resumed.load(tmp_path / "c", optimizer=True)
    for each in (policy, resumed):
        each.forward_backward(tree_data(1), "ppo", {})
        each.optim_step(AdamParams(learning_rate=0.01))
    assert all(torch.equal(policy._masters[n], resumed._masters[n]) for n in policy._masters)
    assert all(torch.equal(t, snapshot.network.weights[n]) for n, t in kept.items())
    loaded = Snapshot.load(folder, dtype, tmp_path / "c")
    assert loaded.version == 2
    assert all(torch.equal(t, loaded.network.weights[n]) for n, t in kept.items())
    base = {n for n in kept if "lora" not in n}
    assert all(snapshot.network.weights[n].data_ptr() == policy._network.weights[n].data_ptr() for n in base)


def test_samples_with_the_log_probs_it_trains_on(tmp_path):
    policy = moved(write_model(tmp_path / "m"))
    generator = Generator()
    generator.submit(SampleRequest("a", policy.snapshot(), [5, 6, 7, 8], num_samples=3, max_tokens=12, seed=4))
    finished = []
    while not finished:
        finished = generator.step()
    for sequence in finished[0].sequences:
        tokens = [5, 6, 7, 8, *sequence.tokens]
        scored = policy.forward([Datum(tokens[:-1], tokens[1:])])[0][3:]
        np.testing.assert_allclose(scored, sequence.logprobs, atol=1e-4)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("tied", [True, False])
def test_merged_export_is_a_plain_model(tmp_path, parts, tied):
    folder = write_model(tmp_path / "m", tied=tied)
    policy = moved(folder, **PARTS[parts])
    policy.export(tmp_path / "out")
    data = tree_data()[:4]
    expected, _ = plain(tmp_path / "out", data)
    for d in data:
        d.weights = None
    for got, want in zip(policy.forward(data), expected, strict=True):
        np.testing.assert_allclose(got, want.detach().numpy(), atol=5e-5)


def test_mistakes_are_told(tmp_path):
    folder = write_model(tmp_path / "m")
    with pytest.raises(EngineError, match="narrowest layer"):
        Policy.create(folder, "float32", rank=64)
    with pytest.raises(EngineError, match="nothing to train"):
        Policy.create(folder, "float32", rank=4, train_unembed=False, train_attn=False, train_mlp=False)
    Policy.create(folder, "float32", rank=4).save(tmp_path / "c", optimizer=False)
    with pytest.raises(EngineError, match="LoRA adapter of rank 4 .* trains all weights"):
        Policy.create(folder, "float32").load(tmp_path / "c", optimizer=False)
    with pytest.raises(EngineError, match="rank 8"):
        Policy.create(folder, "float32", rank=8).load(tmp_path / "c", optimizer=False)
