"""Client sessions and the models they train. A session lives as long as its client is heard; its models go with it.

Everything here is touched by the HTTP thread alone, except what `Model` marks as the worker's.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from toolwise_engine.base_model import BaseModel
from toolwise_engine.errors import user_error
from toolwise_engine.futures import Future
from toolwise_engine.request_log import RequestLog

if TYPE_CHECKING:
    from toolwise_engine.policy import Policy
    from toolwise_engine.samplers import Source


@dataclass(eq=False, slots=True)
class Model:
    """One trainable policy. `closed` says why it takes no more requests; `failed` why it could not be made."""

    id: str
    session_id: str
    base: BaseModel
    train_unembed: bool
    train_attn: bool
    train_mlp: bool
    rank: int = 0
    seed: int | None = None
    user_metadata: object = None
    log: RequestLog = field(default_factory=RequestLog)
    last_request: datetime = field(default_factory=lambda: datetime.now(timezone.utc))
    closed: str | None = None
    # The worker's own:
    policy: Policy | None = None
    failed: str | None = None
    published: list[Source] = field(default_factory=list)
    """Snapshots to sample from that are not on disk, the newest last."""
    changed: bool = True
    """Whether the weights changed since the newest of `published`."""

    @property
    def lora_config(self) -> dict:
        return {
            "rank": self.rank,
            "seed": self.seed,
            "train_unembed": self.train_unembed,
            "train_mlp": self.train_mlp,
            "train_attn": self.train_attn,
        }


@dataclass(eq=False, slots=True)
class Session:
    id: str
    seen: float
    models: list[Model] = field(default_factory=list)
    created_models: dict[int, tuple[bytes, Model, Future]] = field(default_factory=dict)
    """Repeats of create_model by model_seq_id."""
    created_samplers: dict[int, tuple[bytes, str]] = field(default_factory=dict)
    """Repeats of create_sampling_session by sampling_session_seq_id."""


class Sessions:
    """All sessions, and all models by id."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self._sessions: dict[str, Session] = {}
        self.models: dict[str, Model] = {}

    def create(self) -> Session:
        session = Session(f"session_{secrets.token_hex(8)}", time.monotonic())
        self._sessions[session.id] = session
        return session

    def ids(self) -> list[str]:
        """Sessions that live, the newest first."""
        return list(reversed(self._sessions))

    def find(self, session_id: str) -> Session:
        """404 where it is unknown or expired. Asking does not keep it alive."""
        session = self._sessions.get(session_id)
        if session is None:
            raise user_error(
                f"Session {session_id} is not known: it expired ({self.timeout:g} s without a request), or was never created here.", 404
            )
        return session

    def touch(self, session_id: str) -> Session:
        """The session, noted as alive; 404 where it is unknown or expired."""
        session = self.find(session_id)
        session.seen = time.monotonic()
        return session

    def model(self, model_id: str) -> Model:
        """A model that takes requests; its session is noted as alive. 404 where there is none."""
        model = self.models.get(model_id)
        if model is None:
            raise user_error(f"Model {model_id} is not known to this engine.", 404)
        if model.closed is not None:
            raise user_error(f"Model {model_id} takes no more requests: {model.closed}.", 404)
        self.touch(model.session_id)
        model.last_request = datetime.now(timezone.utc)
        return model

    def add_model(self, model: Model) -> None:
        self.models[model.id] = model
        self._sessions[model.session_id].models.append(model)

    def expire(self, now: float | None = None) -> list[Session]:
        """Take out and return the sessions that were silent for too long."""
        now = time.monotonic() if now is None else now
        gone = [session for session in self._sessions.values() if now - session.seen > self.timeout]
        for session in gone:
            del self._sessions[session.id]
        return gone
