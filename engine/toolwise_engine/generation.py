"""Continuous batching over the open requests of all snapshots. Schedules; the tensors are handled in batch.py."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import torch

from toolwise_engine.batch import Batch
from toolwise_engine.errors import EngineError, sentence_for, user_error
from toolwise_engine.kv_cache import Spare
from toolwise_engine.memory import share
from toolwise_engine.row import Row
from toolwise_engine.sample_request import Finished, Lockstep, SampleRequest, Sequence
from toolwise_engine.scoring import score
from toolwise_engine.snapshot import Snapshot
from toolwise_engine.stream import build_stream

__all__ = ["Finished", "Generator", "Lockstep", "SampleRequest", "Sequence"]

IDLE_BATCHES = 1
"""Snapshots without work whose caches are kept, for prompts that continue earlier ones."""


@dataclass(eq=False, slots=True)
class _Open:
    request: SampleRequest
    batch: Batch
    rows: list[Row]
    prompt_logprobs: list[float | None] | None
    missing: int = field(default=0)


class Generator:
    """`submit` and `cancel` may be called from any thread, all else from one. max_rows: rows decoded at once for one snapshot."""

    def __init__(self, max_rows: int = 256, cache_bytes: int | None = None, device: str = "cpu") -> None:
        self._inbox: deque[SampleRequest | str] = deque()
        self._max_rows = max_rows
        self._cache_bytes = share(torch.device(device)) if cache_bytes is None else cache_bytes
        self._open: dict[str, _Open] = {}
        self._row_of: dict[int, _Open] = {}
        self._batches: list[Batch] = []
        self._shared: dict[int, Batch] = {}
        self._gathering: dict[str, dict[int, SampleRequest | None]] = {}
        self._known_prefixes: list[list[int]] = []
        self._spare = Spare()
        self._past_tokens = 0

    @property
    def tokens_seen(self) -> int:
        """Tokens that went through a model's layers so far."""
        return self._past_tokens + sum(batch.tokens_seen for batch in self._batches)

    def submit(self, request: SampleRequest) -> None:
        """Takes a request in. Its outcome comes from a later `step`."""
        self._inbox.append(request)

    def cancel(self, id: str) -> None:
        """Drops a request; nothing is reported for it."""
        self._inbox.append(id)

    def has_work(self) -> bool:
        """Whether a `step` would do anything. Requests that wait for others of their lockstep are no work."""
        return bool(self._inbox or self._open)

    def step(self) -> list[Finished]:
        """One token for every live row, after taking in what was submitted. Returns requests that ended."""
        finished: list[Finished] = []
        while self._inbox:
            message = self._inbox.popleft()
            if isinstance(message, str):
                self._drop(message)
            else:
                self._take_in(message, finished)
        for batch in list(self._batches):
            if not batch.waiting and not batch.live():
                continue
            try:
                for row in batch.step():
                    self._ended(row, finished)
            except Exception as error:
                self._fail(batch, error, finished)
        self._tidy()
        return finished

    def _take_in(self, request: SampleRequest, finished: list[Finished]) -> None:
        error = self._fault(request)
        if error is not None:
            finished.append(Finished(request.id, [], request.snapshot.version, error=error))
        if request.lockstep is None:
            if error is None:
                self._start(self._batch_of(request.snapshot), request, finished)
            return
        gathered = self._gathering.setdefault(request.lockstep.key, {})
        gathered[request.lockstep.index] = request if error is None else None
        self._start_lockstep(request.lockstep)

    def _start_lockstep(self, lockstep: Lockstep) -> None:
        gathered = self._gathering[lockstep.key]
        if len(gathered) < lockstep.size:
            return
        del self._gathering[lockstep.key]
        requests = [gathered[index] for index in sorted(gathered)]
        batches: dict[int, Batch] = {}
        for request in requests:
            if request is None:
                continue
            key = id(request.snapshot)
            if key not in batches:
                batches[key] = Batch(request.snapshot, self._max_rows, self._cache_bytes, keep=False, known_prefixes=[], spare=self._spare)
                self._batches.append(batches[key])
            self._start(batches[key], request, [])

    def _fault(self, request: SampleRequest) -> EngineError | None:
        shape = request.snapshot.network.shape
        if not request.prompt:
            return user_error("the prompt is empty")
        if min(request.prompt) < 0 or max(request.prompt) >= shape.vocabulary:
            return user_error(f"the prompt holds an id outside 0..{shape.vocabulary - 1}")
        if len(request.prompt) >= shape.max_context:
            return user_error(f"the prompt has {len(request.prompt)} tokens; the model takes {shape.max_context} with the answer")
        if request.num_samples < 1 or request.max_tokens < 1:
            return user_error("num_samples and max_tokens must be at least 1")
        if request.temperature < 0 or not 0 < request.top_p <= 1:
            return user_error("temperature must not be negative, and top_p must lie in (0, 1]")
        if request.stop_strings and request.snapshot.tokenizer is None:
            return user_error("stop strings need a tokenizer.json in the model's folder; use stop token ids")
        if request.id in self._open:
            return user_error(f"request {request.id} is already running")
        return None

    def _batch_of(self, snapshot: Snapshot) -> Batch:
        batch = self._shared.get(id(snapshot))
        if batch is None:
            for older in list(self._shared.values()):
                if not older.waiting and not older.live():
                    self._forget(older)
            batch = Batch(snapshot, self._max_rows, self._cache_bytes, True, self._known_prefixes, self._spare)
            self._shared[id(snapshot)] = batch
            self._batches.append(batch)
        return batch

    def _start(self, batch: Batch, request: SampleRequest, finished: list[Finished]) -> None:
        limit = min(request.max_tokens, request.snapshot.network.shape.max_context - len(request.prompt))
        rows = [Row.begin(request, sample, limit) for sample in range(request.num_samples)]
        scored = _score_prompt(request) if request.prompt_logprobs else None
        entry = _Open(request, batch, rows, scored, missing=len(rows))
        self._open[request.id] = entry
        self._row_of.update((id(row), entry) for row in rows)
        batch.waiting.extend(rows)
        request.rows = rows

    def _ended(self, row: Row, finished: list[Finished]) -> None:
        entry = self._row_of.pop(id(row))
        entry.missing -= 1
        if entry.missing == 0:
            del self._open[entry.request.id]
            sequences = [r.sequence() for r in entry.rows]
            finished.append(Finished(entry.request.id, sequences, entry.request.snapshot.version, entry.prompt_logprobs))

    def _drop(self, id_: str) -> None:
        entry = self._open.pop(id_, None)
        if entry is not None:
            gone = set(map(id, entry.rows))
            for key in gone:
                self._row_of.pop(key, None)
            entry.batch.drop(gone)
            return
        for gathered in list(self._gathering.values()):
            for index, request in gathered.items():
                if request is not None and request.id == id_:
                    gathered[index] = None

    def _fail(self, batch: Batch, error: Exception, finished: list[Finished]) -> None:
        """A pass failed: all requests of the batch fail, and its caches are given up."""
        failure = error if isinstance(error, EngineError) else EngineError(*sentence_for(error, "asample"))
        for entry in [e for e in self._open.values() if e.batch is batch]:
            del self._open[entry.request.id]
            for row in entry.rows:
                self._row_of.pop(id(row), None)
            finished.append(Finished(entry.request.id, [], entry.request.snapshot.version, error=failure))
        self._forget(batch)

    def _forget(self, batch: Batch) -> None:
        self._past_tokens += batch.tokens_seen
        batch.release()
        self._batches.remove(batch)
        if self._shared.get(id(batch.snapshot)) is batch:
            del self._shared[id(batch.snapshot)]

    def _tidy(self) -> None:
        """Gives up the caches of snapshots that have no work, but for the newest."""
        idle = [b for b in self._batches if not b.waiting and not b.live()]
        shared = [b for b in idle if self._shared.get(id(b.snapshot)) is b]
        for batch in idle:
            if batch not in shared or batch in shared[:-IDLE_BATCHES]:
                self._forget(batch)


@torch.no_grad()
def _score_prompt(request: SampleRequest) -> list[float | None]:
    """Log-prob of every prompt token given those before it; None for the first."""
    network = request.snapshot.network
    if len(request.prompt) == 1:
        return [None]
    stream = build_stream([request.prompt[:-1]], network.dtype, network.device)
    hidden = network.hidden(stream.ids, stream.positions, stream)
    return [None, *score(network, hidden, torch.tensor(request.prompt[1:], device=network.device)).tolist()]
