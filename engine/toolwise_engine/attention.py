"""How tokens attend: the interface between a network and whoever decides which keys a query may see. Holds no weights and no cache."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
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

    query [B, H, Q, D], key and value [B, H, K, D], mask (`aligned`) broadcastable to [B, 1, Q, K] (added to the scores) or None.
    Returns the output [B, H, Q, D] and the float32 log-sum-exp of the scores [B, H, Q].
    """
    if query.device.type == "cpu":
        return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(query, key, value, 0.0, False, attn_mask=mask, scale=scale)
    kernel = fused_kernel(query.device, query.dtype, query.shape[-1], mask is not None)
    return kernel(query, key, value, mask, scale)


def aligned(mask: Tensor) -> Tensor:
    """The same mask [..., Q, K], on a GPU with its rows laid out as the fused kernels want them: multiples of 8 numbers apart."""
    keys = mask.shape[-1]
    if mask.device.type == "cpu" or keys % 8 == 0:
        return mask
    return torch.nn.functional.pad(mask, (0, -keys % 8))[..., :keys]


# Attention with its mass on a GPU

Kernel = Callable[[Tensor, Tensor, Tensor, "Tensor | None", float], tuple[Tensor, Tensor]]


def plain(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float) -> tuple[Tensor, Tensor]:
    """By its definition, on any device; needs memory for all scores."""
    scores = (query @ key.transpose(-1, -2)).float() * scale
    if mask is not None:
        scores = scores + mask
    mass = scores.logsumexp(-1)
    return (scores - mass[..., None]).exp().to(value.dtype) @ value, mass


def flash(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float) -> tuple[Tensor, Tensor]:
    """torch's flash attention: half precision, no mask."""
    assert mask is None
    out, mass = torch.ops.aten._scaled_dot_product_flash_attention(query, key, value, 0.0, False, False, scale=scale)[:2]
    return out, mass


def efficient(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float) -> tuple[Tensor, Tensor]:
    """torch's memory-efficient attention: any precision, any mask. Its log-sum-exp has more rows than there are queries."""
    rows, heads, queries = query.shape[:3]
    bias = None if mask is None else mask.expand(rows, heads, queries, key.shape[2])
    out, mass = torch.ops.aten._scaled_dot_product_efficient_attention(query, key, value, bias, True, 0.0, False, scale=scale)[:2]
    return out, mass[..., :queries]


@lru_cache
def fused_kernel(device: torch.device, dtype: torch.dtype, head_dim: int, masked: bool) -> Kernel:
    """The fastest kernel that gives the numbers of `plain` on this device, tried once; `plain` where none does."""
    for kernel in (efficient,) if masked else (flash, efficient):
        if agrees(kernel, device, dtype, head_dim, masked):
            return kernel
    return plain


@torch.no_grad()
def agrees(kernel: Kernel, device: torch.device, dtype: torch.dtype, head_dim: int, masked: bool) -> bool:
    """Whether a kernel runs here and gives what `plain` gives in float32, on random numbers and odd sizes."""
    rows, heads, queries, keys = 2, 3, 37, 75
    source = torch.Generator().manual_seed(1)
    q, k, v = (torch.randn(rows, heads, n, head_dim, generator=source).to(device, dtype) for n in (queries, keys, keys))
    mask = None
    if masked:
        hidden = torch.rand(rows, 1, queries, keys, generator=source) < 0.5
        hidden[..., 0] = False
        mask = aligned(torch.zeros(hidden.shape).masked_fill_(hidden, float("-inf")).to(device, dtype))
    scale = head_dim**-0.5
    try:
        out, mass = kernel(q, k, v, mask, scale)
    except (RuntimeError, NotImplementedError):
        return False
    wanted, wanted_mass = plain(q.float(), k.float(), v.float(), None if mask is None else mask.float(), scale)
    if out.shape != wanted.shape or mass.shape != wanted_mass.shape or mass.dtype != torch.float32:
        return False
    most = 1e-3 if dtype == torch.float32 else 3e-2
    return float((out.float() - wanted).abs().max()) < most and float((mass - wanted_mass).abs().max()) < most


def merge(first: Tensor, first_mass: Tensor, second: Tensor, second_mass: Tensor) -> Tensor:
    """Attention over two disjoint sets of keys from the outputs [..., D] and log-masses [...] over each."""
    share = torch.sigmoid(second_mass - first_mass).unsqueeze(-1).to(first.dtype)
    return torch.lerp(first, second, share)
