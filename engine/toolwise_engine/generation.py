"""Continuous batching over all open requests."""

from __future__ import annotations

import torch

from toolwise_engine.sample_request import Finished, Lockstep, SampleRequest, Sequence

__all__ = ["Finished", "Generator", "Lockstep", "SampleRequest", "Sequence"]


class Generator:
    def __init__(self) -> None:
        self._open: list[SampleRequest] = []

    def submit(self, request: SampleRequest) -> None:
        self._open.append(request)

    def cancel(self, id: str) -> None:
        self._open = [r for r in self._open if r.id != id]

    def has_work(self) -> bool:
        return bool(self._open)

    @torch.no_grad()
    def step(self) -> list[Finished]:
        request = self._open.pop(0)
        sequences = []
        for index in range(request.num_samples):
            torch.manual_seed(request.seed + index)
            tokens, logprobs, reason = list(request.prompt), [], "length"
            for _ in range(request.max_tokens):
                lp = request.snapshot.network(torch.tensor([tokens])).logits[0, -1].float().log_softmax(-1)
                t = int(lp.argmax()) if request.temperature == 0 else int(torch.multinomial((lp / request.temperature).softmax(-1), 1))
                tokens.append(t)
                logprobs.append(float(lp[t]))
                if t in request.stop_token_ids:
                    reason = "stop"
                    break
            sequences.append(Sequence(tokens[len(request.prompt) :], logprobs, reason))
        return [Finished(request.id, sequences, request.snapshot.version)]
