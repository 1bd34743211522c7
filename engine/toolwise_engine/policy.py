"""One trainable model."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

from toolwise_engine.datum import AdamParams, Datum
from toolwise_engine.engine_error import EngineError
from toolwise_engine.snapshot import Snapshot

__all__ = ["AdamParams", "Datum", "Policy"]


class Policy:
    def __init__(self, folder: Path, dtype: str) -> None:
        self.folder = folder
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype))
        path = folder / "tokenizer.json"
        self.tokenizer = Tokenizer.from_file(str(path)) if path.exists() else None
        self.version = 0
        self._accumulated = False

    @classmethod
    def create(cls, folder: Path, dtype: str, train_unembed: bool = True, train_attn: bool = True, train_mlp: bool = True) -> Policy:
        return cls(Path(folder), dtype)

    def _logprobs(self, datum: Datum) -> torch.Tensor:
        logits = self.model(torch.tensor([datum.tokens])).logits[0].float()
        picked = logits.log_softmax(-1).gather(1, torch.tensor(datum.targets)[:, None])[:, 0]
        return picked * torch.tensor([float(w != 0) for w in datum.weights or [1.0] * len(datum.tokens)])

    @torch.no_grad()
    def forward(self, data: list[Datum], loss_fn: str = "cross_entropy") -> list[np.ndarray]:
        return [self._logprobs(d).numpy() for d in data]

    def forward_backward(self, data: list[Datum], loss_fn: str, config: dict[str, float] | None = None) -> tuple[list[np.ndarray], dict[str, float]]:
        if loss_fn != "cross_entropy":
            raise EngineError(f"unknown loss {loss_fn}")
        outputs, total, count = [], 0.0, 0
        for d in data:
            logprobs = self._logprobs(d)
            weights = torch.tensor(d.weights or [1.0] * len(d.tokens))
            loss = -(weights * logprobs).sum()
            loss.backward()
            outputs.append(logprobs.detach().numpy())
            total += float(loss)
            count += int((weights != 0).sum())
        self._accumulated = True
        return outputs, {"loss:sum": total, "tokens:sum": float(count)}

    @torch.no_grad()
    def optim_step(self, adam: AdamParams) -> dict[str, float]:
        if not self._accumulated:
            raise EngineError("optim_step without a gradient: call forward_backward first")
        norm = torch.nn.utils.get_total_norm([p.grad for p in self.model.parameters()])
        for p in self.model.parameters():
            p.sub_(p.grad, alpha=adam.learning_rate)
            p.grad = None
        self._accumulated = False
        self.version += 1
        return {"grad_norm": float(norm), "learning_rate": adam.learning_rate}

    def snapshot(self) -> Snapshot:
        return Snapshot(copy.deepcopy(self.model), self.version, self.tokenizer)

    def save(self, folder: Path, optimizer: bool) -> None:
        self.model.save_pretrained(folder)
        (folder / "state.json").write_text(json.dumps({"version": self.version}))

    def load(self, folder: Path, optimizer: bool) -> None:
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=self.model.dtype)
        self.version = json.loads((folder / "state.json").read_text())["version"]

    def export(self, folder: Path) -> None:
        self.model.save_pretrained(folder)
