"""LoRA adapters by the peft library: which linear layers get one, how they are saved, what they add up to. The base stays frozen.

The head is no module call in this engine (see network.py), so its adapter is computed there; it is peft's all the same.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor, nn

from toolwise_engine.errors import user_error

if TYPE_CHECKING:
    from toolwise_engine.network import Network

ALPHA = 32.0
"""Scale of an adapter's output is ALPHA / rank, as the public service has it: one learning rate then fits all ranks."""

ADAPTER = "default"
"""The name under which peft keeps the one adapter of a model."""


@dataclass(frozen=True, slots=True)
class Lora:
    """Adapters of `rank` on the linear layers of the parts that are trained. `seed` draws the A matrices; B begins at zero."""

    rank: int
    seed: int = 0
    unembed: bool = True
    attn: bool = True
    mlp: bool = True
    alpha: float = ALPHA

    def state(self) -> dict[str, Any]:
        """As a checkpoint's state file holds it."""
        return asdict(self)


def add_adapters(model: Any, lora: Lora) -> None:
    """Puts adapters into a transformers model, in place."""
    from peft import LoraConfig, inject_adapter_in_model  # Seconds to import, and only needed here.

    head = model.get_output_embeddings()
    wanted = []
    for name, module in model.named_modules():
        if not isinstance(module, nn.Linear):
            continue
        part = "unembed" if module is head else layer_part(name)
        if getattr(lora, part):
            wanted.append(name)
    if not wanted:
        raise user_error("nothing to train: every part of the model is frozen")
    narrowest = min(min(model.get_submodule(name).weight.shape) for name in wanted)
    if lora.rank > narrowest:
        raise user_error(f"lora_config.rank is {lora.rank}; the narrowest layer of this model is {narrowest} wide")
    config = LoraConfig(r=lora.rank, lora_alpha=lora.alpha, lora_dropout=0.0, bias="none", target_modules=wanted)
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        # Of a tied head: what is exported gives it a weight of its own.
        warnings.filterwarnings("ignore", message=".*tie_word_embeddings", category=UserWarning)
        torch.manual_seed(lora.seed)
        inject_adapter_in_model(config, model)
    for name, parameter in model.named_parameters():
        if is_adapter(name):
            parameter.data = parameter.data.to(model.dtype)


def layer_part(name: str) -> Literal["attn", "mlp"]:
    """Which part of a layer a weight or a module of its body belongs to, by its name."""
    return "attn" if "attn" in name or "attention" in name else "mlp"


def is_adapter(name: str) -> bool:
    """Whether a weight is part of an adapter, by its name."""
    return ".lora_A." in name or ".lora_B." in name


def published(name: str) -> str:
    """A weight's name without what peft puts into it: `q_proj.base_layer.weight` is `q_proj.weight`; the adapter's own name goes too."""
    return name.replace(".base_layer.", ".").replace(f".{ADAPTER}.", ".")


def merged(network: Network) -> dict[str, Tensor]:
    """All weights by their published names in float32, with what the adapters add: W + scale B A. A tied head gets a weight of its own."""
    plain = {name: weight.detach().float() for name, weight in network.weights.items() if not is_adapter(name)}
    for name, up in network.weights.items():
        if ".lora_B." not in name:
            continue
        target = name.replace(".lora_B.", ".")
        down = network.weights[name.replace(".lora_B.", ".lora_A.")]
        base = plain[target] if target in plain else plain[network.head]
        plain[target] = base + network.adapter_scale * (up.detach().float() @ down.detach().float())
    return plain
