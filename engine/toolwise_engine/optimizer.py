"""AdamW with decoupled weight decay over float32 master weights. Its state exists from the first step on."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from toolwise_engine.datum import AdamParams
from toolwise_engine.errors import server_error


class AdamW:
    """Updates `masters` in place. Every tensor given is trained; leave frozen ones out and they carry no state."""

    def __init__(self, masters: dict[str, Tensor]) -> None:
        self._masters = masters
        self._optimizer = torch.optim.AdamW([p.requires_grad_(True) for p in masters.values()], fused=True)

    @torch.no_grad()
    def step(self, gradients: dict[str, Tensor], adam: AdamParams) -> float:
        """One update with float32 gradients (which it may scale in place). Returns their norm before clipping."""
        norm = math.sqrt(math.fsum(n**2 for n in torch.stack(torch._foreach_norm(list(gradients.values()))).tolist()))
        if not math.isfinite(norm):
            raise server_error("The gradient is not finite: the update was left out and the gradient cleared.")
        if 0 < adam.grad_clip_norm < norm:
            torch._foreach_mul_(list(gradients.values()), adam.grad_clip_norm / norm)
        group = self._optimizer.param_groups[0]
        group.update(lr=adam.learning_rate, betas=(adam.beta1, adam.beta2), eps=adam.eps, weight_decay=adam.weight_decay)
        for name, master in self._masters.items():
            master.grad = gradients[name]
        self._optimizer.step()
        for master in self._masters.values():
            master.grad = None
        return norm

    def state(self) -> tuple[int, dict[str, Tensor], dict[str, Tensor]]:
        """Steps taken, first and second moments by name; empty before the first step."""
        states = {name: self._optimizer.state.get(p) for name, p in self._masters.items()}
        held = {name: state for name, state in states.items() if state}
        steps = max((int(state["step"]) for state in held.values()), default=0)
        return steps, {n: s["exp_avg"] for n, s in held.items()}, {n: s["exp_avg_sq"] for n, s in held.items()}

    def restore(self, steps: int, first: dict[str, Tensor], second: dict[str, Tensor]) -> None:
        """Takes over saved state. A trained tensor without saved moments starts from zero."""
        self._optimizer.state.clear()
        if steps == 0:
            return
        for name, master in self._masters.items():
            self._optimizer.state[master] = {
                "step": torch.tensor(float(steps), device=master.device),
                "exp_avg": _own(first[name], master) if name in first else torch.zeros_like(master),
                "exp_avg_sq": _own(second[name], master) if name in second else torch.zeros_like(master),
            }


def _own(moment: Tensor, master: Tensor) -> Tensor:
    """A float32 copy of a saved moment, beside its master."""
    return moment.to(master.device, torch.float32, copy=True)
