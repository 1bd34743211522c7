"""Speed of the engine beside plain transformers, as JSON lines: `python bench.py MODEL_FOLDER [--dtype bfloat16] [--threads 2]`.

Generation: groups of 8 samples that share a system prompt and a question. Plain: `generate` of the same prompts with its own cache.
Training: forward, backward and AdamW over the same sequences. Plain: one padded batch after another. Measures nothing about quality.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM
from transformers.utils import logging

from toolwise_engine.generation import Generator, SampleRequest
from toolwise_engine.policy import AdamParams, Datum, Policy

SYSTEM, QUESTION, ANSWER, SAMPLES = 90, 45, 140, 8
PLAIN_BATCH = 8


def report(**entry: object) -> None:
    """One JSON line."""
    print(json.dumps(entry), flush=True)


def timed(work: Callable[[], int]) -> tuple[int, float]:
    """What `work` counted, and the seconds it took."""
    begin = time.perf_counter()
    count = work()
    return count, time.perf_counter() - begin


def measure(what: str, system: str, work: Callable[[], int], **more: object) -> None:
    """Reports tokens a second."""
    count, seconds = timed(work)
    report(what=what, system=system, tokens=count, seconds=round(seconds, 2), tokens_per_second=round(count / seconds, 1), **more)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--dtype", choices=("bfloat16", "float32"), default="bfloat16")
    arguments.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments.add_argument("--rows", type=int, default=64, help="samples decoded at once")
    arguments.add_argument("--new-tokens", type=int, default=32, help="tokens a sample")
    arguments.add_argument("--groups", type=int, default=1, help="groups of 8 sequences to train on")
    options = arguments.parse_args()
    torch.set_num_threads(options.threads)
    logging.disable_progress_bar()
    policy = Policy.create(options.folder, options.dtype)
    plain = AutoModelForCausalLM.from_pretrained(options.folder, dtype=getattr(torch, options.dtype))
    rng = random.Random(1)

    def some(count: int) -> list[int]:
        return [rng.randrange(plain.config.vocab_size) for _ in range(count)]

    system = some(SYSTEM)
    prompts = [system + some(QUESTION) for _ in range(max(1, options.rows // SAMPLES))]

    def engine_generates() -> int:
        generator, snapshot = Generator(), policy.snapshot()
        for i, prompt in enumerate(prompts):
            generator.submit(SampleRequest(str(i), snapshot, prompt, SAMPLES, options.new_tokens, seed=i))
        count = 0
        while generator.has_work():
            count += sum(len(s.tokens) for finished in generator.step() for s in finished.sequences)
        return count

    def plain_generates() -> int:
        ids = torch.tensor([prompt for prompt in prompts for _ in range(SAMPLES)])
        lengths = dict(max_new_tokens=options.new_tokens, min_new_tokens=options.new_tokens)
        out = plain.generate(ids, attention_mask=torch.ones_like(ids), do_sample=True, top_k=0, pad_token_id=0, **lengths)
        return out[:, ids.shape[1] :].numel()

    sequences = []
    for _ in range(options.groups):
        question = system + some(QUESTION)
        sequences += [question + some(rng.randrange(ANSWER // 2, 3 * ANSWER // 2)) for _ in range(SAMPLES)]
    first = SYSTEM + QUESTION - 1

    def engine_trains() -> int:
        weights = [[float(i >= first) for i in range(len(s) - 1)] for s in sequences]
        policy.forward_backward([Datum(s[:-1], s[1:], w) for s, w in zip(sequences, weights, strict=True)], "cross_entropy", {})
        policy.optim_step(AdamParams(learning_rate=1e-5))
        return sum(len(s) for s in sequences)

    optimizer = torch.optim.AdamW(plain.parameters(), lr=1e-5)

    def plain_trains() -> int:
        for begin in range(0, len(sequences), PLAIN_BATCH):
            batch = sequences[begin : begin + PLAIN_BATCH]
            longest = max(map(len, batch))
            ids = torch.tensor([s + [0] * (longest - len(s)) for s in batch])
            mask = torch.tensor([[1] * len(s) + [0] * (longest - len(s)) for s in batch])
            labels = ids.masked_fill(mask == 0, -100)
            labels[:, : first + 1] = -100
            plain(input_ids=ids, attention_mask=mask, labels=labels, use_cache=False).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return sum(len(s) for s in sequences)

    report(what="setting", model=str(options.folder), dtype=options.dtype, threads=options.threads, torch=torch.__version__)
    for name, work in (("engine", engine_generates), ("transformers", plain_generates)):
        measure("generation", name, work, rows=len(prompts) * SAMPLES)
    for name, work in (("engine", engine_trains), ("transformers", plain_trains)):
        measure("training", name, work, sequences=len(sequences))


if __name__ == "__main__":
    main()
