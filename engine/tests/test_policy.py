"""Training: the packed stream against a plain padded pass, the optimizer against PyTorch's, checkpoints bit for bit."""

import pickle
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_models import VOCABULARY, write_model
from transformers import AutoModelForCausalLM

from toolwise_engine.checkpoint import WEIGHTS
from toolwise_engine.errors import EngineError
from toolwise_engine.policy import AdamParams, Datum, Policy


def tree_data(seed: int = 0) -> list[Datum]:
    """Two levels of shared prefixes, a loner, a sequence that is the beginning of another, one without loss, one given twice."""
    rng = random.Random(seed)

    def some(n: int) -> list[int]:
        return [rng.randrange(VOCABULARY) for _ in range(n)]

    system, sequences = some(40), []
    for group in range(3):
        question = some(20 + group)
        sequences += [system + question + some(rng.randrange(5, 40)) for _ in range(4)]
    sequences += [some(30), sequences[0][:70], sequences[1], system + some(2)]
    rng.shuffle(sequences)
    data = []
    for i, s in enumerate(sequences):
        weights = [float(rng.random() < 0.6) for _ in s[1:]]
        data.append(
            Datum(s[:-1], s[1:], None if i == 3 else weights, [-4.0 + rng.random() for _ in s[1:]], [rng.gauss(0, 1) for _ in s[1:]])
        )
    data[5].weights = [0.0] * len(data[5].tokens)
    return data


def plain(folder: Path, data: list[Datum]) -> tuple[list[torch.Tensor], torch.nn.Module]:
    """Log-probs of one padded pass of the library's model, with its graph."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    longest = max(len(d.tokens) for d in data)
    ids = torch.tensor([d.tokens + [0] * (longest - len(d.tokens)) for d in data])
    mask = torch.tensor([[1] * len(d.tokens) + [0] * (longest - len(d.tokens)) for d in data])
    logprobs = model(input_ids=ids, attention_mask=mask).logits.log_softmax(-1)
    return [logprobs[i, torch.arange(len(d.tokens)), torch.tensor(d.targets)] for i, d in enumerate(data)], model


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3", "neox"])
def test_packed_tree_equals_padded_pass(tmp_path, kind):
    folder = write_model(tmp_path / "m", kind)
    data = tree_data()
    policy = Policy.create(folder, "float32")
    expected, model = plain(folder, data)
    weights = [torch.tensor(d.weights if d.weights is not None else [1.0] * len(d.tokens)) for d in data]
    for got, want, w in zip(policy.forward(data), expected, weights, strict=True):
        np.testing.assert_allclose(got, (want * w).detach().numpy(), atol=2e-5)
    loss = -sum((w * lp).sum() for w, lp in zip(weights, expected, strict=True))
    loss.backward()
    _, metrics = policy.forward_backward(data, "cross_entropy", {})
    assert metrics["loss:sum"] == pytest.approx(loss.item(), rel=1e-5)
    assert metrics["tokens:sum"] == sum(float(w.sum()) for w in weights)
    got = policy._gradients
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(got[name], parameter.grad, atol=2e-4, rtol=2e-4, msg=lambda m, n=name: f"{n}: {m}")


def test_micro_batches_change_nothing_but_work(tmp_path, monkeypatch):
    folder = write_model(tmp_path / "m")
    whole, split = Policy.create(folder, "float32"), Policy.create(folder, "float32")
    data = tree_data()
    first, _ = whole.forward_backward(data, "ppo", {})
    monkeypatch.setattr(split, "_batches", lambda d, keeps: [[i] for i in range(len(d))])
    second, _ = split.forward_backward(data, "ppo", {})
    for a, b in zip(first, second, strict=True):
        np.testing.assert_allclose(a, b, atol=2e-5)
    for name in whole._gradients:
        torch.testing.assert_close(whole._gradients[name], split._gradients[name], atol=2e-4, rtol=2e-4)
    assert whole.tokens_seen < 0.6 * split.tokens_seen


def test_untied_head_gets_its_own_gradient(tmp_path):
    folder = write_model(tmp_path / "m", tied=False)
    data = tree_data()
    policy = Policy.create(folder, "float32")
    expected, model = plain(folder, data)
    (
        -sum(((torch.tensor(d.weights) if d.weights is not None else 1.0) * lp).sum() for d, lp in zip(data, expected, strict=True))
    ).backward()
    policy.forward_backward(data, "cross_entropy", {})
    torch.testing.assert_close(policy._gradients["lm_head.weight"], model.lm_head.weight.grad, atol=2e-4, rtol=2e-4)


@pytest.mark.parametrize("clip", [0.0, 0.5])
def test_optimizer_equals_adamw(tmp_path, clip):
    folder = write_model(tmp_path / "m")
    data = tree_data()
    policy = Policy.create(folder, "float32")
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    reference = torch.optim.AdamW(model.parameters(), lr=0.01, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)
    adam = AdamParams(learning_rate=0.01, eps=1e-8, weight_decay=0.1, grad_clip_norm=clip)
    for _ in range(3):
        policy.forward_backward(data, "cross_entropy", {})
        gradients = {n: g.clone() for n, g in policy._gradients.items()}
        for name, parameter in model.named_parameters():
            parameter.grad = gradients[name]
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), clip or float("inf"))
        reference.step()
        result = policy.optim_step(adam)
        assert result["grad_norm"] == pytest.approx(float(norm), rel=1e-5)
    weights = policy._masters
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(weights[name], parameter, atol=1e-5, rtol=1e-4)


def test_training_learns_in_both_precisions(tmp_path):
    folder = write_model(tmp_path / "m")
    for dtype in ("float32", "bfloat16"):
        policy = Policy.create(folder, dtype)
        losses = []
        for _ in range(12):
            losses.append(policy.forward_backward(tree_data()[:6], "cross_entropy", {})[1]["loss:sum"])
            policy.optim_step(AdamParams(learning_rate=0.01))
        assert losses[-1] < 0.7 * losses[0]


def test_frozen_parts_do_not_move_and_carry_no_state(tmp_path):
    policy = Policy.create(write_model(tmp_path / "m"), "bfloat16", train_unembed=False, train_mlp=False)
    before = {name: t.detach().clone() for name, t in policy._masters.items()}
    policy.forward_backward(tree_data(), "cross_entropy", {})
    policy.optim_step(AdamParams(learning_rate=0.01))
    moved = {name for name, t in policy._masters.items() if not torch.equal(t, before[name])}
    _, first, _ = policy._optimizer.state()
    assert moved == set(first)
    assert {policy._network.part(name) for name in moved} == {"attn", "norm"}


def test_snapshot_does_not_follow_the_policy(tmp_path):
    for dtype in ("float32", "bfloat16"):
        policy = Policy.create(write_model(tmp_path / dtype), dtype)
        snapshot = policy.snapshot()
        assert policy.snapshot() is snapshot
        before = {name: t.clone() for name, t in snapshot.network.weights.items()}
        policy.forward_backward(tree_data(), "cross_entropy", {})
        policy.optim_step(AdamParams(learning_rate=0.1))
        assert all(torch.equal(t, before[name]) for name, t in snapshot.network.weights.items())
        assert snapshot.version == 0 and policy.snapshot().version == 1
        assert not torch.equal(policy.snapshot().network.weights["model.norm.weight"], before["model.norm.weight"])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_resume_is_bit_equal(tmp_path, dtype):
    folder = write_model(tmp_path / "m")
    straight = Policy.create(folder, dtype)

    def train(policy: Policy) -> None:
        policy.forward_backward(tree_data(policy.version), "ppo", {})
        policy.optim_step(AdamParams(learning_rate=0.01, grad_clip_norm=1.0))

    for _ in range(2):
        train(straight)
    straight.save(tmp_path / "c", optimizer=True)
    resumed = Policy.create(folder, dtype)
    resumed.load(tmp_path / "c", optimizer=True)
    assert resumed.version == 2
    for policy in (straight, resumed):
        train(policy)
    assert all(torch.equal(straight._masters[n], resumed._masters[n]) for n in straight._masters)
    assert all(torch.equal(straight._network.weights[n], resumed._network.weights[n]) for n in straight._masters)
    anew = Policy.create(folder, dtype)
    anew.load(tmp_path / "c", optimizer=False)
    train(anew)
    assert any(not torch.equal(straight._masters[n], anew._masters[n]) for n in straight._masters)


def test_saving_over_a_checkpoint_leaves_only_the_new_one(tmp_path):
    policy = Policy.create(write_model(tmp_path / "m"), "float32")
    for _ in range(2):
        policy.save(tmp_path / "c" / "w", optimizer=False)
    assert [p.name for p in (tmp_path / "c").iterdir()] == ["w"]
    with pytest.raises(EngineError, match="no optimizer state"):
        policy.load(tmp_path / "c" / "w", optimizer=True)


def test_export_is_a_plain_model_folder(tmp_path):
    policy = Policy.create(write_model(tmp_path / "m"), "float32")
    data = tree_data()[:4]
    policy.forward_backward(data, "cross_entropy", {})
    policy.optim_step(AdamParams(learning_rate=0.01))
    policy.export(tmp_path / "out")
    expected, _ = plain(tmp_path / "out", data)
    for d in data:
        d.weights = None
    for got, want in zip(policy.forward(data), expected, strict=True):
        np.testing.assert_allclose(got, want.detach().numpy(), atol=2e-5)
    assert (tmp_path / "out" / "tokenizer.json").exists()


def test_mistakes_are_told(tmp_path):
    policy = Policy.create(write_model(tmp_path / "m"), "float32")
    with pytest.raises(EngineError, match="forward_backward first"):
        policy.optim_step(AdamParams())
    with pytest.raises(EngineError, match="targets has 1"):
        policy.forward([Datum([1, 2], [3])])
    with pytest.raises(EngineError, match="outside"):
        policy.forward([Datum([1, VOCABULARY], [3, 4])])
    with pytest.raises(EngineError, match="needs logprobs"):
        policy.forward_backward([Datum([1], [2])], "ppo", {})
    policy.forward_backward([Datum([1], [2], [float("nan")])], "cross_entropy", {})
    with pytest.raises(EngineError, match="not finite"):
        policy.optim_step(AdamParams())
    assert policy.version == 0


def test_a_checkpoint_that_holds_a_pickle_is_refused_and_nothing_in_it_is_run(tmp_path):
    class Trap:
        def __reduce__(self):
            return Path.touch, (tmp_path / "sprung",)

    policy = Policy.create(write_model(tmp_path / "m"), "float32")
    policy.save(tmp_path / "saved", optimizer=False)
    (tmp_path / "saved" / WEIGHTS).write_bytes(pickle.dumps(Trap()))
    with pytest.raises(EngineError, match="damaged, or no safetensors file"):
        policy.load(tmp_path / "saved", optimizer=False)
    assert not (tmp_path / "sprung").exists()


def test_repeats_are_bit_equal(tmp_path):
    folder = write_model(tmp_path / "m")
    results = []
    for _ in range(2):
        policy = Policy.create(folder, "bfloat16")
        outputs, _ = policy.forward_backward(tree_data(), "importance_sampling", {})
        policy.optim_step(AdamParams(learning_rate=0.01))
        results.append((np.concatenate(outputs), policy._masters["model.layers.0.self_attn.q_proj.weight"].clone()))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    assert torch.equal(results[0][1], results[1][1])
