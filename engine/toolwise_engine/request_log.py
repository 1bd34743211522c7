"""The requests of one model by their seq_id: a repeated one gets the promise it got before, and nothing runs twice."""

from __future__ import annotations

import hashlib

from toolwise_engine.errors import user_error
from toolwise_engine.futures import Future

KEPT = 4096


class RequestLog:
    """Remembers the newest `KEPT` requests. A seq_id above all seen ones is new, gaps included; a lower one must be a repeat."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[bytes, Future]] = {}
        self._highest = -1

    def find_repeat(self, seq_id: int, digest: bytes) -> Future | None:
        """The promise of a repeated request, None for a new one; 409 for anything that cannot be run in order."""
        known = self._seen.get(seq_id)
        if known is not None:
            if known[0] != digest:
                raise user_error(
                    f"seq_id {seq_id} was used for another request: a repeat must be the same endpoint and body, byte for byte.", 409
                )
            return known[1]
        if seq_id <= self._highest:
            raise user_error(
                f"seq_id {seq_id} is lower than {self._highest}, which was taken already: requests of a model run in order.", 409
            )
        return None

    def add(self, seq_id: int, digest: bytes, future: Future) -> None:
        self._seen[seq_id] = (digest, future)
        self._highest = seq_id
        if len(self._seen) > KEPT:
            del self._seen[next(iter(self._seen))]


def digest_of(endpoint: str, raw: bytes) -> bytes:
    return hashlib.blake2b(raw, digest_size=16, key=endpoint.encode()[:64]).digest()
