"""The protobuf side of the wire: the same requests and results as in JSON, and refusals by one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest
import zstandard
from engine_process import KEY, EngineProcess, datum, make_tiny_model, train_body

from toolwise_engine import app, proto
from toolwise_engine.errors import EngineError

MESSAGE = {"Content-Type": proto.CONTENT_TYPE}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineProcess]:
    folder = tmp_path_factory.mktemp("engine")
    with EngineProcess(make_tiny_model(folder / "tiny"), folder / "checkpoints") as process:
        yield process


def message_of(body: dict, forward_only: bool = False) -> bytes:
    """A JSON training body as the official client writes it."""
    inputs = body["forward_backward_input"]
    message: Any = proto._types()["ForwardBackwardRequest"]()
    message.model_id, message.seq_id, message.loss_fn = body["model_id"], body.get("seq_id", 0), inputs["loss_fn"]
    message.forward_only = forward_only
    for key, value in (inputs.get("loss_fn_config") or {}).items():
        message.loss_fn_config[key] = value
        message.loss_fn_config_v2[key].number = value
    for one in inputs["data"]:
        entry = message.data.add()
        for chunk in one["model_input"]["chunks"]:
            entry.model_input.add().encoded_text.tokens = np.asarray(chunk["tokens"], "<i4").tobytes()
        for name, tensor in one["loss_fn_inputs"].items():
            kind = "<i8" if tensor["dtype"] == "int64" else "<f4"
            entry.loss_fn_inputs[name].dense = np.asarray(tensor["data"], kind).tobytes()
            entry.loss_fn_inputs[name].dtype = 2 if kind == "<i8" else 1
            entry.loss_fn_inputs[name].shape.extend(tensor["shape"])
    return message.SerializeToString()


def send(engine: EngineProcess, content: bytes, **headers: str) -> httpx.Response:
    return engine.client.post("forward_backward", content=content, headers={**MESSAGE, **headers})


def fetched(engine: EngineProcess, promise: dict, name: str) -> Any:
    answer = engine.client.post("retrieve_future", json={"request_id": promise["request_id"]}, headers={"Accept": proto.CONTENT_TYPE})
    assert answer.headers["content-type"].startswith(proto.CONTENT_TYPE), answer.text
    message = proto._types()[name]()
    message.ParseFromString(answer.content)
    return message


def logprobs_of(message: Any) -> list[np.ndarray]:
    field = message.loss_fn_outputs[0].fields["logprobs"]
    offsets = np.frombuffer(field.offsets, "<i8") // 4
    values = np.frombuffer(field.data, "<f4")
    return [values[a:b] for a, b in zip(offsets, offsets[1:], strict=False)]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("forward_only", [False, True])
def test_training_by_messages_equals_training_by_json(engine: EngineProcess, packed: bool, forward_only: bool) -> None:
    data = [
        datum([5, 6, 7, 8], logprobs=[-1.0, -2.0, -3.0], advantages=[0.0, 1.0, -1.0]),
        datum([9, 8, 7], logprobs=[0, -1], advantages=[1, 1]),
    ]
    model = engine.new_model(rank=0)
    body = train_body(model, data=data, loss_fn="ppo")
    body["forward_backward_input"]["loss_fn_config"] = {"clip_high_threshold": 1.28}
    if forward_only:
        reference = engine.run("forward", {"model_id": model, "forward_input": body["forward_backward_input"]})
    else:
        reference = engine.run("forward_backward", body)
    content = message_of({**body, "seq_id": 1}, forward_only)
    answer = send(engine, zstandard.ZstdCompressor().compress(content), **{"Content-Encoding": "zstd"}) if packed else send(engine, content)
    assert answer.status_code == 200, answer.text
    result = fetched(engine, answer.json(), "ForwardBackwardOutput")
    for got, output in zip(logprobs_of(result), reference["loss_fn_outputs"], strict=True):
        np.testing.assert_array_equal(got, np.asarray(output["logprobs"]["data"], "<f4"))
    assert dict(result.metrics) == pytest.approx(reference["metrics"])


def test_samples_come_as_messages_and_carry_their_ids(engine: EngineProcess) -> None:
    body = {
        "base_model": "tiny",
        "prompt": {"chunks": [{"type": "encoded_text", "tokens": [1, 2, 3]}]},
        "num_samples": 2,
        "sampling_params": {"max_tokens": 5, "seed": 1},
        "prompt_logprobs": True,
    }
    promise = engine.ok("asample", body)
    assert len(set(promise["sample_sequence_ids"])) == 2
    result = fetched(engine, promise, "SampleResponse")
    plain = engine.fetch(promise["request_id"])
    for got, want in zip(result.sequences, plain["sequences"], strict=True):
        assert np.frombuffer(got.tokens, "<i4").tolist() == want["tokens"]
        np.testing.assert_array_equal(np.frombuffer(got.logprobs, "<f4"), np.asarray(want["logprobs"], "<f4"))
    scores = np.frombuffer(result.prompt_logprobs, "<f4")
    assert np.isnan(scores[0]) and scores[1:].tolist() == pytest.approx(plain["prompt_logprobs"][1:])


def test_errors_and_other_results_stay_json(engine: EngineProcess) -> None:
    model = engine.new_model()
    promise = engine.ok("optim_step", {"model_id": model})
    answer = engine.client.post("retrieve_future", json=promise, headers={"Accept": proto.CONTENT_TYPE})
    assert answer.json()["category"] == "user"


@pytest.mark.parametrize(
    ("content", "headers", "status", "sentence"),
    [
        (b"\xff\xff\xff", {}, 400, "not a protobuf"),
        (b"", {}, 400, "model_id"),
        (b"no frame", {"Content-Encoding": "zstd"}, 400, "zstd frame"),
        (b"", {"Content-Encoding": "gzip"}, 415, "gzip"),
    ],
)
def test_what_is_no_request_is_refused(engine: EngineProcess, content: bytes, headers: dict, status: int, sentence: str) -> None:
    answer = send(engine, content, **headers)
    assert answer.status_code == status and sentence in answer.json()["detail"], answer.text


def test_tensors_of_another_make_are_refused(engine: EngineProcess) -> None:
    body = train_body(engine.new_model())
    message: Any = proto._types()["ForwardBackwardRequest"]()
    message.ParseFromString(message_of(body))
    message.data[0].loss_fn_inputs["target_tokens"].dense += b"\0"
    assert "multiple of 8" in send(engine, message.SerializeToString()).json()["detail"]
    message.data[0].loss_fn_inputs["target_tokens"].sparse_csr.values = b""
    assert "sparse" in send(engine, message.SerializeToString()).json()["detail"]
    message.ParseFromString(message_of(body))
    message.data[0].model_input[0].image.data = b"png"
    assert "image" in send(engine, message.SerializeToString()).json()["detail"]


def test_a_small_body_that_unfolds_to_gigabytes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "MAX_BODY", 2**24)
    with pytest.raises(EngineError, match="unfolds to more"):
        app.unpack(zstandard.ZstdCompressor().compress(bytes(2**25)))
    assert app.unpack(zstandard.ZstdCompressor().compress(bytes(2**20))) == bytes(2**20)


def test_a_crowd_of_tiny_parts_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proto, "MOST_PARTS", 1000)

    def part(number: int, content: bytes) -> bytes:
        assert len(content) < 2**14
        return bytes([number << 3 | 2, len(content) & 127 | 128, len(content) >> 7]) + content

    monkeypatch.setattr(proto, "_types", lambda: pytest.fail("it was read"))
    crowds = [part(3, b"") * 1001, part(3, part(1, b"") * 1001), part(3, part(1, b"") * 400) * 3, part(5, b"") * 1001]
    for crowd in crowds:
        with pytest.raises(EngineError, match="more than 1000 data, chunks and tensors"):
            proto.read_training_request(part(1, b"model") + crowd)


def test_a_tensor_of_many_dimensions_is_refused(engine: EngineProcess) -> None:
    message: Any = proto._types()["ForwardBackwardRequest"]()
    message.ParseFromString(message_of(train_body(engine.new_model())))
    message.data[0].loss_fn_inputs["weights"].shape.extend([1] * 100)
    assert "dimensions" in send(engine, message.SerializeToString()).json()["detail"]


def test_a_body_that_does_not_say_how_long_it_is_is_refused_once_it_is_too_long(engine: EngineProcess) -> None:
    piece = bytes(2**23)
    pieces = (piece for _ in range(app.MAX_BODY // len(piece) + 1))
    answer = engine.client.post("forward_backward", content=pieces, headers={"content-type": proto.CONTENT_TYPE})
    assert answer.status_code == 413 and "send fewer" in answer.json()["detail"]
    assert engine.client.get("healthz").status_code == 200


def test_a_model_is_made_by_loading_a_checkpoint(engine: EngineProcess) -> None:
    model = engine.new_model(rank=4, train_unembed=False)
    engine.run("forward_backward", train_body(model))
    engine.run("optim_step", {"model_id": model, "adam_params": {"learning_rate": 0.05}})
    saved = engine.run("save_weights", {"model_id": model, "path": "of_adapter"})["path"]
    expected = engine.run("forward", {"model_id": model, "forward_input": train_body(model)["forward_backward_input"]})
    session = engine.ok("create_session")["session_id"]
    body = {"session_id": session, "model_seq_id": 0, "path": saved, "optimizer": True}
    assert engine.ok("load_weights", body)["request_id"] == engine.ok("load_weights", body)["request_id"]
    engine.run("load_weights", body)
    new = f"{session}:train:0"
    assert engine.ok("get_info", {"model_id": new})["lora_rank"] == 4
    got = engine.run("forward", {"model_id": new, "forward_input": train_body(new)["forward_backward_input"]})
    assert got["loss_fn_outputs"] == expected["loss_fn_outputs"]
    again = engine.run("save_weights", {"model_id": new, "path": "again"})["path"]
    assert engine.ok("weights_info", {"tinker_path": again})["train_unembed"] is False


def test_lists_come_in_pages(engine: EngineProcess) -> None:
    model = engine.new_model()
    for name in ("a", "b", "c"):
        engine.run("save_weights", {"model_id": model, "path": name, "optimizer": False})

    def get(path: str) -> dict:
        return engine.client.get(path).json()

    page = get("checkpoints?limit=2&offset=1")
    assert len(page["checkpoints"]) == 2 and page["cursor"]["offset"] == 1 and page["cursor"]["total_count"] >= 3
    session = next(one for one in get("sessions")["sessions"] if model in get(f"sessions/{one}")["training_run_ids"])
    assert session.startswith("session_")
    assert "limit" in get("training_runs?limit=many")["detail"]
    assert engine.client.get("sessions/nobody").status_code == 404
    assert KEY not in str(get("sessions"))
