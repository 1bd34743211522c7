"""One sample being made: its tokens so far and when it ends. No tensors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tokenizers import Tokenizer

from toolwise_engine.sample_request import SampleRequest, Sequence


@dataclass(eq=False, slots=True)
class Row:
    """`tokens` is the prompt and what was sampled after it."""

    request: SampleRequest
    sample: int
    limit: int
    tokens: list[int]
    logprobs: list[float] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)
    stopped: Literal["stop", "length"] | None = None
    stop_ids: frozenset[int] = frozenset()
    longest_stop: int = 0

    @classmethod
    def begin(cls, request: SampleRequest, sample: int, limit: int) -> Row:
        """The row of one sample, with nothing sampled yet."""
        longest = max((len(s.encode()) for s in request.stop_strings), default=0)
        return cls(request, sample, limit, list(request.prompt), stop_ids=frozenset(request.stop_token_ids), longest_stop=longest)

    def take(self, token: int, logprob: float, entropy: float | None, tokenizer: Tokenizer | None) -> bool:
        """Appends a sampled token. Returns whether the row has ended with it."""
        self.tokens.append(token)
        self.logprobs.append(logprob)
        if entropy is not None:
            self.entropies.append(entropy)
        if token in self.stop_ids or (self.longest_stop and self._meets_stop_string(tokenizer)):
            self.stopped = "stop"
        elif len(self.logprobs) >= self.limit:
            self.stopped = "length"
        return self.stopped is not None

    def _meets_stop_string(self, tokenizer: Tokenizer | None) -> bool:
        """A token is at least one byte, so a stop string that has just ended lies within its length in tokens, plus some margin."""
        assert tokenizer is not None
        tail = self.tokens[max(len(self.request.prompt), len(self.tokens) - self.longest_stop - 4) :]
        text = tokenizer.decode(tail, skip_special_tokens=False)
        return any(stop in text for stop in self.request.stop_strings)

    def sequence(self) -> Sequence:
        """The finished sample."""
        assert self.stopped is not None
        sampled = self.tokens[len(self.request.prompt) :]
        return Sequence(sampled, self.logprobs, self.stopped, self.entropies if self.request.entropy else None)
