"""The one thread that touches tensors: runs operations in the order in which they came, and lets the generator step in between.

Operations that are queued run first; while the generator has work it steps; else the thread sleeps. An exception ends one promise only.
"""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from toolwise_engine.errors import EngineError, sentence_for, user_error
from toolwise_engine.futures import Future, Futures
from toolwise_engine.generation import Finished, Generator, SampleRequest
from toolwise_engine.wire import encode

if TYPE_CHECKING:
    from toolwise_engine.samplers import Source
    from toolwise_engine.sessions import Model


@dataclass(slots=True)
class Operation:
    """`run` makes the result. With a model it fails at once when the model is closed by then, unless `always`.

    `after` is called when it ended, run or not.
    """

    name: str
    future: Future | None
    run: Callable[[], object]
    model: Model | None = None
    always: bool = False
    after: Callable[[], None] | None = None


@dataclass(slots=True)
class Sampling:
    """An asample request; `session_id` is the client session that asked, where it is known."""

    future: Future
    request: SampleRequest
    source: Source
    session_id: str | None


class Step:
    """The generator's turn."""


STEP = Step()


class Worker:
    """Give it work with `submit`; results come through `Futures`."""

    def __init__(self, futures: Futures, threads: int, device: str = "cpu") -> None:
        self.generator = Generator(device=device)
        self._device = device
        self._futures = futures
        self._threads = threads
        self._inbox: queue.SimpleQueue[Operation | Sampling | None] = queue.SimpleQueue()
        self._open: dict[str, Sampling] = {}
        self._settled: list[tuple[Future, bytes]] = []
        self._thread = threading.Thread(target=self._run, name="worker", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """Ask the thread to end, and wait for what it is doing up to `seconds`."""
        self._inbox.put(None)
        self._thread.join(seconds)

    def submit(self, item: Operation | Sampling) -> None:
        self._inbox.put(item)

    def cancel_samplings(self, matches: Callable[[Sampling], bool], reason: str) -> None:
        """End open samplings. Called by operations, in the worker's thread."""
        for id, sampling in list(self._open.items()):
            if matches(sampling):
                self.generator.cancel(id)
                del self._open[id]
                self._fail(sampling.future, user_error(reason), "asample")

    def _run(self) -> None:
        torch.set_num_threads(self._threads)
        while True:
            item = self._next()
            if item is None:
                return
            if isinstance(item, Operation):
                self._operate(item)
                self._flush()
            elif isinstance(item, Sampling):
                self._begin(item)
            else:
                self._step()
                self._flush()

    def _next(self) -> Operation | Sampling | Step | None:
        """What came first, else a step of the generator, else whatever comes next; None is the end."""
        try:
            return self._inbox.get_nowait()
        except queue.Empty:
            pass
        if self._settled:
            self._flush()
        return STEP if self.generator.has_work() else self._inbox.get()

    def _operate(self, operation: Operation) -> None:
        try:
            model = operation.model
            if model is not None and not operation.always:
                if model.closed is not None:
                    raise user_error(f"{operation.name} did not run: {model.closed}.")
                if model.failed is not None:
                    raise user_error(f"{operation.name} did not run: model {model.id} could not be made: {model.failed}")
            value = operation.run()
            result = encode(value) if operation.future is not None else b""
        except Exception as error:
            self._fail(operation.future, error, operation.name)
        else:
            if operation.future is not None:
                self._settled.append((operation.future, result))
        finally:
            if operation.after is not None:
                operation.after()

    def _begin(self, sampling: Sampling) -> None:
        request = sampling.request
        try:
            model = sampling.source.model
            if model is not None and model.closed is not None:
                raise user_error(f"asample did not run: {model.closed}.")
            request.id = sampling.future.id
            request.snapshot = sampling.source.ready()
            self._open[request.id] = sampling
            self.generator.submit(request)
        except Exception as error:
            self._open.pop(request.id, None)
            self._fail(sampling.future, error, "asample")

    def _step(self) -> None:
        try:
            finished = self.generator.step()
        except Exception as error:
            self._fail_all(error)
            return
        for done in finished:
            sampling = self._open.pop(done.id, None)
            if sampling is None:
                continue
            if done.error is not None:
                self._fail(sampling.future, done.error, "asample")
            else:
                self._settled.append((sampling.future, encode(sample_result(done, sampling.request))))

    def _fail_all(self, error: Exception) -> None:
        """A failed step leaves no batch that could go on: all open samplings fail, and a new generator takes over."""
        log_error(error, "asample")
        for sampling in self._open.values():
            self._settled.append((sampling.future, failure(error, "asample")))
        self._open.clear()
        self.generator = Generator(device=self._device)

    def _fail(self, future: Future | None, error: Exception, name: str) -> None:
        if not isinstance(error, EngineError):
            log_error(error, name)
        if future is not None:
            self._settled.append((future, failure(error, name)))

    def _flush(self) -> None:
        if self._settled:
            self._futures.settle_from_worker(self._settled)
            self._settled = []


def failure(error: BaseException, name: str) -> bytes:
    """What retrieve_future answers for a failed operation."""
    category, sentence = sentence_for(error, name)
    return encode({"error": sentence, "category": category})


def log_error(error: BaseException, name: str) -> None:
    """Writes to the log, where the log can be written: on a full disk the error must still reach the client."""
    with contextlib.suppress(OSError):
        print(f"{name} failed:", file=sys.stderr)
        traceback.print_exception(error, file=sys.stderr)
        sys.stderr.flush()


def sample_result(done: Finished, request: SampleRequest) -> dict:
    sequences = []
    for sequence in done.sequences:
        entry = {"stop_reason": sequence.stop_reason, "tokens": sequence.tokens, "logprobs": sequence.logprobs}
        if request.entropy:
            entry["entropies"] = sequence.entropies
        sequences.append(entry)
    return {"type": "sample", "sequences": sequences, "prompt_logprobs": done.prompt_logprobs, "policy_version": done.policy_version}
