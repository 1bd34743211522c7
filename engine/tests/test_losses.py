"""Losses: values by hand, slopes against autograd and finite differences."""

import math

import pytest
import torch

from toolwise_engine.errors import EngineError
from toolwise_engine.losses import check_loss, loss_and_slope

CASES = [
    ("cross_entropy", {}),
    ("importance_sampling", {}),
    ("ppo", {}),
    ("ppo", {"clip_high_threshold": 1.28}),
    ("ppo", {"dual_clip": 3.0}),
    ("cispo", {}),
    ("cispo", {"clip_low_threshold": 0.0, "clip_high_threshold": 1.5}),
    ("dro", {}),
    ("dro", {"beta": 0.3}),
]


def example() -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(3)
    logprobs = -3 * torch.rand(400, generator=generator, dtype=torch.float64)
    old = logprobs + torch.randn(400, generator=generator, dtype=torch.float64)
    advantages = torch.randn(400, generator=generator, dtype=torch.float64)
    weights = torch.randint(0, 2, (400,), generator=generator).double()
    return logprobs, weights, old, advantages


def by_autograd(loss_fn: str, config: dict[str, float], logprobs, weights, old, advantages) -> torch.Tensor:
    if loss_fn == "cross_entropy":
        return -weights * logprobs
    if loss_fn == "importance_sampling":
        return -weights * torch.exp(logprobs - old) * advantages
    if loss_fn == "dro":
        return -weights * (logprobs * advantages - 0.5 * config.get("beta", 0.05) * (logprobs - old) ** 2)
    ratio = torch.exp(torch.clamp(logprobs - old, -20, 20))
    if loss_fn == "cispo":
        held = torch.clamp(ratio, config.get("clip_low_threshold", 0.8), config.get("clip_high_threshold", 1.2)).detach()
        return -weights * held * logprobs * advantages
    clipped = torch.clamp(ratio, config.get("clip_low_threshold", 0.8), config.get("clip_high_threshold", 1.2))
    loss = torch.maximum(-advantages * ratio, -advantages * clipped)
    if "dual_clip" in config:
        loss = torch.where(advantages < 0, torch.minimum(loss, -advantages * config["dual_clip"]), loss)
    return weights * loss


@pytest.mark.parametrize(("loss_fn", "config"), CASES)
def test_value_and_slope_equal_autograd_and_finite_differences(loss_fn, config):
    logprobs, weights, old, advantages = example()
    logprobs.requires_grad_(True)
    expected = by_autograd(loss_fn, config, logprobs, weights, old, advantages)
    expected.sum().backward()
    loss, slope = loss_and_slope(loss_fn, config, logprobs.detach(), weights, old, advantages)
    torch.testing.assert_close(loss, expected.detach())
    torch.testing.assert_close(slope, logprobs.grad)
    if loss_fn == "cispo":
        return  # Its slope holds the ratio constant: differences of the value see it move.
    step = 1e-6
    up, _ = loss_and_slope(loss_fn, config, logprobs.detach() + step, weights, old, advantages)
    down, _ = loss_and_slope(loss_fn, config, logprobs.detach() - step, weights, old, advantages)
    torch.testing.assert_close(slope, (up - down) / (2 * step), atol=1e-5, rtol=1e-5)


def test_ppo_by_hand():
    one = torch.ones(1)
    loss, slope = loss_and_slope("ppo", {}, torch.tensor([math.log(1.5)]), one, torch.zeros(1), one)
    assert loss.item() == pytest.approx(-1.2) and slope.item() == 0
    loss, slope = loss_and_slope("ppo", {"dual_clip": 3.0}, torch.tensor([math.log(5.0)]), one, torch.zeros(1), -one)
    assert loss.item() == pytest.approx(3.0) and slope.item() == 0
    loss, slope = loss_and_slope("ppo", {}, torch.tensor([math.log(5.0)]), one, torch.zeros(1), -one)
    assert loss.item() == pytest.approx(5.0) and slope.item() == pytest.approx(5.0)


def test_unknown_losses_and_keys_are_refused():
    with pytest.raises(EngineError, match="unknown loss"):
        check_loss("gspo", {})
    with pytest.raises(EngineError, match="value_clip"):
        check_loss("ppo", {"value_clip": 0.2})
