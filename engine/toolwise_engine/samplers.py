"""What can be sampled from: a base model, a checkpoint, or a snapshot of a model in training; and the sampling sessions that name one."""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from toolwise_engine.base_model import BaseModel
from toolwise_engine.errors import user_error

if TYPE_CHECKING:
    from toolwise_engine.sessions import Model
    from toolwise_engine.snapshot import Snapshot

RECENT = 2
"""Sources named by a request itself, not by a sampling session, are kept loaded up to this many."""


class Source:
    """Weights to sample from. The worker alone loads and reads `snapshot`."""

    __slots__ = ("__weakref__", "base", "gone", "load", "model", "path", "snapshot")

    def __init__(
        self, base: BaseModel, path: str | None = None, model: Model | None = None, load: Callable[[], Snapshot] | None = None
    ) -> None:
        self.base = base
        self.path = path
        self.model = model
        self.load = load
        self.snapshot: Snapshot | None = None
        self.gone: str | None = None

    def ready(self) -> Snapshot:
        """The snapshot, loaded where it was not yet. Called by the worker."""
        if self.gone is not None:
            raise user_error(self.gone)
        if self.snapshot is None:
            if self.load is None:
                raise user_error("This sampling session's weights were not saved: save_weights_for_sampler did not finish.")
            self.snapshot = self.load()
        return self.snapshot

    def drop(self, reason: str) -> None:
        """Free the weights; requests that run keep theirs."""
        self.gone = reason
        self.snapshot = None


@dataclass(eq=False, slots=True)
class Sampler:
    """A sampling session."""

    id: str
    session_id: str
    source: Source


class Samplers:
    """All sampling sessions, and the sources they share. HTTP thread only."""

    def __init__(self) -> None:
        self._samplers: dict[str, Sampler] = {}
        self._sources: WeakValueDictionary[str, Source] = WeakValueDictionary()
        self._recent: deque[Source] = deque(maxlen=RECENT)

    def create(self, session_id: str, source: Source) -> Sampler:
        sampler = Sampler(f"sampling_{secrets.token_hex(8)}", session_id, source)
        self._samplers[sampler.id] = sampler
        return sampler

    def find(self, sampler_id: str) -> Sampler:
        sampler = self._samplers.get(sampler_id)
        if sampler is None:
            raise user_error(f"Sampling session {sampler_id} is not known to this engine.", 404)
        return sampler

    def remove(self, sampler_id: str) -> Sampler:
        sampler = self.find(sampler_id)
        del self._samplers[sampler_id]
        return sampler

    def of_session(self, session_id: str) -> list[str]:
        return [sampler.id for sampler in self._samplers.values() if sampler.session_id == session_id]

    def remove_session(self, session_id: str) -> None:
        for sampler in [s for s in self._samplers.values() if s.session_id == session_id]:
            del self._samplers[sampler.id]

    def remove_model(self, model: Model) -> None:
        for sampler in [s for s in self._samplers.values() if s.source.model is model]:
            del self._samplers[sampler.id]

    def shared(self, key: str, make: Callable[[], Source], keep: bool) -> Source:
        """The source of a base model or a checkpoint, one for all who use it. `keep`: hold it although no session does."""
        source = self._sources.get(key)
        if source is None:
            source = self._sources[key] = make()
        if keep and source not in self._recent:
            self._recent.append(source)
        return source

    def forget_source(self, key: str) -> None:
        """A checkpoint was replaced or deleted: who asks next gets a new source."""
        source = self._sources.pop(key, None)
        if source in self._recent:
            self._recent.remove(source)
