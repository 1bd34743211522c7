"""Frozen weights to sample from. Never changes once made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(eq=False)
class Snapshot:
    """Weights in compute precision with the policy version they were taken at and the text tokenizer (for stop strings)."""

    network: Any
    version: int
    tokenizer: Any | None

    @classmethod
    def load(cls, folder: Path, dtype: str, checkpoint: Path | None = None) -> Snapshot:
        """The untouched weights of a model folder, or those of a checkpoint that `Policy.save` wrote for that model."""
        from toolwise_engine.policy import Policy

        policy = Policy.create(folder, dtype)
        if checkpoint is not None:
            policy.load(checkpoint, optimizer=False)
        return policy.snapshot()
