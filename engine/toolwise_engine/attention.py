"""How tokens attend: the interface between a network and whoever decides which keys a query may see. Holds no weights and no cache."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor


class Attention(Protocol):
    """Attention over a flat stream of N tokens; an implementation knows the sequences that the stream is made of."""

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        """query [N, heads, dim], key and value [N, key heads, dim] of one layer, positions applied. Returns [N, heads * dim]."""
        ...


def attend_with_mass(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float) -> tuple[Tensor, Tensor]:
    """Attention that also returns the log of its softmax denominator, so that two sets of keys can be merged exactly.

    query [B, H, Q, D], key and value [B, H, K, D], mask broadcastable to [B, 1, Q, K] (added to the scores) or None.
    Returns the output [B, H, Q, D] and the float32 log-sum-exp of the scores [B, H, Q].
    """
    if query.device.type == "cpu":
        return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(query, key, value, 0.0, False, attn_mask=mask, scale=scale)
    scores = (query @ key.transpose(-1, -2)).float() * scale
    if mask is not None:
        scores = scores + mask
    mass = scores.logsumexp(-1)
    return (scores - mass[..., None]).exp().to(value.dtype) @ value, mass


def merge(first: Tensor, first_mass: Tensor, second: Tensor, second_mass: Tensor) -> Tensor:
    """Attention over two disjoint sets of keys from the outputs [..., D] and log-masses [...] over each."""
    share = torch.sigmoid(second_mass - first_mass).unsqueeze(-1).to(first.dtype)
    return torch.lerp(first, second, share)
