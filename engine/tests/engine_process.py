"""Help for tests of the server: a tiny random model in a folder, and a real engine process to talk to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx

ENGINE = Path(__file__).resolve().parent.parent
KEY = "test-key"
VOCABULARY = 256
CONTEXT = 256


def make_tiny_model(folder: Path) -> Path:
    """A random llama of 2 layers over bytes, with a tokenizer.json."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM

    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    letters = {letter: index for index, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(vocab=letters, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


class EngineProcess:
    """A running engine. Use it in a `with`: its stdin is closed at the end, and it must then end by itself."""

    def __init__(self, model: Path, checkpoints: Path, *options: str, environment: dict[str, str] | None = None) -> None:
        command = [sys.executable, "-m", "toolwise_engine", "--model", f"tiny={model}", "--checkpoints", str(checkpoints)]
        self.process = subprocess.Popen(
            [*command, "--threads", "1", "--dtype", "float32", *options],
            cwd=ENGINE,
            env={**os.environ, "TOOLWISE_ENGINE_KEY": KEY, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the engine ended with {self.process.wait()} before it was ready")
        self.ready = json.loads(line)
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{self.ready['port']}/api/v1/", headers={"X-API-Key": KEY}, timeout=60)

    def __enter__(self) -> EngineProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> int:
        self.client.close()
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        code = self.process.wait(30)
        self.process.stdout.close()
        return code

    def call(self, endpoint: str, body: dict | None = None) -> httpx.Response:
        return self.client.post(endpoint, json=body or {})

    def ok(self, endpoint: str, body: dict | None = None) -> dict[str, Any]:
        answer = self.call(endpoint, body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def fetch(self, request_id: str) -> dict[str, Any]:
        """The result of a promise, however long it takes."""
        while True:
            result = self.ok("retrieve_future", {"request_id": request_id})
            if result.get("type") != "try_again":
                return result

    def run(self, endpoint: str, body: dict) -> dict[str, Any]:
        return self.fetch(self.ok(endpoint, body)["request_id"])

    def refused(self, endpoint: str, body: dict) -> tuple[int, str]:
        """Status and sentence of a request that must be refused."""
        answer = self.call(endpoint, body)
        assert answer.status_code >= 400, answer.text
        assert answer.json().keys() == {"detail", "category"}
        return answer.status_code, answer.json()["detail"]

    def new_model(self, **lora: Any) -> str:
        """A session with one model, made."""
        session = self.ok("create_session")["session_id"]
        made = self.ok("create_model", {"session_id": session, "base_model": "tiny", "lora_config": {"rank": 0, **lora}})
        assert self.fetch(made["request_id"])["model_id"] == made["model_id"]
        return made["model_id"]


def datum(tokens: list[int], **inputs: list[float]) -> dict:
    """A training sequence of the wire: the tokens shifted by one."""
    tensors: dict[str, dict] = {"target_tokens": {"data": tokens[1:], "dtype": "int64", "shape": [len(tokens) - 1]}}
    for name, values in inputs.items():
        tensors[name] = {"data": values, "dtype": "float32", "shape": [len(values)]}
    return {"model_input": prompt(tokens[:-1]), "loss_fn_inputs": tensors}


def train_body(model: str, seq_id: int | None = None, data: list[dict] | None = None, loss_fn: str = "cross_entropy") -> dict:
    body: dict[str, Any] = {"model_id": model, "forward_backward_input": {"data": data or [datum([5, 6, 7, 8])], "loss_fn": loss_fn}}
    if seq_id is not None:
        body["seq_id"] = seq_id
    return body


def prompt(tokens: list[int]) -> dict:
    return {"chunks": [{"type": "encoded_text", "tokens": tokens}]}


def sample_body(source: dict, tokens: list[int] | None = None, num_samples: int = 1, **params: Any) -> dict:
    return {
        **source,
        "prompt": prompt(tokens or [10, 11, 12]),
        "num_samples": num_samples,
        "sampling_params": {"max_tokens": 8, "seed": 3, **params},
    }
