"""Draws tokens from logits: one log-sum-exp, one cumulative sum, one uniform number a token. No model, no state.

The uniform number of a token depends on (seed, sample, position) alone, so a sample does not depend on what else is in its batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

NUCLEUS = 64
"""Candidates looked at first for top-p; rows that need more get `WIDE_NUCLEUS`, and what is left then is sorted whole."""

WIDE_NUCLEUS = 2048


STRETCH = 256
"""Tokens whose probabilities are summed before they are looked at one by one."""


@dataclass(slots=True)
class Draw:
    """tokens [R]; logprobs [R] of the raw distribution at temperature 1; entropies [R] of the same in nats, if asked for."""

    tokens: Tensor
    logprobs: Tensor
    entropies: Tensor | None


def uniforms(seeds: np.ndarray, samples: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Numbers in [0, 1), float64, one for each (seed, sample, position): three rounds of the splitmix64 finaliser."""
    with np.errstate(over="ignore"):
        state = _mix(seeds.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15))
        state = _mix(state ^ (samples.astype(np.uint64) * np.uint64(0xD1342543DE82EF95) + np.uint64(1)))
        state = _mix(state ^ (positions.astype(np.uint64) * np.uint64(0xDA942042E4DD58B5) + np.uint64(2)))
    return (state >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mix(x: np.ndarray) -> np.ndarray:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@torch.no_grad()
def draw(logits: Tensor, temperature: Tensor, top_p: Tensor, top_k: Tensor, uniform: Tensor, entropy: bool = False) -> Draw:
    """One token for each row of float32 `logits` [R, V]. All other arguments are [R]; temperature 0 is greedy, top_k <= 0 is off."""
    mass = logits.logsumexp(-1, keepdim=True)
    greedy, warm = temperature == 0, temperature != 1
    cut = ((top_p < 1) | (top_k > 0)) & ~greedy
    tokens = torch.empty(len(logits), dtype=torch.long, device=logits.device)
    probabilities = None
    if entropy or not bool((greedy | warm | cut).all()):
        probabilities = (logits - mass).exp_()
    plain = ~(greedy | warm | cut)
    if bool(plain.all()):
        tokens = _invert(probabilities, uniform)
    else:
        for chosen, pick in ((plain, None), (greedy, "greedy"), (warm & ~greedy & ~cut, "warm"), (cut, "cut")):
            rows = chosen.nonzero()[:, 0]
            if not len(rows):
                continue
            part = logits if len(rows) == len(logits) else logits[rows]
            if pick is None:
                tokens[rows] = _invert(probabilities[rows], uniform[rows])
            elif pick == "greedy":
                tokens[rows] = part.argmax(-1)
            else:
                scaled = part / temperature[rows, None]
                if pick == "warm":
                    tokens[rows] = _invert((scaled - scaled.amax(-1, keepdim=True)).exp_(), uniform[rows])
                else:
                    tokens[rows] = _nucleus(scaled, top_p[rows], top_k[rows], uniform[rows])
    logprobs = (logits.gather(1, tokens[:, None]) - mass)[:, 0]
    entropies = mass[:, 0] - (probabilities * logits).sum(-1) if entropy else None
    return Draw(tokens, logprobs, entropies)


def joined(pieces: list[Draw]) -> Draw:
    """One draw of the rows of several."""
    if len(pieces) == 1:
        return pieces[0]
    entropies = [p.entropies for p in pieces if p.entropies is not None]
    tokens, logprobs = torch.cat([p.tokens for p in pieces]), torch.cat([p.logprobs for p in pieces])
    return Draw(tokens, logprobs, torch.cat(entropies) if entropies else None)


def _invert(weights: Tensor, uniform: Tensor) -> Tensor:
    """The index where the cumulative sum of `weights` [R, V] (not normalised) passes `uniform` times its total."""
    rows, size = weights.shape
    if size <= 4 * STRETCH:
        return _search(weights, uniform)[0]
    # First the stretch it lies in, then the place there: a sum reads faster than a cumulative one writes.
    whole = size - size % STRETCH
    sums = weights[:, :whole].view(rows, -1, STRETCH).sum(-1)
    if whole < size:
        sums = torch.cat([sums, weights[:, whole:].sum(-1, keepdim=True)], -1)
    stretch, rest = _search(sums, uniform)
    begin = stretch * STRETCH
    step = torch.arange(STRETCH, device=weights.device)
    at = (begin[:, None] + step).clamp_(max=size - 1)
    own = torch.where(begin[:, None] + step < size, weights.gather(1, at), 0.0)
    return begin + _search(own, rest)[0]


def _search(weights: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor]:
    """The index as `_invert` gives it, and how far into that weight the point lies, in [0, 1): uniform again."""
    cumulated = weights.double().cumsum(-1)
    total = cumulated[:, -1:]
    wanted = torch.minimum(uniform[:, None].double() * total, total.nextafter(torch.zeros_like(total)))
    index = torch.searchsorted(cumulated, wanted, right=True)
    own = weights.gather(1, index).double()
    before = cumulated.gather(1, index) - own
    return index[:, 0], ((wanted - before) / own)[:, 0].clamp_(0.0, 1.0 - 2.0**-53)


def _nucleus(scaled: Tensor, top_p: Tensor, top_k: Tensor, uniform: Tensor) -> Tensor:
    """Draws among the fewest most likely tokens whose mass reaches top_p, of at most top_k tokens (whose mass then counts as 1)."""
    mass = scaled.logsumexp(-1, keepdim=True)
    tokens = torch.empty(len(scaled), dtype=torch.long, device=scaled.device)
    left = torch.arange(len(scaled), device=scaled.device)
    for size in (max(NUCLEUS, int(top_k.max())), WIDE_NUCLEUS, scaled.shape[1]):
        size = min(size, scaled.shape[1])
        part, own_top_p, own_top_k = scaled[left], top_p[left], top_k[left]
        values, ids = part.topk(size, -1) if size < scaled.shape[1] else part.sort(-1, descending=True)
        weights = (values - mass[left]).exp_()
        enough = (weights.sum(-1) > own_top_p + 1e-4) | ((own_top_k > 0) & (own_top_k <= size))
        if size == scaled.shape[1]:
            enough[:] = True
        done = enough.nonzero()[:, 0]
        if len(done):
            tokens[left[done]] = _among(ids[done], weights[done], own_top_p[done], own_top_k[done], uniform[left[done]])
        left = left[(~enough).nonzero()[:, 0]]
        if not len(left):
            break
    return tokens


def _among(ids: Tensor, weights: Tensor, top_p: Tensor, top_k: Tensor, uniform: Tensor) -> Tensor:
    """Draws from candidates in falling order, the rest of the vocabulary being outside of the nucleus."""
    limit = torch.where(top_k > 0, top_k, ids.shape[1])[:, None]
    weights = torch.where(torch.arange(weights.shape[1], device=weights.device) < limit, weights, 0.0)
    weights = torch.where(top_k[:, None] > 0, weights / weights.sum(-1, keepdim=True), weights)
    before = weights.cumsum(-1) - weights
    weights = torch.where(before < top_p[:, None], weights, 0.0)
    weights[:, 0].clamp_(min=1e-30)
    return ids.gather(1, _invert(weights, uniform)[:, None])[:, 0]
