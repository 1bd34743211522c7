"""Plain transformers: `generate` turn by turn, all conversations in one left-padded batch; a padded training loop."""

from __future__ import annotations

import torch
from transformers import AutoModelForCausalLM, StoppingCriteria, StoppingCriteriaList
from transformers.utils import logging
from workload import Conversation, arguments, conversations, measure, useful, warm_up

TRAINED = 8
"""Sequences of one padded batch in training."""


class Lengths(StoppingCriteria):
    """Each row ends after its own number of tokens; the batch, with its longest."""

    def __init__(self, start: int, lengths: list[int]) -> None:
        self._ends = torch.tensor(lengths) + start

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **kwargs: object) -> torch.Tensor:
        return self._ends <= input_ids.shape[1]


@torch.no_grad()
def generate(model: torch.nn.Module, prompts: list[list[int]], lengths: list[int]) -> list[list[int]]:
    """One turn of all conversations."""
    longest = max(map(len, prompts))
    ids = torch.tensor([[0] * (longest - len(prompt)) + prompt for prompt in prompts])
    mask = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts])
    out = model.generate(
        ids,
        attention_mask=mask,
        do_sample=True,
        top_k=0,
        temperature=1.0,
        max_new_tokens=max(lengths),
        eos_token_id=None,
        pad_token_id=0,
        stopping_criteria=StoppingCriteriaList([Lengths(longest, lengths)]),
    )
    return [row[longest : longest + length].tolist() for row, length in zip(out, lengths, strict=True)]


def converse(model: torch.nn.Module, talks: list[Conversation]) -> list[tuple[list[int], list[int]]]:
    """Both turns, one after the other; the second computes the whole conversation again."""
    first = generate(model, [talk.prompt for talk in talks], [talk.lengths[0] for talk in talks])
    prompts = [talk.prompt + answer + talk.tool for talk, answer in zip(talks, first, strict=True)]
    second = generate(model, prompts, [talk.lengths[1] for talk in talks])
    for talk, *answers in zip(talks, first, second, strict=True):
        assert tuple(map(len, answers)) == talk.lengths
    return list(zip(first, second, strict=True))


def train(model: torch.nn.Module, optimizer: torch.optim.Optimizer, talks: list[Conversation]) -> int:
    """Forward, backward and AdamW over two-turn sequences, loss where the model would have sampled."""
    rows = []
    for talk in talks:
        first, second = talk.answers
        tokens = talk.prompt + first + talk.tool + second
        labels = [-100] * len(talk.prompt) + first + [-100] * len(talk.tool) + second
        rows.append((tokens, labels))
    for begin in range(0, len(rows), TRAINED):
        part = rows[begin : begin + TRAINED]
        longest = max(len(tokens) for tokens, _ in part)
        ids = torch.tensor([tokens + [0] * (longest - len(tokens)) for tokens, _ in part])
        mask = torch.tensor([[1] * len(tokens) + [0] * (longest - len(tokens)) for tokens, _ in part])
        labels = torch.tensor([own + [-100] * (longest - len(own)) for _, own in part])
        model(input_ids=ids, attention_mask=mask, labels=labels, use_cache=False).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return sum(len(tokens) for tokens, _ in rows)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("part", choices=("generation", "training"))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    logging.disable_progress_bar()
    model = AutoModelForCausalLM.from_pretrained(options.folder, dtype=torch.bfloat16)
    if options.part == "generation":
        converse(model, warm_up(options))
        for repeat in range(options.repeats):
            talks = conversations(options, seed=repeat)
            measure("generation", "transformers", lambda talks=talks: (converse(model, talks), useful(talks))[1])
    else:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6)
        train(model, optimizer, warm_up(options))
        for repeat in range(options.repeats):
            talks = conversations(options, seed=repeat)
            measure("training", "transformers", lambda talks=talks: train(model, optimizer, talks))


if __name__ == "__main__":
    main()
