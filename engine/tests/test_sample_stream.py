"""The extension `stream`: tokens while they are made, and a sampling that ends with its stream."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
from engine_process import CONTEXT, EngineProcess, make_tiny_model, sample_body

BASE = {"base_model": "tiny"}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineProcess]:
    model = make_tiny_model(tmp_path_factory.mktemp("model"))
    with EngineProcess(model, tmp_path_factory.mktemp("checkpoints"), "--poll-seconds", "0.5") as process:
        yield process


def long_sample(**more: object) -> dict:
    return {**sample_body(BASE, max_tokens=CONTEXT - 3), **more}


def lines_of(engine: EngineProcess, request_id: str, every_ms: float = 1.0) -> list[dict]:
    with engine.client.stream("POST", "stream_future", json={"request_id": request_id, "every_ms": every_ms}) as answer:
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
        return [json.loads(line) for line in answer.iter_lines()]


def test_it_is_named(engine: EngineProcess) -> None:
    assert "stream" in engine.client.get("get_server_capabilities").json()["toolwise"]["extensions"]


def test_the_parts_are_the_beginning_of_the_result(engine: EngineProcess) -> None:
    body = {**long_sample(stream=True), "num_samples": 2}
    *parts, result = lines_of(engine, engine.ok("asample", body)["request_id"])
    assert len(parts) > 1
    assert {part["type"] for part in parts} == {"part"}
    whole = engine.run("asample", {**body, "stream": False})
    assert [s["tokens"] for s in result["sequences"]] == [s["tokens"] for s in whole["sequences"]]
    for sample in range(2):
        told = [part["sequences"][sample] for part in parts]
        tokens = [token for entry in told for token in entry["tokens"]]
        logprobs = [value for entry in told for value in entry["logprobs"]]
        assert len(tokens) == len(logprobs) > 0
        assert tokens == result["sequences"][sample]["tokens"][: len(tokens)]
        assert logprobs == result["sequences"][sample]["logprobs"][: len(logprobs)]


def test_a_result_that_is_there_already_is_the_only_line(engine: EngineProcess) -> None:
    request_id = engine.ok("asample", {**sample_body(BASE), "stream": True})["request_id"]
    result = engine.fetch(request_id)
    assert lines_of(engine, request_id) == [result]


def test_a_failure_is_the_last_line(engine: EngineProcess) -> None:
    model = engine.new_model()
    session = engine.run("save_weights_for_sampler", {"model_id": model})["sampling_session_id"]
    body = {**sample_body({"sampling_session_id": session}), "lockstep": {"key": "alone", "size": 2, "index": 0}, "stream": True}
    request_id = engine.ok("asample", body)["request_id"]
    engine.run("unload_model", {"model_id": model})
    [failure] = lines_of(engine, request_id)
    assert failure["category"] == "user"
    assert failure["error"].endswith("the model was unloaded.")


def test_closing_the_stream_cancels(engine: EngineProcess) -> None:
    # Its partner never comes, so that it would wait for ever.
    body = {**sample_body(BASE), "lockstep": {"key": "closed", "size": 2, "index": 0}, "stream": True}
    request_id = engine.ok("asample", body)["request_id"]
    with engine.client.stream("POST", "stream_future", json={"request_id": request_id}):
        pass
    deadline = time.monotonic() + 30
    result = engine.ok("retrieve_future", {"request_id": request_id})
    while result.get("type") == "try_again" and time.monotonic() < deadline:
        result = engine.ok("retrieve_future", {"request_id": request_id})
    assert result == {"error": "asample was cancelled: its stream was closed.", "category": "user"}


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ({"request_id": "abcdefgh-1"}, 404, "is not known"),
        ({}, 400, "request_id"),
        ({"request_id": "ID", "every_ms": 0}, 400, "every_ms"),
        ({"request_id": "ID"}, 400, "is no asample with stream true"),
    ],
)
def test_what_cannot_be_watched_is_refused(engine: EngineProcess, body: dict, status: int, sentence: str) -> None:
    if body.get("request_id") == "ID":
        body = {**body, "request_id": engine.ok("asample", sample_body(BASE))["request_id"]}
    answered, detail = engine.refused("stream_future", body)
    assert answered == status
    assert sentence in detail
