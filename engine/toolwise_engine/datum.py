"""What is trained on: one sequence with the numbers its loss needs. Knows no loss and no tensor."""

from __future__ import annotations

from dataclasses import dataclass

from toolwise_engine.errors import user_error


@dataclass(slots=True)
class Datum:
    """One sequence, shifted by the caller: `targets[i]` is the token that follows `tokens[:i + 1]`. All lists have one length.

    weights: None means 1 everywhere; a position of weight 0 has no loss and its log-prob is reported as 0.
    logprobs: log-probs of `targets` under the sampling policy; advantages: per token. Both only for policy losses.
    """

    tokens: list[int]
    targets: list[int]
    weights: list[float] | None = None
    logprobs: list[float] | None = None
    advantages: list[float] | None = None

    def check(self, index: int, vocabulary: int) -> None:
        """Refuses lists of unequal length and ids outside the vocabulary."""
        if not self.tokens:
            raise user_error(f"datum {index} has no tokens")
        for name in ("targets", "weights", "logprobs", "advantages"):
            values = getattr(self, name)
            if values is not None and len(values) != len(self.tokens):
                raise user_error(f"datum {index}: {name} has {len(values)} entries, tokens has {len(self.tokens)}")
        for name in ("tokens", "targets"):
            values = getattr(self, name)
            if min(values) < 0 or max(values) >= vocabulary:
                raise user_error(f"datum {index}: {name} holds an id outside 0..{vocabulary - 1}")


@dataclass(slots=True, frozen=True)
class AdamParams:
    """AdamW with decoupled weight decay. `grad_clip_norm` 0 means no clipping."""

    learning_rate: float = 1e-4
    beta1: float = 0.9
    beta2: float = 0.95
    eps: float = 1e-12
    weight_decay: float = 0.0
    grad_clip_norm: float = 0.0
