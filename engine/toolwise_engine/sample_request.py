"""What a caller asks the generator for, and what it gets back. No tensors, no scheduling."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from toolwise_engine.errors import EngineError
    from toolwise_engine.row import Row
    from toolwise_engine.snapshot import Snapshot


@dataclass(slots=True, frozen=True)
class Lockstep:
    """Requests of one `key` wait for each other until `size` are in, then run as one isolated batch ordered by `index`."""

    key: str
    size: int
    index: int


@dataclass(slots=True)
class SampleRequest:
    """`num_samples` continuations of `prompt`. temperature 0 is greedy; top_k <= 0 is off; stop tokens are kept in the output."""

    id: str
    snapshot: Snapshot
    prompt: list[int]
    num_samples: int = 1
    max_tokens: int = 16
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = -1
    seed: int = 0
    stop_token_ids: list[int] = field(default_factory=list)
    stop_strings: list[str] = field(default_factory=list)
    prompt_logprobs: bool = False
    entropy: bool = False
    lockstep: Lockstep | None = None
    rows: list[Row] = field(default_factory=list)
    """What is being sampled, once it began: they only grow, and other threads may read them."""


@dataclass(slots=True)
class Sequence:
    """One sampled continuation. logprobs: of the raw distribution at temperature 1. entropies: of the same, in nats, when asked for."""

    tokens: list[int]
    logprobs: list[float]
    stop_reason: Literal["stop", "length"]
    entropies: list[float] | None = None


@dataclass(slots=True)
class Finished:
    """A request that ended: its sequences in sample order, or the error of this request alone."""

    id: str
    sequences: list[Sequence]
    policy_version: int
    prompt_logprobs: list[float | None] | None = None
    error: EngineError | None = None
