"""The work that every side is given: conversations of two turns with a tool's text between, as token ids. Runs nothing; needs no library.

Every answer's length is set beforehand, so that all sides produce the same useful tokens; what a padded batch
decodes beyond them is not counted.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

FIRST_ID, LAST_ID = 100, 49_000
"""Ordinary tokens of the 49k vocabulary: no control tokens among them."""


@dataclass(slots=True)
class Conversation:
    """`prompt` is shared by the rollouts of one problem; `lengths` are the tokens to sample in turn one and two."""

    problem: int
    prompt: list[int]
    tool: list[int]
    lengths: tuple[int, int]
    answers: tuple[list[int], list[int]]
    """Made-up answers of these lengths, for a training pass without sampling."""


def arguments(description: str | None) -> argparse.ArgumentParser:
    """What all sides are told, so that all do the same."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folder", help="a Hugging Face folder")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--problems", type=int, default=8)
    parser.add_argument("--rollouts", type=int, default=8)
    parser.add_argument("--prompt", type=int, default=135, help="prompt tokens, of which two thirds are the same for all problems")
    parser.add_argument("--tool", type=int, default=24, help="tokens of the tool's text")
    parser.add_argument("--answer", type=int, default=32, help="tokens a turn, on average")
    parser.add_argument("--spread", type=float, default=0.5, help="a turn takes answer * (1 +- spread) tokens, uniformly")
    parser.add_argument("--repeats", type=int, default=1)
    return parser


def conversations(options: argparse.Namespace, seed: int) -> list[Conversation]:
    """problems x rollouts conversations; the same for the same options and seed, on every side."""
    rng = random.Random(seed)

    def some(count: int) -> list[int]:
        return [rng.randint(FIRST_ID, LAST_ID) for _ in range(count)]

    low, high = (max(1, round(options.answer * (1 + sign * options.spread))) for sign in (-1, 1))
    system = some(2 * options.prompt // 3)
    made = []
    for problem in range(options.problems):
        prompt = system + some(options.prompt - len(system))
        for _ in range(options.rollouts):
            lengths = rng.randint(low, high), rng.randint(low, high)
            made.append(Conversation(problem, prompt, some(options.tool), lengths, (some(lengths[0]), some(lengths[1]))))
    return made


def warm_up(options: argparse.Namespace) -> list[Conversation]:
    """A few short conversations with other prompts: libraries load their kernels, nothing measured lies in a cache afterwards."""
    small = argparse.Namespace(**{**vars(options), "problems": 2, "rollouts": min(2, options.rollouts), "answer": 4})
    return conversations(small, seed=99)


def useful(talks: list[Conversation]) -> int:
    """Sampled tokens that count."""
    return sum(sum(talk.lengths) for talk in talks)


def reward(tokens: list[int]) -> float:
    """A made-up reward that depends on what was sampled: the share of even ids."""
    return sum(token % 2 == 0 for token in tokens) / len(tokens)


def measure(what: str, system: str, work: Callable[[], int], **more: object) -> None:
    """One JSON line: what `work` counted, and the seconds it took."""
    print(f"{what}: {system}", file=sys.stderr, flush=True)
    begin = time.perf_counter()
    count = work()
    tell(what, system, count, time.perf_counter() - begin, **more)


def tell(what: str, system: str, tokens: int, seconds: float, **more: object) -> None:
    """One JSON line."""
    print(json.dumps({"what": what, "system": system, "tokens": tokens, "seconds": round(seconds, 3), **more}), flush=True)
