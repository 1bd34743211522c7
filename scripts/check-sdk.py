"""Drives a running engine with the official Tinker client, unmodified: what training, sampling and listing give is checked against numbers.

Arguments: the engine's address and the model's name. The key is in TINKER_API_KEY. Prints one line for each thing that was done.
"""

from __future__ import annotations

import asyncio
import math
import sys

import numpy as np
import tinker
import torch
from tinker import types

URL, MODEL = sys.argv[1:3]
PROMPT, ANSWER = [5, 6, 7, 8, 9], [11, 12, 13, 14, 15, 16]


def version() -> tuple[int, ...]:
    return tuple(int(part) for part in tinker.__version__.split("."))


def done(what: str) -> None:
    print(f"ok  {what}", flush=True)


def datum(weighted: bool = False, **inputs: list[float]) -> types.Datum:
    tokens = PROMPT + ANSWER
    count = len(tokens) - 1
    padding = [0.0] * (count - len(ANSWER))
    fields = {name: types.TensorData.from_torch(torch.tensor(padding + values)) for name, values in inputs.items()}
    if weighted:
        fields["weights"] = types.TensorData.from_torch(torch.tensor(padding + [1.0] * len(ANSWER)))
    fields["target_tokens"] = types.TensorData.from_torch(torch.tensor(tokens[1:]))
    return types.Datum(model_input=types.ModelInput.from_ints(tokens[:-1]), loss_fn_inputs=fields)


def answer_logprobs(output: types.ForwardBackwardOutput, i: int = 0) -> np.ndarray:
    return np.asarray(output.loss_fn_outputs[i]["logprobs"].to_torch().tolist())[-len(ANSWER) :]


async def trains(client: tinker.TrainingClient) -> None:
    before = answer_logprobs(await client.forward([datum(weighted=True)], "cross_entropy"))
    for _ in range(4):
        backward = client.forward_backward([datum(weighted=True)] * 3, "cross_entropy")
        step = client.optim_step(types.AdamParams(learning_rate=0.01))
        output = await backward.result_async()
        await step.result_async()
    assert len(output.loss_fn_outputs) == 3
    after = answer_logprobs(await client.forward([datum(weighted=True)], "cross_entropy"))
    assert after.sum() > before.sum() + 0.5, (before, after)
    assert math.isclose(output.metrics["loss:sum"], -3 * answer_logprobs(output).sum(), rel_tol=1e-4), output.metrics
    done("cross_entropy: four updates raise the log-prob of what was trained; loss:sum is the sum")


async def policy_losses(client: tinker.TrainingClient) -> None:
    old = answer_logprobs(await client.forward([datum(weighted=True)], "cross_entropy"))
    shifted, advantages = old - 0.3, np.array([1.0, -1.0, 0.5, -0.5, 2.0, -2.0])
    ratio = np.exp(old - shifted)
    clipped = np.clip(ratio, 0.8, 1.28)
    expected = {
        "importance_sampling": (None, -(ratio * advantages).sum()),
        "ppo": ({"clip_low_threshold": 0.8, "clip_high_threshold": 1.28}, -np.minimum(ratio * advantages, clipped * advantages).sum()),
        "cispo": ({"clip_low_threshold": 0.8, "clip_high_threshold": 1.28}, -(clipped * advantages * old).sum()),
        "dro": ({"beta": 0.1}, -(advantages * old - 0.05 * (old - shifted) ** 2).sum()),
    }
    for name, (config, loss) in expected.items():
        data = [datum(logprobs=shifted.tolist(), advantages=advantages.tolist())]
        output = await client.forward_backward(data, name, config)
        # Positions of the prompt have advantage 0; only dro counts them besides, by their own log-prob.
        if name == "dro":
            whole = np.asarray(output.loss_fn_outputs[0]["logprobs"].to_torch().tolist())[: -len(ANSWER)]
            loss += 0.05 * (whole**2).sum()
        assert math.isclose(output.metrics["loss:sum"], loss, rel_tol=2e-3, abs_tol=2e-3), (name, output.metrics, loss)
        await client.optim_step(types.AdamParams(learning_rate=0.0))
        done(f"{name}: its value is the formula's")


async def custom_loss(client: tinker.TrainingClient) -> None:
    def squared(data: list[types.Datum], logprobs: list[torch.Tensor]) -> tuple[torch.Tensor, dict[str, float]]:
        loss = sum((lp[-len(ANSWER) :] ** 2).sum() for lp in logprobs)
        return loss, {"custom": float(loss.detach())}

    before = answer_logprobs(await client.forward([datum(weighted=True)], "cross_entropy"))
    output = await client.forward_backward_custom([datum(weighted=True)], squared)
    assert math.isclose(output.metrics["custom"], (before**2).sum(), rel_tol=1e-4), output.metrics
    await client.optim_step(types.AdamParams(learning_rate=0.003))
    for _ in range(12):  # The moments remember the losses before.
        await client.forward_backward_custom([datum(weighted=True)], squared)
        await client.optim_step(types.AdamParams(learning_rate=0.003))
    after = answer_logprobs(await client.forward([datum(weighted=True)], "cross_entropy"))
    assert (after**2).sum() < (before**2).sum()
    done("a custom loss in torch is descended")


async def samples(client: tinker.SamplingClient) -> None:
    prompt = types.ModelInput.from_ints(PROMPT)
    params = types.SamplingParams(max_tokens=8, temperature=0.0)
    greedy = await client.sample_async(prompt=prompt, sampling_params=params, num_samples=2)
    first, second = (list(sequence.tokens) for sequence in greedy.sequences)
    assert first == second and len(first) == 8
    scored = await client.compute_logprobs_async(types.ModelInput.from_ints(PROMPT + first))
    np.testing.assert_allclose(scored[len(PROMPT) :], greedy.sequences[0].logprobs, atol=2e-2)
    seeded = types.SamplingParams(max_tokens=8, temperature=1.0, seed=3, top_k=5, top_p=0.9, stop=[first[3]])
    one, two = [await client.sample_async(prompt=prompt, sampling_params=seeded, num_samples=1) for _ in range(2)]
    assert list(one.sequences[0].tokens) == list(two.sequences[0].tokens)
    many = await asyncio.gather(*(client.sample_async(prompt=prompt, sampling_params=seeded, num_samples=1) for _ in range(16)))
    assert all(len(answer.sequences) == 1 for answer in many)
    done("samples: greedy, seeded, with stop ids, their log-probs, sixteen at once")


async def main() -> None:
    service = tinker.ServiceClient(base_url=URL)
    capabilities = await service.get_server_capabilities_async()
    assert MODEL in [model.model_name for model in capabilities.supported_models]
    done("capabilities")
    client = await service.create_lora_training_client_async(base_model=MODEL, rank=4, seed=1)
    info = client.get_info()
    assert (info.is_lora, info.lora_rank, info.model_name) == (True, 4, MODEL)
    done("a LoRA training client")
    await trains(client)
    await policy_losses(client)
    await custom_loss(client)
    saved = await client.save_state("state")
    published = await client.save_weights_for_sampler("sampler")
    before = answer_logprobs(await client.forward([datum(weighted=True)], "cross_entropy"))
    await samples(service.create_sampling_client(model_path=published.path))
    await samples(await client.save_weights_and_get_sampling_client_async())
    await samples(service.create_sampling_client(base_model=MODEL))
    again = await service.create_training_client_from_state_async(saved.path)
    loaded = answer_logprobs(await again.forward([datum(weighted=True)], "cross_entropy"))
    np.testing.assert_allclose(loaded, before, atol=1e-5)
    await client.load_state_with_optimizer(saved.path)
    done("save, load, load with the optimizer's state, a client from a state")
    await lists(service, saved.path, published.path)
    print(f"tinker {tinker.__version__}: all of it")


async def lists(service: tinker.ServiceClient, saved: str, published: str) -> None:
    rest = service.create_rest_client()
    run_id = saved.removeprefix("tinker://").split("/")[0]
    runs = await rest.list_training_runs_async()
    assert run_id in [run.training_run_id for run in runs.training_runs] and runs.cursor.total_count >= 1
    run = await rest.get_training_run_async(run_id)
    assert (run.base_model, run.is_lora, run.lora_rank) == (MODEL, True, 4)
    own = await rest.list_checkpoints_async(run_id)
    assert {saved, published} <= {checkpoint.tinker_path for checkpoint in own.checkpoints}
    everyones = await rest.list_user_checkpoints_async(limit=1)
    assert len(everyones.checkpoints) == 1 and everyones.cursor.total_count >= 2
    weights = await rest.get_weights_info_by_tinker_path(saved)
    assert (weights.base_model, weights.lora_rank) == (MODEL, 4)
    sessions = [await rest.get_session_async(id) for id in (await rest.list_sessions_async()).sessions]
    assert any(run_id in session.training_run_ids for session in sessions)
    await rest.delete_checkpoint_from_tinker_path_async(published)
    left = await rest.list_checkpoints_async(run_id)
    assert published not in {checkpoint.tinker_path for checkpoint in left.checkpoints}
    done("listings of runs, checkpoints and sessions; deleting a checkpoint")


if __name__ == "__main__":
    asyncio.run(main())
