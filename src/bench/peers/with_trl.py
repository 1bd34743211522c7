"""TRL's GRPO: whole steps of 8 x 8 rollouts of two turns, through its `rollout_func`, which generates as TRL's own paths do: plainly, or
by transformers' continuous batching (`use_transformers_continuous_batching`).

TRL's tool loop needs a model that calls tools; here the tool's text is given, and masked from the loss by `env_mask`. Weights are bfloat16,
the optimiser's too: less work than float32 masters. Gradient checkpointing off, no reference model, one update a step.
"""

from __future__ import annotations

import os
import tempfile
import time

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import torch  # noqa: E402
from datasets import Dataset  # noqa: E402
from transformers import AutoTokenizer, ContinuousBatchingConfig, GenerationConfig, TrainerCallback  # noqa: E402
from transformers.utils import logging  # noqa: E402
from trl import GRPOConfig, GRPOTrainer  # noqa: E402
from with_transformers import converse  # noqa: E402
from workload import Conversation, arguments, conversations, reward, tell, useful, warm_up  # noqa: E402

BATCH_TOKENS = 1024
"""Of one pass of continuous batching. Its time grows with this and with the cache, whatever is in them."""


class Clock(TrainerCallback):
    """Seconds of each optimiser step, rollouts included, and of its generation."""

    def __init__(self) -> None:
        self.begin = 0.0
        self.generation = 0.0
        self.steps: list[tuple[float, float]] = []

    def on_step_begin(self, *_: object, **__: object) -> None:
        self.begin, self.generation = time.perf_counter(), 0.0

    def on_step_end(self, *_: object, **__: object) -> None:
        self.steps.append((time.perf_counter() - self.begin, self.generation))


@torch.no_grad()
def converse_continuously(model: torch.nn.Module, talks: list[Conversation]) -> list[tuple[list[int], list[int]]]:
    """Each conversation asks for its second turn as soon as its first has ended; prompts that begin alike share memory."""
    turns: list[list[list[int]]] = [[] for _ in talks]
    sampling = GenerationConfig(do_sample=True, temperature=1.0, top_k=0, eos_token_id=-1, pad_token_id=0)
    attention = model.config._attn_implementation
    with model.continuous_batching_context_manager(
        sampling, continuous_batching_config=ContinuousBatchingConfig(num_blocks=2 * len(talks) + 16, max_batch_tokens=BATCH_TOKENS)
    ) as manager:

        def ask(i: int, prompt: list[int]) -> None:
            turn = len(turns[i])
            manager.add_request(prompt, request_id=f"{turn}-{i}", max_new_tokens=talks[i].lengths[turn], eos_token_id=-1)

        for i, talk in enumerate(talks):
            ask(i, talk.prompt)
        left = 2 * len(talks)
        while left:
            result = manager.get_result(timeout=120)
            if result is None or result.error is not None:
                raise RuntimeError(f"continuous batching gave {'nothing' if result is None else result.error}")
            if not result.is_finished():
                continue
            i, left = int(result.request_id.split("-")[1]), left - 1
            turns[i].append(list(result.generated_tokens))
            if len(turns[i]) == 1:
                ask(i, talks[i].prompt + turns[i][0] + talks[i].tool)
    model.set_attn_implementation(attention)
    for talk, own in zip(talks, turns, strict=True):
        assert tuple(map(len, own)) == talk.lengths
    return [(first, second) for first, second in turns]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--generation", choices=("plain", "continuous"), default="plain")
    options = parser.parse_args()
    generate = converse if options.generation == "plain" else converse_continuously
    torch.set_num_threads(options.threads)
    logging.disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(options.folder)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    clock, given = Clock(), [conversations(options, seed=repeat) for repeat in range(options.repeats)]

    def rollouts(prompts: list[str], trainer: GRPOTrainer) -> dict[str, object]:
        begin = time.perf_counter()
        talks = given[min(len(clock.steps), len(given) - 1)]
        queues: dict[int, list[Conversation]] = {}
        for talk in talks:
            queues.setdefault(talk.problem, []).append(talk)
        own = [queues[int(prompt)].pop(0) for prompt in prompts]
        model = trainer.model
        model.eval()
        answers = generate(model, own)
        model.train()
        clock.generation += time.perf_counter() - begin
        return {
            "prompt_ids": [talk.prompt for talk in own],
            "completion_ids": [first + talk.tool + second for talk, (first, second) in zip(own, answers, strict=True)],
            "logprobs": None,
            "env_mask": [
                [1] * len(first) + [0] * len(talk.tool) + [1] * len(second) for talk, (first, second) in zip(own, answers, strict=True)
            ],
        }

    def scores(completion_ids: list[list[int]], **_: object) -> list[float]:
        return [reward(tokens) for tokens in completion_ids]

    with tempfile.TemporaryDirectory() as folder:
        config = GRPOConfig(
            output_dir=folder,
            use_cpu=True,
            bf16=False,
            model_init_kwargs={"dtype": torch.bfloat16},
            gradient_checkpointing=False,
            per_device_train_batch_size=options.rollouts,
            gradient_accumulation_steps=options.problems,
            num_generations=options.rollouts,
            max_completion_length=4 * options.answer + options.tool,
            beta=0.0,
            temperature=1.0,
            learning_rate=1e-6,
            max_steps=options.repeats,
            logging_strategy="no",
            save_strategy="no",
            report_to="none",
            dataloader_pin_memory=False,
            disable_tqdm=True,
        )
        trainer = GRPOTrainer(
            model=options.folder,
            reward_funcs=scores,
            args=config,
            train_dataset=Dataset.from_dict({"prompt": [str(i) for i in range(options.problems)] * options.repeats}),
            processing_class=tokenizer,
            rollout_func=rollouts,
            callbacks=[clock],
        )
        generate(trainer.model, warm_up(options))
        trainer.train()
    for talks, (seconds, generation) in zip(given, clock.steps, strict=True):
        tell("step", "trl", useful(talks), seconds, generation=generation, training=seconds - generation, mode=options.generation)


if __name__ == "__main__":
    main()
