"""Our side: conversations through the generator, a whole RL step, and a training pass. In process, as the other sides are.

Run with the engine's folder on PYTHONPATH. Measures nothing about quality.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import torch
from toolwise_engine.generation import Generator, SampleRequest
from toolwise_engine.policy import AdamParams, Datum, Policy
from workload import Conversation, arguments, conversations, measure, reward, tell, useful, warm_up

Turns = list[tuple[list[int], list[float]]]
"""Tokens and log-probs of each turn of one conversation."""


def converse(policy: Policy, talks: list[Conversation], seed: int) -> list[Turns]:
    """A conversation asks for its second turn as soon as its first has ended, as a rollout does."""
    generator, snapshot = Generator(), policy.snapshot()
    turns: list[Turns] = [[] for _ in talks]

    def ask(i: int, prompt: list[int]) -> None:
        length = talks[i].lengths[len(turns[i])]
        generator.submit(SampleRequest(str(i), snapshot, prompt, max_tokens=length, seed=seed + 2 * i + len(turns[i])))

    for i, talk in enumerate(talks):
        ask(i, talk.prompt)
    while generator.has_work():
        for finished in generator.step():
            if finished.error is not None:
                raise RuntimeError(finished.error)
            i = int(finished.id)
            sampled = finished.sequences[0]
            turns[i].append((sampled.tokens, sampled.logprobs))
            if len(turns[i]) == 1:
                ask(i, talks[i].prompt + sampled.tokens + talks[i].tool)
    for talk, own in zip(talks, turns, strict=True):
        assert tuple(len(tokens) for tokens, _ in own) == talk.lengths
    return turns


def datum(talk: Conversation, turns: Turns, advantage: float) -> Datum:
    """One trajectory, targets shifted by one; weight 1 where the model sampled."""
    (first, first_logprobs), (second, second_logprobs) = turns
    tokens = talk.prompt + first + talk.tool + second
    sampled = [0.0] * len(talk.prompt) + [1.0] * len(first) + [0.0] * len(talk.tool) + [1.0] * len(second)
    old = [0.0] * len(talk.prompt) + first_logprobs + [0.0] * len(talk.tool) + second_logprobs
    return Datum(tokens[:-1], tokens[1:], sampled[1:], old[1:], [advantage * weight for weight in sampled[1:]])


def step(policy: Policy, talks: list[Conversation], seed: int, rollouts: int) -> tuple[float, float]:
    """Rollouts, advantages, gradient, update, publication. Seconds of generation and of training."""
    begin = time.perf_counter()
    turns = converse(policy, talks, seed)
    generated = time.perf_counter()
    rewards = [reward(own[0][0] + own[1][0]) for own in turns]
    data = []
    for at in range(0, len(talks), rollouts):
        group = rewards[at : at + rollouts]
        mean, deviation = statistics.fmean(group), statistics.pstdev(group) + 1e-4
        data += [datum(talks[at + i], turns[at + i], (score - mean) / deviation) for i, score in enumerate(group)]
    policy.forward_backward(data, "ppo", {"clip_low_threshold": 0.8, "clip_high_threshold": 1.2})
    policy.optim_step(AdamParams(learning_rate=1e-6))
    policy.snapshot()
    return generated - begin, time.perf_counter() - generated


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("part", choices=("generation", "step", "training"))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    policy = Policy.create(Path(options.folder), "bfloat16")
    converse(policy, warm_up(options), 99)
    for repeat in range(options.repeats):
        talks = conversations(options, seed=repeat)

        def generation(talks: list[Conversation] = talks) -> int:
            converse(policy, talks, 1)
            return useful(talks)

        def training(talks: list[Conversation] = talks) -> int:
            turns = [[(tokens, [0.0] * len(tokens)) for tokens in talk.answers] for talk in talks]
            data = [datum(talk, own, 1.0) for talk, own in zip(talks, turns, strict=True)]
            policy.forward_backward(data, "cross_entropy", {})
            policy.optim_step(AdamParams(learning_rate=1e-6))
            return sum(len(d.tokens) + 1 for d in data)

        if options.part == "step":
            generated, trained = step(policy, talks, 1, options.rollouts)
            tell("step", "engine", useful(talks), generated + trained, generation=generated, training=trained)
        else:
            measure(options.part, "engine", generation if options.part == "generation" else training)


if __name__ == "__main__":
    main()
