"""vLLM's CPU build: conversations through its own engine loop, prefix caching on.

Each conversation asks for its second turn as soon as its first has ended.
"""

from __future__ import annotations

import os

os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")

from vllm import EngineArgs, LLMEngine, SamplingParams, TokensPrompt  # noqa: E402
from vllm.sampling_params import RequestOutputKind  # noqa: E402
from workload import Conversation, arguments, conversations, measure, useful, warm_up  # noqa: E402


def converse(engine: LLMEngine, talks: list[Conversation], run: str) -> int:
    """Useful tokens. `run` keeps request ids apart. No log-probs are asked for: in vLLM's favour."""
    turns: list[list[list[int]]] = [[] for _ in talks]

    def ask(i: int, prompt: list[int]) -> None:
        length = talks[i].lengths[len(turns[i])]
        sampling = SamplingParams(
            max_tokens=length, ignore_eos=True, temperature=1.0, detokenize=False, output_kind=RequestOutputKind.FINAL_ONLY
        )
        engine.add_request(f"{run}-{len(turns[i])}-{i}", TokensPrompt(prompt_token_ids=prompt), sampling)

    for i, talk in enumerate(talks):
        ask(i, talk.prompt)
    while engine.has_unfinished_requests():
        for output in engine.step():
            if not output.finished:
                continue
            i = int(output.request_id.split("-")[2])
            turns[i].append(list(output.outputs[0].token_ids))
            if len(turns[i]) == 1:
                ask(i, talks[i].prompt + turns[i][0] + talks[i].tool)
    for talk, own in zip(talks, turns, strict=True):
        assert tuple(map(len, own)) == talk.lengths
    return useful(talks)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--eager", action="store_true", help="without torch.compile")
    options = parser.parse_args()
    engine = LLMEngine.from_engine_args(
        EngineArgs(
            model=options.folder,
            dtype="bfloat16",
            max_model_len=2048,
            max_num_seqs=options.problems * options.rollouts,
            enable_prefix_caching=True,
            enforce_eager=options.eager,
            disable_log_stats=True,
        )
    )
    converse(engine, warm_up(options), "warm")
    binding = os.environ.get("VLLM_CPU_OMP_THREADS_BIND", "auto")
    for repeat in range(options.repeats):
        talks = conversations(options, seed=repeat)
        measure("generation", "vllm", lambda talks=talks, run=repeat: converse(engine, talks, str(run)), binding=binding)


if __name__ == "__main__":
    main()
