"""Tokens of a sampling while they are made, as lines of JSON over one answer that stays open; who closes it cancels the sampling.

The worker's rows are looked at from time to time, so that nobody watching costs nothing. Reads them in the HTTP thread: they only grow.
"""

from __future__ import annotations

import asyncio

from starlette.types import Receive, Scope, Send

from toolwise_engine.errors import user_error
from toolwise_engine.futures import Future, Futures
from toolwise_engine.wire import encode
from toolwise_engine.worker import Operation, Sampling, Worker

STREAM_MS = 40.0
"""Between two lines at least, where the client does not say."""

SHARE_SECONDS = 0.008
"""Between two lines at least for each stream that is open: many streams must not take the time in which their tokens are made."""


class SampleStream:
    """An answer of lines: parts with the tokens that are new, one entry a sample; the last line is what retrieve_future answers."""

    _open = 0
    """Streams that are open. HTTP thread only."""

    def __init__(self, futures: Futures, worker: Worker, future: Future, every: float) -> None:
        if future.sampling is None:
            raise user_error(f"Request {future.id} is no asample with stream true: its tokens cannot be watched.")
        self._futures = futures
        self._worker = worker
        self._future = future
        self._sampling: Sampling = future.sampling
        self._every = every
        self._told: list[int] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.ensure_future(_gone(receive))
        SampleStream._open += 1
        try:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/x-ndjson")]})
            while not gone.done():
                result = await self._futures.wait(self._future, self._until_next())
                if result is not None:
                    await send({"type": "http.response.body", "body": result + b"\n"})
                    return
                part = self._part()
                if part is not None:
                    await send({"type": "http.response.body", "body": encode(part) + b"\n", "more_body": True})
        finally:
            SampleStream._open -= 1
            gone.cancel()
            if self._future.result is None:
                self._worker.submit(Operation("stream_future", None, self._cancel))

    def _until_next(self) -> float:
        """Seconds until the next line. Streams of one pace come at the same time, so that the worker is interrupted once for all."""
        every = max(self._every, SHARE_SECONDS * SampleStream._open)
        return every - self._futures.loop.time() % every

    def _part(self) -> dict | None:
        """What is new; None where nothing is."""
        rows = self._sampling.request.rows
        self._told += [0] * (len(rows) - len(self._told))
        sequences = []
        for sample, row in enumerate(rows):
            first, count = self._told[sample], len(row.logprobs)
            begin = len(row.request.prompt)
            sequences.append({"tokens": row.tokens[begin + first : begin + count], "logprobs": row.logprobs[first:count]})
            self._told[sample] = count
        return {"type": "part", "sequences": sequences} if any(s["tokens"] for s in sequences) else None

    def _cancel(self) -> None:
        self._worker.cancel_samplings(lambda sampling: sampling is self._sampling, "asample was cancelled: its stream was closed.")


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
