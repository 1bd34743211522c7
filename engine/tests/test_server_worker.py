"""The worker runs operations in order and before sampling, and one that fails takes no other with it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from toolwise_engine.base_model import BaseModel
from toolwise_engine.errors import server_error, user_error
from toolwise_engine.futures import Future, Futures
from toolwise_engine.sample_request import Finished, SampleRequest, Sequence
from toolwise_engine.samplers import Source
from toolwise_engine.sessions import Model
from toolwise_engine.worker import Operation, Sampling, Worker

BASE = BaseModel("tiny", None, "LlamaForCausalLM", 256, 256, 1, "", "float32")  # type: ignore[arg-type]


class ScriptedGenerator:
    """Stands in for the generator: takes `steps` steps for each request, and raises or fails where told."""

    def __init__(self, log: list[str], steps: int = 1, breaks: bool = False, never: bool = False) -> None:
        self.log, self.steps, self.breaks, self.never = log, steps, breaks, never
        self.open: dict[str, tuple[SampleRequest, int]] = {}

    def submit(self, request: SampleRequest) -> None:
        self.log.append(f"submit {request.seed}")
        self.open[request.id] = (request, self.steps)

    def cancel(self, id: str) -> None:
        self.log.append(f"cancel {self.open.pop(id)[0].seed}")

    def has_work(self) -> bool:
        return bool(self.open) and not self.never

    def step(self) -> list[Finished]:
        self.log.append("step")
        if self.breaks:
            raise ValueError("broken")
        done = []
        for id, (request, left) in list(self.open.items()):
            self.open[id] = (request, left - 1)
            if left == 1:
                del self.open[id]
                error = server_error("This request alone failed.") if request.seed == 99 else None
                done.append(Finished(id, [Sequence([1], [-0.5], "length")], 7, error=error))
        return done


class Bench:
    """A worker whose generator is scripted, in a loop of its own."""

    def __init__(self, log: list[str], **script: Any) -> None:
        self.futures = Futures(asyncio.get_running_loop())
        self.worker = Worker(self.futures, 1)
        self.worker.generator = ScriptedGenerator(log, **script)  # type: ignore[assignment]

    def operate(self, run: Callable[[], object], name: str = "optim_step", model: Model | None = None, always: bool = False) -> Future:
        future = self.futures.create()
        self.worker.submit(Operation(name, future, run, model, always))
        return future

    def sample(self, seed: int, source: Source | None = None, session_id: str | None = None) -> Future:
        future = self.futures.create()
        self.worker.submit(Sampling(future, SampleRequest("", None, [1], seed=seed), source or loaded(), session_id))  # type: ignore[arg-type]
        return future

    async def result(self, future: Future) -> dict:
        result = await self.futures.wait(future, 30)
        assert result is not None
        return json.loads(result)


def loaded(model: Model | None = None) -> Source:
    return Source(BASE, model=model, load=lambda: object())  # type: ignore[arg-type,return-value]


def new_model() -> Model:
    return Model("model_1", "session_1", BASE, True, True, True)


def with_bench(test: Callable[[Bench, list[str]], Any], **script: Any) -> None:
    log: list[str] = []

    async def run() -> None:
        bench = Bench(log, **script)
        try:
            await test(bench, log)
        finally:
            if not bench.worker._thread.is_alive():
                bench.worker.start()
            bench.worker.stop(30)

    asyncio.run(run())


def test_operations_run_in_order_and_before_the_generator_steps() -> None:
    async def test(bench: Bench, log: list[str]) -> None:
        sample = bench.sample(1)
        futures = [bench.operate(lambda number=number: log.append(f"run {number}")) for number in range(3)]
        bench.worker.start()
        await bench.result(sample)
        assert log == ["submit 1", "run 0", "run 1", "run 2", "step"]
        assert [await bench.result(future) for future in futures] == [None, None, None]

    with_bench(test)


def test_a_sample_is_answered_in_the_wires_form() -> None:
    async def test(bench: Bench, log: list[str]) -> None:
        bench.worker.start()
        assert await bench.result(bench.sample(1)) == {
            "type": "sample",
            "sequences": [{"stop_reason": "length", "tokens": [1], "logprobs": [-0.5]}],
            "prompt_logprobs": None,
            "policy_version": 7,
        }

    with_bench(test, steps=3)


def test_an_operation_that_fails_fails_alone(capfd: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise ValueError("of no use")

    async def test(bench: Bench, log: list[str]) -> None:
        bench.worker.start()
        failed, fine = bench.operate(fail, "forward_backward"), bench.operate(lambda: 1)
        assert await bench.result(failed) == {"error": "The engine failed in forward_backward: ValueError: of no use", "category": "server"}
        assert await bench.result(fine) == 1

    with_bench(test)
    assert 'raise ValueError("of no use")' in capfd.readouterr().err


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes")]
)
def test_lack_of_memory_is_told_as_such(error: Exception) -> None:
    def fail() -> None:
        raise error

    async def test(bench: Bench, log: list[str]) -> None:
        bench.worker.start()
        result = await bench.result(bench.operate(fail, "forward_backward"))
        assert result["category"] == "server"
        assert result["error"].startswith("The engine ran out of memory in forward_backward: send fewer or shorter sequences")

    with_bench(test)


def test_a_users_mistake_is_no_failure_of_the_engine(capfd: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise user_error("There is no gradient.")

    async def test(bench: Bench, log: list[str]) -> None:
        bench.worker.start()
        assert await bench.result(bench.operate(fail)) == {"error": "There is no gradient.", "category": "user"}

    with_bench(test)
    assert capfd.readouterr().err == ""


def test_one_request_may_fail_in_a_step_of_many() -> None:
    async def test(bench: Bench, log: list[str]) -> None:
        good, bad = bench.sample(1), bench.sample(99)
        bench.worker.start()
        assert await bench.result(bad) == {"error": "This request alone failed.", "category": "server"}
        assert (await bench.result(good))["policy_version"] == 7

    with_bench(test)


def test_a_step_that_breaks_fails_what_is_open_and_the_worker_goes_on() -> None:
    async def test(bench: Bench, log: list[str]) -> None:
        open_ones = [bench.sample(1), bench.sample(2)]
        bench.worker.start()
        for future in open_ones:
            assert (await bench.result(future))["error"] == "The engine failed in asample: ValueError: broken"
        assert await bench.result(bench.operate(lambda: 1)) == 1

    with_bench(test, breaks=True)


def test_weights_that_do_not_load_fail_the_request_that_needs_them() -> None:
    def fail() -> Any:
        raise OSError("damaged")

    async def test(bench: Bench, log: list[str]) -> None:
        bench.worker.start()
        assert (await bench.result(bench.sample(1, Source(BASE, load=fail))))["error"] == "The engine failed in asample: OSError: damaged"
        assert (await bench.result(bench.sample(2)))["policy_version"] == 7

    with_bench(test)


def test_what_is_queued_for_a_closed_model_does_not_run() -> None:
    async def test(bench: Bench, log: list[str]) -> None:
        model = new_model()
        queued, sampled = bench.operate(lambda: log.append("ran"), model=model), bench.sample(1, loaded(model))
        last = bench.operate(lambda: log.append("unloaded"), model=model, always=True)
        model.closed = "the model was unloaded"
        bench.worker.start()
        await bench.result(last)
        assert await bench.result(queued) == {"error": "optim_step did not run: the model was unloaded.", "category": "user"}
        assert await bench.result(sampled) == {"error": "asample did not run: the model was unloaded.", "category": "user"}
        assert log == ["unloaded"]

    with_bench(test)


def test_cancelling_ends_the_matching_samplings_only() -> None:
    async def test(bench: Bench, log: list[str]) -> None:
        mine, other = bench.sample(1, session_id="a"), bench.sample(2, session_id="b")
        bench.operate(lambda: bench.worker.cancel_samplings(lambda sampling: sampling.session_id == "a", "asample was cancelled."))
        bench.worker.start()
        assert await bench.result(mine) == {"error": "asample was cancelled.", "category": "user"}
        assert await bench.futures.wait(other, 0.05) is None
        assert log == ["submit 1", "submit 2", "cancel 1"]

    with_bench(test, never=True)
