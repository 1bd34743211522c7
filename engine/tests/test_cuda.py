"""A GPU's path: on a second device that is played, on torch's own description of a GPU's kernels, and, where there is one, on a GPU."""

import random
from pathlib import Path

import numpy as np
import pytest
import torch
from second_device import TwoDevices, second_device
from test_policy import tree_data
from tiny_models import VOCABULARY, write_model

from toolwise_engine import attention, device, memory
from toolwise_engine.errors import EngineError
from toolwise_engine.generation import Generator, SampleRequest
from toolwise_engine.policy import AdamParams, Policy
from toolwise_engine.precision import choose_dtype

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@pytest.fixture(autouse=True)
def roomy(monkeypatch):
    """The played device has memory, and no kernel is remembered from another test."""
    if not torch.cuda.is_available():
        monkeypatch.setattr(memory, "free_memory", lambda where: 8 << 30)
    attention.fused_kernel.cache_clear()
    yield
    attention.fused_kernel.cache_clear()


def some(length: int, seed: int) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(VOCABULARY) for _ in range(length)]


def whole_path(folder: Path, where: str, kept: Path, dtype: str = "float32", rank: int = 0) -> dict:
    """Everything an engine does with a model: two updates with a checkpoint between, scoring, and two turns of sampling."""
    policy = Policy.create(folder, dtype, rank=rank, seed=3, device=where)
    data = tree_data()
    _, first = policy.forward_backward(data, "ppo", {})
    norms = [policy.optim_step(AdamParams(1e-3, grad_clip_norm=1.0))["grad_norm"]]
    policy.save(kept, optimizer=True)
    policy.load(kept, optimizer=True)
    logprobs, second = policy.forward_backward(data, "cross_entropy", {})
    norms.append(policy.optim_step(AdamParams(1e-3))["grad_norm"])
    scored = policy.forward(data)
    generator, snapshot, system, answers, sampled = Generator(device=where), policy.snapshot(), some(50, 0), {}, {}
    settings = [(0.0, 1.0, -1), (1.0, 1.0, -1), (0.7, 1.0, -1), (1.0, 0.9, 5)]
    for turn in ("a", "b"):
        for i, (temperature, top_p, top_k) in enumerate(settings):
            prompt = system + some(5 + i, i) + (answers[f"a{i}"] + some(4, 9) if turn == "b" else [])
            options = dict(num_samples=3, max_tokens=12, seed=i, entropy=i == 1, prompt_logprobs=i == 2)
            request = SampleRequest(f"{turn}{i}", snapshot, prompt, temperature=temperature, top_p=top_p, top_k=top_k, **options)
            generator.submit(request)
        while generator.has_work():
            for done in generator.step():
                if done.error is not None:
                    raise done.error
                answers[done.id] = done.sequences[0].tokens
                sampled[done.id] = (done.sequences, done.prompt_logprobs)
    return {"losses": [first["loss:sum"], second["loss:sum"]], "norms": norms, "logprobs": [*logprobs, *scored], "sampled": sampled}


def assert_same(got: dict, wanted: dict) -> None:
    np.testing.assert_allclose(got["losses"], wanted["losses"], rtol=1e-4)
    np.testing.assert_allclose(got["norms"], wanted["norms"], rtol=1e-3)
    for a, b in zip(got["logprobs"], wanted["logprobs"], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-3)
    assert got["sampled"].keys() == wanted["sampled"].keys()
    for key, (sequences, scored) in wanted["sampled"].items():
        own, own_scored = got["sampled"][key]
        assert [s.tokens for s in own] == [s.tokens for s in sequences]
        for a, b in zip(own, sequences, strict=True):
            np.testing.assert_allclose(a.logprobs, b.logprobs, atol=1e-3)
        assert (own_scored is None) == (scored is None)


@pytest.mark.parametrize(("kind", "rank"), [("llama", 0), ("qwen2", 0), ("qwen3", 0), ("neox", 0), ("qwen3", 4)])
def test_no_operation_meets_two_devices_and_the_numbers_stay(tmp_path, kind, rank):
    folder = write_model(tmp_path / "m", kind)
    wanted = whole_path(folder, "cpu", tmp_path / "cpu", rank=rank)
    with second_device() as elsewhere:
        got = whole_path(folder, elsewhere.type, tmp_path / "elsewhere", rank=rank)
    assert_same(got, wanted)


def test_the_played_device_refuses_what_a_gpu_refuses():
    with second_device() as elsewhere:
        x = torch.ones(3, 2, device=elsewhere)
        with pytest.raises(TwoDevices):
            x + torch.ones(3, 2)
        with pytest.raises(TwoDevices):
            x.index_select(0, torch.tensor([0]))
        with pytest.raises(TypeError, match="numpy"):
            x.numpy()
        assert (x + torch.tensor(1.0)).cpu().tolist() == [[2.0, 2.0]] * 3
        assert torch.tensor([4, 5], device=elsewhere).tolist() == [4, 5]


def mass_arguments(masked: bool) -> tuple:
    generator = torch.Generator().manual_seed(2)
    q, k, v = (torch.randn(2, 3, n, 16, generator=generator) for n in (5, 13, 13))
    mask = torch.where(torch.rand(2, 1, 5, 13, generator=generator) < 0.5, 0.0, float("-inf")) if masked else None
    if mask is not None:
        mask[..., 0] = 0.0
    return q, k, v, mask, 0.25


@pytest.mark.parametrize("masked", [False, True])
def test_the_plain_attention_equals_the_cpus(masked):
    arguments = mass_arguments(masked)
    for got, wanted in zip(attention.plain(*arguments), attention.attend_with_mass(*arguments), strict=True):
        torch.testing.assert_close(got, wanted)


def test_a_kernel_is_used_only_where_it_gives_the_right_numbers(monkeypatch):
    cpu = torch.device("cpu")

    def wrong(*arguments):
        out, mass = attention.plain(*arguments)
        return out, mass / 2

    def broken(*arguments):
        raise RuntimeError("no kernel for this head size")

    def right(*arguments):
        return attention.plain(*arguments)

    for masked in (False, True):
        monkeypatch.setattr(attention, "efficient", wrong)
        monkeypatch.setattr(attention, "flash", broken)
        attention.fused_kernel.cache_clear()
        assert attention.fused_kernel(cpu, torch.float32, 16, masked) is attention.plain
        monkeypatch.setattr(attention, "efficient", right)
        attention.fused_kernel.cache_clear()
        assert attention.fused_kernel(cpu, torch.bfloat16, 16, masked) is right


@pytest.mark.parametrize(
    ("kernel", "dtype", "masked"), [("flash", "bfloat16", False), ("efficient", "bfloat16", True), ("efficient", "float32", True)]
)
def test_the_fused_kernels_take_what_they_are_given(kernel, dtype, masked):
    """By torch's own description of them: arguments and shapes are checked, nothing is computed."""
    q, k, v = (torch.empty(4, 3, n, 64, dtype=getattr(torch, dtype), device="meta") for n in (6, 77, 77))
    mask = torch.empty(4, 1, 6, 80, dtype=q.dtype, device="meta")[..., :77] if masked else None
    out, mass = getattr(attention, kernel)(q, k, v, mask, 0.125)
    assert out.shape == (4, 3, 6, 64) and out.dtype == q.dtype
    assert mass.shape == (4, 3, 6) and mass.dtype == torch.float32


def test_a_mask_is_laid_out_as_the_fused_kernels_want_it():
    with second_device() as elsewhere:
        mask = attention.aligned(torch.ones(4, 1, 6, 77, device=elsewhere))
        assert mask.shape == (4, 1, 6, 77) and all(step % 8 == 0 for step in mask.stride()[:-1])
        assert mask.cpu().sum() == 4 * 6 * 77


def test_a_device_is_chosen(monkeypatch):
    assert device.choose_device("cpu") == "cpu"
    monkeypatch.setattr(device, "has_driver", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert device.choose_device("auto") == "cpu"
    with pytest.raises(EngineError, match="--device cuda: torch .* cannot use a GPU"):
        device.choose_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert device.choose_device("auto") == device.choose_device("cuda") == "cuda"
    monkeypatch.setattr(device, "has_driver", lambda: False)
    assert device.choose_device("auto") == "cpu"


@pytest.mark.parametrize(("parameters", "able", "dtype"), [(10**8, True, "bfloat16"), (10**8, False, "float32"), (10**6, True, "float32")])
def test_the_precision_on_a_gpu(monkeypatch, parameters, able, dtype):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: able)
    assert choose_dtype("auto", parameters, frozenset(), "cuda") == dtype


def test_the_share_of_a_gpus_memory_is_of_what_is_free(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda where: 80 << 30)
    gpu = torch.device("cuda")
    assert memory.share(gpu) == 20 << 30
    assert memory.share(gpu, reserved=40 << 30) == 10 << 30
    assert memory.share(gpu, reserved=90 << 30) == memory.LEAST


@needs_cuda
@pytest.mark.parametrize(("kind", "rank"), [("llama", 0), ("qwen3", 0), ("qwen3", 4)])
def test_a_gpu_gives_the_cpus_numbers(tmp_path, kind, rank):
    folder = write_model(tmp_path / "m", kind)
    assert_same(whole_path(folder, "cuda", tmp_path / "cuda", rank=rank), whole_path(folder, "cpu", tmp_path / "cpu", rank=rank))


@needs_cuda
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_a_gpu_has_a_fused_kernel_with_its_mass(dtype, masked):
    assert attention.fused_kernel(torch.device("cuda"), dtype, 64, masked) is not attention.plain


@needs_cuda
def test_a_gpu_trains_and_samples_in_bfloat16(tmp_path):
    folder = write_model(tmp_path / "m", "qwen3")
    got, wanted = (whole_path(folder, where, tmp_path / where, dtype="bfloat16") for where in ("cuda", "cpu"))
    np.testing.assert_allclose(got["losses"], wanted["losses"], rtol=0.05)
