"""Log-probs of chosen tokens through the vocabulary head, a few hundred rows at a time, with the gradient in the same pass.

Only rows that carry loss come here: the head of a small model costs as much as all its layers.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from toolwise_engine.network import Network

HEAD_BYTES, GPU_HEAD_BYTES = 16 << 20, 512 << 20
"""Float32 logits held at once: about what the processor caches; on a GPU enough to keep it busy."""


def _chunk(network: Network) -> int:
    most = HEAD_BYTES if network.device.type == "cpu" else GPU_HEAD_BYTES
    return max(16, most // (4 * network.shape.vocabulary))


@torch.no_grad()
def score(network: Network, hidden: Tensor, targets: Tensor) -> Tensor:
    """Float32 log-probs [M] of `targets` [M] given the hidden states [M, hidden] before them."""
    pieces = []
    for rows, wanted in zip(hidden.split(_chunk(network)), targets.split(_chunk(network)), strict=True):
        logits = network.logits(rows).float()
        pieces.append(logits.gather(1, wanted[:, None])[:, 0] - logits.logsumexp(-1))
    return torch.cat(pieces) if pieces else torch.empty(0, device=hidden.device)


@torch.no_grad()
def score_with_gradient(
    network: Network,
    hidden: Tensor,
    targets: Tensor,
    slope: Callable[[Tensor, slice], Tensor],
    accumulated: dict[str, Tensor],
) -> tuple[Tensor, Tensor]:
    """Log-probs [M] and the gradient of the summed loss in `hidden` [M, hidden].

    `slope(logprobs, rows)` gives d loss / d log-prob of these rows. The gradients of the head's own weights are added to those of
    `accumulated` that are trained.
    """
    head_gradient, bias_gradient = accumulated.get(network.head), accumulated.get(network.head_bias or "")
    logprobs, gradients = torch.empty(len(targets), device=hidden.device), torch.empty_like(hidden)
    weight, size = network.weights[network.head], _chunk(network)
    for begin in range(0, len(targets), size):
        rows = slice(begin, min(begin + size, len(targets)))
        states, wanted = hidden[rows], targets[rows, None]
        logits = network.logits(states).float()
        mass = logits.logsumexp(-1, keepdim=True)
        logprobs[rows] = (logits.gather(1, wanted) - mass)[:, 0]
        steep = slope(logprobs[rows], rows)[:, None]
        pull = logits.sub_(mass).exp_().mul_(-steep).scatter_add_(1, wanted, steep)
        if bias_gradient is not None:
            bias_gradient.add_(pull.sum(0))
        pull = pull.to(hidden.dtype)
        torch.mm(pull, weight, out=gradients[rows])
        if head_gradient is not None:
            head_gradient.add_(pull.t() @ states)
        if network.head_adapter is not None:
            _through_adapter(network, states, pull, gradients[rows], accumulated)
    return logprobs, gradients


def _through_adapter(network: Network, states: Tensor, pull: Tensor, gradient: Tensor, accumulated: dict[str, Tensor]) -> None:
    """What the head's adapter adds: logits + scale (states A^T) B^T."""
    assert network.head_adapter is not None
    scale, (down_name, up_name) = network.adapter_scale, network.head_adapter
    down, up = network.weights[down_name], network.weights[up_name]
    narrow = pull @ up
    gradient.addmm_(narrow, down, alpha=scale)
    if up_name in accumulated:
        accumulated[up_name].add_(pull.t() @ (states @ down.t()), alpha=scale)
        accumulated[down_name].add_(narrow.t() @ states, alpha=scale)
