"""Packed matrices: the plain products' numbers, of frozen bfloat16 weights alone."""

import pytest
import torch
from tiny_models import write_model

from toolwise_engine.generation import Generator, SampleRequest
from toolwise_engine.packed import PackedLinear, packs
from toolwise_engine.policy import AdamParams, Datum, Policy
from toolwise_engine.snapshot import Snapshot

pytestmark = pytest.mark.skipif(not packs(), reason="no packed bfloat16 products here")
DATA = [Datum([5, 6, 7, 8, 9], [6, 7, 8, 9, 10])]


def modules(snapshot: Snapshot) -> int:
    return sum(isinstance(module, PackedLinear) for module in snapshot.network._model.modules())


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("rows", [1, 3, 64, 300])
def test_a_packed_product_is_the_plain_one(rows: int, bias: bool) -> None:
    plain = torch.nn.Linear(96, 160, bias=bias, dtype=torch.bfloat16)
    x = torch.randn(rows, 96, dtype=torch.bfloat16)
    with torch.no_grad():
        torch.testing.assert_close(PackedLinear(plain.weight, plain.bias)(x), plain(x), atol=1e-2, rtol=2e-2)


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
def test_a_snapshot_samples_with_the_log_probs_that_training_sees(tmp_path, kind: str) -> None:
    policy = Policy.create(write_model(tmp_path / "m", kind), "bfloat16")
    policy.forward_backward(DATA, "cross_entropy", {})
    policy.optim_step(AdamParams(learning_rate=0.01))
    snapshot = policy.snapshot()
    assert modules(snapshot) > 0 and modules(Snapshot(policy._network, 0, None)) == 0
    generator = Generator()
    generator.submit(SampleRequest("a", snapshot, [5, 6, 7], max_tokens=8, seed=1))
    finished = []
    while generator.has_work():
        finished += generator.step()
    [sequence] = finished[0].sequences
    tokens = [5, 6, 7, *sequence.tokens]
    [seen] = policy.forward([Datum(tokens[:-1], tokens[1:])])
    torch.testing.assert_close(torch.tensor(sequence.logprobs), torch.from_numpy(seen[2:]), atol=0.08, rtol=0)


def test_training_after_a_snapshot_changes_the_policy_and_not_the_snapshot(tmp_path) -> None:
    policy = Policy.create(write_model(tmp_path / "m"), "bfloat16")
    snapshot = policy.snapshot()
    hidden = torch.ones(2, policy._network.shape.hidden, dtype=torch.bfloat16)
    with torch.no_grad():
        before = snapshot.network.logits(hidden).clone()
        policy.forward_backward(DATA, "cross_entropy", {})
        policy.optim_step(AdamParams(learning_rate=0.1))
        torch.testing.assert_close(snapshot.network.logits(hidden), before, atol=0, rtol=0)
        assert not torch.equal(policy.snapshot().network.logits(hidden), before)


@pytest.mark.parametrize("dtype, rank", [("float32", 0), ("bfloat16", 4)])
def test_float32_and_adapters_stay_plain(tmp_path, dtype: str, rank: int) -> None:
    assert modules(Policy.create(write_model(tmp_path / "m"), dtype, rank=rank).snapshot()) == 0
