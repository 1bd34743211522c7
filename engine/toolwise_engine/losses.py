"""Losses per token as functions of the log-prob of the target, with their slope in closed form. No reduction: the engine sums.

cross_entropy        -w logp
importance_sampling  -w exp(logp - old) A
ppo                  w max(-A r, -A clamp(r, low, high)), r = exp(clamp(logp - old, -20, 20)); dual_clip c, for A < 0: min(that, -w A c)
cispo                -w clamp(r, low, high) A logp, the ratio being held constant
dro                  -w (A logp - beta / 2 (logp - old)^2)
"""

from __future__ import annotations

import torch
from torch import Tensor

from toolwise_engine.errors import user_error

LOSSES: dict[str, tuple[str, ...]] = {
    "cross_entropy": (),
    "importance_sampling": (),
    "ppo": ("clip_low_threshold", "clip_high_threshold", "dual_clip"),
    "cispo": ("clip_low_threshold", "clip_high_threshold"),
    "dro": ("beta",),
}
"""Each loss with the config keys it takes."""

NEEDS_ADVANTAGES = frozenset({"importance_sampling", "ppo", "cispo", "dro"})
DRO_BETA = 0.05


def check_loss(loss_fn: str, config: dict[str, float]) -> None:
    """Refuses an unknown loss and config keys that it does not take."""
    if loss_fn not in LOSSES:
        raise user_error(f"unknown loss '{loss_fn}': this engine has {', '.join(LOSSES)}")
    unknown = [key for key in config if key not in LOSSES[loss_fn]]
    if unknown:
        raise user_error(f"loss {loss_fn} does not take {', '.join(unknown)}")


def loss_and_slope(
    loss_fn: str, config: dict[str, float], logprobs: Tensor, weights: Tensor, old: Tensor, advantages: Tensor
) -> tuple[Tensor, Tensor]:
    """Loss and d loss / d log-prob of every token, all float32 [M]. `old` and `advantages` are not read by cross_entropy."""
    if loss_fn == "cross_entropy":
        return -weights * logprobs, -weights
    if loss_fn == "importance_sampling":
        loss = -weights * (logprobs - old).exp() * advantages
        return loss, loss
    difference = logprobs - old
    if loss_fn == "dro":
        beta = config.get("beta", DRO_BETA)
        return -weights * (advantages * logprobs - beta / 2 * difference**2), -weights * (advantages - beta * difference)
    ratio = difference.clamp(-20.0, 20.0).exp()
    low, high = config.get("clip_low_threshold", 0.8), config.get("clip_high_threshold", 1.2)
    if loss_fn == "cispo":
        steep = -weights * ratio.clamp(low, high) * advantages
        return steep * logprobs, steep
    plain, clipped = -advantages * ratio, -advantages * ratio.clamp(low, high)
    loss = torch.maximum(plain, clipped)
    moves = (plain >= clipped) & (difference.abs() <= 20.0)
    if "dual_clip" in config:
        ceiling = -advantages * config["dual_clip"]
        capped = (advantages < 0) & (loss > ceiling)
        loss = torch.where(capped, ceiling, loss)
        moves = moves & ~capped
    return weights * loss, weights * torch.where(moves, plain, torch.zeros_like(plain))
