"""Frozen weights to sample from. Never changes once made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer

from toolwise_engine.checkpoint import load_weights
from toolwise_engine.errors import user_error
from toolwise_engine.lora import Lora
from toolwise_engine.network import Network, load_network


@dataclass(eq=False)
class Snapshot:
    """Weights in compute precision, the policy version they were taken at, and the text tokenizer (only stop strings need it)."""

    network: Network
    version: int
    tokenizer: Tokenizer | None

    @classmethod
    def load(cls, folder: Path, dtype: str, checkpoint: Path | None = None, device: str = "cpu") -> Snapshot:
        """The untouched weights of a model folder (version 0), or those of a checkpoint that a policy of this model saved."""
        saved, state = load_weights(Path(checkpoint)) if checkpoint is not None else ({}, {})
        network, masters = load_network(Path(folder), getattr(torch, dtype), lora_of(state), device)
        version = 0
        if checkpoint is not None:
            misfit(saved, masters)
            put(saved, {name: network.weights[name].detach() for name in masters})
            version = state["version"]
        return cls(network.packed(), version, load_tokenizer(Path(folder)))


def lora_of(state: dict) -> Lora | None:
    """The adapter that a checkpoint's state file tells of."""
    return Lora(**state["lora"]) if state.get("lora") else None


@torch.no_grad()
def put(source: dict[str, torch.Tensor], target: dict[str, torch.Tensor]) -> None:
    """Copies tensors in place, by name; precision is converted."""
    for name, tensor in target.items():
        if tensor.data_ptr() != source[name].data_ptr():
            tensor.copy_(source[name])


def refuse_other_kind(saved: Lora | None, own: Lora | None) -> None:
    """Refuses an adapter for a model that trains all weights, the other way round, and an adapter of another make."""

    def kind(lora: Lora | None) -> str:
        if lora is None:
            return "all weights"
        parts = [name for name in ("unembed", "attn", "mlp") if getattr(lora, name)]
        return f"a LoRA adapter of rank {lora.rank} on {', '.join(parts)} (alpha {lora.alpha:g})"

    if kind(saved) != kind(own):
        raise user_error(f"the checkpoint holds {kind(saved)}; this model trains {kind(own)}")


def misfit(saved: dict[str, torch.Tensor], model: dict[str, torch.Tensor]) -> None:
    """Refuses a checkpoint that lacks a weight of the model or has it in another shape."""
    for name, tensor in model.items():
        if name not in saved or saved[name].shape != tensor.shape:
            raise user_error(f"the checkpoint is of another model: {name} does not fit")


def load_tokenizer(folder: Path) -> Tokenizer | None:
    """The folder's tokenizer.json, where it has one."""
    path = folder / "tokenizer.json"
    return Tokenizer.from_file(str(path)) if path.exists() else None
