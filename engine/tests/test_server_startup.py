"""How the engine starts, refuses to start, and ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from engine_process import ENGINE, KEY, EngineProcess, make_tiny_model

from toolwise_engine.base_model import read_base_model
from toolwise_engine.precision import choose_dtype
from toolwise_engine.threads import choose_threads, free_cores, usable_cores


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_model(tmp_path_factory.mktemp("model"))


def refusal(*options: str, key: str | None = KEY) -> str:
    """The last line of stderr of an engine that does not start."""
    environment = {name: value for name, value in os.environ.items() if name != "TOOLWISE_ENGINE_KEY"}
    if key is not None:
        environment["TOOLWISE_ENGINE_KEY"] = key
    command = [sys.executable, "-m", "toolwise_engine", *options]
    ended = subprocess.run(command, cwd=ENGINE, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (2, "")
    return ended.stderr.strip().splitlines()[-1]


def test_it_does_not_start_without_a_key(model: Path, tmp_path: Path) -> None:
    said = refusal("--model", f"tiny={model}", "--checkpoints", str(tmp_path), key=None)
    assert said == "TOOLWISE_ENGINE_KEY is not set: the engine serves only who knows its key."


def test_it_does_not_start_without_weights(model: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text((model / "config.json").read_text())
    said = refusal("--model", f"tiny={tmp_path}", "--checkpoints", str(tmp_path))
    assert said == f"Model tiny: {tmp_path} has no .safetensors file; the weights are missing."


def test_it_does_not_start_on_a_port_in_use(model: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refusal("--model", f"tiny={model}", "--checkpoints", str(tmp_path), "--port", str(port))
    assert said == f"Port {port} of 127.0.0.1 is in use: choose another, or 0 for any free one."


@pytest.mark.parametrize(("option", "value"), [("--model", "tiny"), ("--threads", "0"), ("--dtype", "int8"), ("--session-timeout", "0")])
def test_a_wrong_option_is_named(option: str, value: str, tmp_path: Path) -> None:
    assert option in refusal("--checkpoints", str(tmp_path), "--model", "a=b", option, value)


def test_it_ends_when_its_stdin_closes_although_a_poll_is_open(model: Path, tmp_path: Path) -> None:
    with EngineProcess(model, tmp_path) as engine:
        assert engine.ready["event"] == "ready" and engine.ready["pid"] == engine.process.pid
        id = engine.new_model()
        never = {
            "base_model": "tiny",
            "prompt": {"chunks": [{"tokens": [1]}]},
            "sampling_params": {},
            "lockstep": {"key": "k", "size": 2, "index": 0},
        }
        request = engine.ok("asample", never)["request_id"]
        with socket.create_connection(("127.0.0.1", engine.ready["port"])) as poll:
            body = f'{{"request_id": "{request}"}}'
            head = f"POST /api/v1/retrieve_future HTTP/1.1\r\nHost: x\r\nX-API-Key: {KEY}\r\nContent-Length: {len(body)}\r\n\r\n"
            poll.sendall((head + body).encode())
            assert engine.ok("get_info", {"model_id": id})["model_name"] == "tiny"
            assert engine.close() == 0


def test_it_ends_cleanly_on_a_signal(model: Path, tmp_path: Path) -> None:
    engine = EngineProcess(model, tmp_path)
    engine.process.send_signal(signal.SIGTERM)
    assert engine.process.wait(30) == 0
    engine.close()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells only here")
def test_it_ends_with_a_parent_that_was_killed_and_whose_pipe_stays_open(model: Path, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    command = [sys.executable, "-m", "toolwise_engine", "--model", f"tiny={model}", "--checkpoints", str(tmp_path)]
    start = f"import subprocess\nsubprocess.Popen({command!r}, stdin={reader}).wait()"
    parent = subprocess.Popen(
        [sys.executable, "-c", start], cwd=ENGINE, env={**os.environ, "TOOLWISE_ENGINE_KEY": KEY}, stdout=subprocess.PIPE, pass_fds=[reader]
    )
    try:
        assert parent.stdout is not None and b"ready" in parent.stdout.readline()
        parent.kill()
        parent.wait(30)
        assert parent.stdout.read() == b""  # End of file: the engine, the last who held this pipe, is gone.
        parent.stdout.close()
    finally:
        os.close(reader)
        os.close(writer)


def test_a_base_models_facts_are_read_from_its_folder(model: Path) -> None:
    base = read_base_model("tiny", model, "auto")
    assert (base.vocabulary, base.context, base.dtype, base.architecture) == (256, 256, "float32", "LlamaForCausalLM")
    assert base.parameters == 256 * 32 + 2 * (32 * 32 * 2 + 32 * 16 * 2 + 3 * 32 * 64 + 2 * 32) + 32
    assert len(base.weights_hash) == 64


@pytest.mark.parametrize(
    ("asked", "parameters", "flags", "expected"),
    [
        ("auto", 135_000_000, {"avx512_bf16"}, "bfloat16"),
        ("auto", 135_000_000, {"amx_bf16"}, "bfloat16"),
        ("auto", 135_000_000, {"avx2"}, "float32"),
        ("auto", 1_000_000, {"avx512_bf16"}, "float32"),
        ("bfloat16", 1, set(), "bfloat16"),
        ("float32", 135_000_000, {"amx_bf16"}, "float32"),
    ],
)
def test_the_number_format_follows_the_cpu_and_the_size(asked: str, parameters: int, flags: set[str], expected: str) -> None:
    assert choose_dtype(asked, parameters, frozenset(flags)) == expected


def test_threads_are_the_free_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwise_engine.threads.os.cpu_count", lambda: 8)
    monkeypatch.setattr("toolwise_engine.threads.usable_cores", lambda: 6)
    for load, measured, expected in [(0.2, 8.0, 6), (3.1, 4.0, 5), (7.9, 1.0, 6), (9.0, 9.0, 1)]:
        monkeypatch.setattr("toolwise_engine.threads.load_average", lambda load=load: load)
        monkeypatch.setattr("toolwise_engine.threads.measured_busy", lambda seconds, measured=measured: measured)
        assert free_cores() == expected


def test_a_number_of_threads_is_taken_as_it_is() -> None:
    assert choose_threads("3") == 3
    assert 1 <= choose_threads("auto") <= usable_cores()
