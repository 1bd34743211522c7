"""Runs the public cookbook's one-file loops, as they are, against a running engine: 4 prompts x 4 samples, two steps of each.

What the loops would fetch is given to them before they start: data sets of eight rows, the tokenizer of a local model, a renderer. Their
code is the package's own. Arguments: the engine's address, the model's name, its folder, a folder for logs; TINKER_API_KEY has the key.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import datasets
import tinker_cookbook.recipes.rl_loop as rl_loop
import tinker_cookbook.recipes.sl_loop as sl_loop
from tinker_cookbook import model_info
from tinker_cookbook.renderers import register_renderer
from tinker_cookbook.renderers.role_colon import RoleColonRenderer
from tinker_cookbook.tokenizer_utils import register_tokenizer
from transformers import PreTrainedTokenizerFast

URL, MODEL, FOLDER, LOGS = sys.argv[1:5]
RENDERER = "toolwise/every-other-is-right"
ROWS = 8


class EveryOtherIsRight(RoleColonRenderer):
    """A random model answers nothing: every second answer is read as the right one, so that each group has something to learn from."""

    parsed = 0

    def parse_response(self, response: list[int]) -> Any:
        message, termination = super().parse_response(response)
        EveryOtherIsRight.parsed += 1
        return {**message, "content": f"\\boxed{{{EveryOtherIsRight.parsed % 2}}}"}, termination


def local_rows(name: str, *_: object, **__: object) -> datasets.DatasetDict:
    if name == "openai/gsm8k":
        rows = [{"question": f"What is {i} + 1 - {i}?", "answer": "It is 1.\n#### 1"} for i in range(ROWS)]
    else:
        said = [{"role": "user", "content": "What is 2 + 3?"}, {"role": "assistant", "content": "2 + 3 = 5"}]
        rows = [{"messages": said}] * ROWS
    return datasets.DatasetDict({"train": datasets.Dataset.from_list(rows)})


def metrics(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def done(what: str) -> None:
    print(f"ok  {what}", flush=True)


def run(loop: Any, name: str, **config: Any) -> list[dict[str, float]]:
    """One run of a loop's main. A checkpoint is made after the first step, without a time to live."""
    folder = Path(LOGS) / name
    settings = {"base_url": URL, "log_path": str(folder), "model_name": MODEL, "batch_size": 4, "lora_rank": 4}
    loop.main(loop.Config(**settings, save_every=1, ttl_seconds=None, max_steps=2, **config))
    saved = [json.loads(line) for line in (folder / "checkpoints.jsonl").read_text().splitlines()]
    assert [record["name"] for record in saved] == ["000001", "final"], saved
    assert saved[1]["state_path"].startswith("tinker://") and saved[1]["sampler_path"].startswith("tinker://"), saved
    steps = metrics(folder)
    assert len(steps) == 2 and all(step["grad_norm"] > 0 for step in steps), steps
    loop.main(loop.Config(**settings, save_every=0, max_steps=2, **config))
    assert len(metrics(folder)) == 2
    return steps


def main() -> None:
    datasets.load_dataset = local_rows
    register_tokenizer(MODEL, lambda: PreTrainedTokenizerFast(tokenizer_file=f"{FOLDER}/tokenizer.json", eos_token="<|end|>"))
    register_renderer(RENDERER, lambda tokenizer, *_: EveryOtherIsRight(tokenizer))
    model_info.get_recommended_renderer_name = lambda name: RENDERER
    first, second = run(sl_loop, "sl_loop", learning_rate=0.01)
    assert second["train_mean_nll"] < first["train_mean_nll"], (first, second)
    done("sl_loop: two steps of four conversations, checkpoints, resumption; the loss falls")
    losses = ["importance_sampling", "cispo"] if hasattr(rl_loop.Config(), "loss_fn") else [None]
    for loss in losses:
        steps = run(rl_loop, f"rl_loop-{loss}", group_size=4, max_tokens=12, **({"loss_fn": loss} if loss else {}))
        assert all(step["reward/total"] == 0.5 for step in steps), steps
        done(f"rl_loop{f' with {loss}' if loss else ''}: two steps of four groups of four, checkpoints, resumption")
    print(f"tinker-cookbook {version('tinker-cookbook')}: both loops")


if __name__ == "__main__":
    main()
