"""Draws: frequencies against exact probabilities, uniform numbers, limits of the distribution."""

import numpy as np
import pytest
import torch

from toolwise_engine.sampling import draw, uniforms

DRAWS = 20_000


def logits(vocabulary: int) -> torch.Tensor:
    return 2 * torch.randn(vocabulary, generator=torch.Generator().manual_seed(4))


def drawn(row: torch.Tensor, temperature: float, top_p: float, top_k: int) -> torch.Tensor:
    uniform = torch.from_numpy(uniforms(np.full(DRAWS, 11), np.arange(DRAWS), np.zeros(DRAWS)))
    many = row.expand(DRAWS, -1)
    return draw(many, torch.full((DRAWS,), temperature), torch.full((DRAWS,), top_p), torch.full((DRAWS,), top_k), uniform).tokens


def exact(row: torch.Tensor, temperature: float, top_p: float, top_k: int) -> torch.Tensor:
    p = (row.double() / temperature).softmax(-1)
    order = p.argsort(descending=True)
    if top_k > 0:
        p[order[top_k:]] = 0
        p /= p.sum()
    before = p[order].cumsum(0) - p[order]
    p[order[before >= top_p]] = 0
    return p / p.sum()


@pytest.mark.parametrize("vocabulary", [30, 300])
@pytest.mark.parametrize(
    ("temperature", "top_p", "top_k"), [(1.0, 1.0, -1), (0.7, 1.0, -1), (1.0, 0.6, -1), (3.0, 0.95, -1), (1.0, 1.0, 5), (0.7, 0.8, 10)]
)
def test_frequencies(vocabulary, temperature, top_p, top_k):
    row = logits(vocabulary)
    expected = exact(row, temperature, top_p, top_k)
    counts = torch.bincount(drawn(row, temperature, top_p, top_k), minlength=vocabulary).double()
    assert counts[expected == 0].sum() == 0
    common = expected * DRAWS >= 5
    wanted, got = expected[common] * DRAWS, counts[common]
    wanted = torch.cat([wanted, (DRAWS - wanted.sum()).clamp(min=1e-9)[None]])
    got = torch.cat([got, (DRAWS - got.sum())[None]])
    if wanted[-1] < 5:
        wanted, got = wanted[:-1], got[:-1]
    statistic, freedom = float(((got - wanted) ** 2 / wanted).sum()), len(wanted) - 1
    assert statistic < freedom + 4.5 * (2 * freedom) ** 0.5 + 6


def test_rows_with_different_settings_do_not_touch_each_other():
    row = logits(50)
    settings = [(1.0, 1.0, -1), (0.0, 1.0, -1), (0.7, 1.0, -1), (1.0, 0.5, -1), (0.7, 0.9, 3)]
    uniform = torch.rand(5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    temperature, top_p, top_k = (torch.tensor(column) for column in zip(*settings, strict=True))
    together = draw(row.expand(5, -1).contiguous(), temperature, top_p, top_k, uniform, entropy=True)
    for i in range(5):
        alone = draw(row[None], temperature[i : i + 1], top_p[i : i + 1], top_k[i : i + 1], uniform[i : i + 1], entropy=True)
        assert alone.tokens[0] == together.tokens[i]
    torch.testing.assert_close(together.logprobs, row.log_softmax(-1)[together.tokens])
    p = row.double().softmax(-1)
    torch.testing.assert_close(together.entropies.double(), -(p * p.log()).sum().expand(5), atol=1e-5, rtol=1e-5)
    assert together.tokens[1] == row.argmax()


@pytest.mark.parametrize("vocabulary", [30, 5000])
@pytest.mark.parametrize(("temperature", "top_p"), [(1.0, 1.0), (0.7, 1.0), (1.3, 0.8)])
@pytest.mark.parametrize("top_k", [1, 7, 100])
def test_top_k_draws_as_a_plain_filter_would(vocabulary, temperature, top_p, top_k):
    """Logits outside of the k largest become -inf; what is left is drawn from at top-p. Log-probs stay those of the whole."""
    row, count = logits(vocabulary), 64
    uniform = torch.from_numpy(uniforms(np.full(count, 3), np.arange(count), np.zeros(count)))
    many = row.expand(count, -1).contiguous()
    full = torch.full((count,), 1.0)
    got = draw(many, full * temperature, full * top_p, torch.full((count,), top_k), uniform)
    order = row.argsort(descending=True)[:top_k]
    weights = (row[order].double() / temperature).softmax(-1)
    kept = weights[weights.cumsum(0) - weights < top_p]
    bounds = kept.cumsum(0) / kept.sum()
    wanted = order[torch.searchsorted(bounds, uniform, right=True).clamp(max=len(kept) - 1)]
    clear = (bounds[None] - uniform[:, None]).abs().amin(-1) > 1e-5
    assert clear.sum() > count / 2
    assert torch.equal(got.tokens[clear], wanted[clear])
    torch.testing.assert_close(got.logprobs, row.log_softmax(-1)[got.tokens])


def test_impossible_tokens_are_never_drawn():
    row = torch.full((1, 8), float("-inf"))
    row[0, 3] = 0.0
    for u in (0.0, 0.5, 1 - 2**-53):
        assert draw(row, torch.ones(1), torch.ones(1), torch.tensor([-1]), torch.tensor([u], dtype=torch.float64)).tokens.item() == 3


def test_uniform_numbers_are_uniform_and_their_own():
    count = 30_000
    by_position = uniforms(np.full(count, 5), np.zeros(count), np.arange(count))
    by_seed = uniforms(np.arange(count), np.zeros(count), np.zeros(count))
    for numbers in (by_position, by_seed):
        assert abs(numbers.mean() - 0.5) < 0.01 and len(np.unique(numbers)) == count
        histogram, _ = np.histogram(numbers, 20, (0, 1))
        assert ((histogram - count / 20) ** 2 / (count / 20)).sum() < 50
    assert abs(np.corrcoef(by_position[:-1], by_position[1:])[0, 1]) < 0.03
    assert uniforms(np.array([2**64 - 1], dtype=np.uint64), np.array([0]), np.array([0]))[0] < 1
