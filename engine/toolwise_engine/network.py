"""A causal language model as the engine sees it: named weights, a forward pass over a flat stream, a vocabulary head.

Runs any architecture of the transformers library whose attention can be replaced, with its own model class. A hand-written pass for the
llama family (fused projections, no module calls) was measured 1.0 to 1.1 times as fast and is therefore not here.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface, AutoConfig, AutoModelForCausalLM

from toolwise_engine.attention import Attention
from toolwise_engine.errors import user_error
from toolwise_engine.lora import Lora, add_adapters, is_adapter, layer_part, published
from toolwise_engine.packed import PackedLinear, pack_layers, packs

PACKED_MODELS = ("llama", "qwen2", "qwen3")
"""Whose layers do nothing with a matrix but multiply by it."""

Part = Literal["unembed", "attn", "mlp", "norm"]


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes that caches and memory estimates need."""

    layers: int
    heads: int
    key_heads: int
    head_dim: int
    hidden: int
    feed_forward: int
    vocabulary: int
    max_context: int


def shape_of(config: Any) -> Shape:
    """Reads the sizes from a transformers config."""
    heads = config.num_attention_heads
    return Shape(
        layers=config.num_hidden_layers,
        heads=heads,
        key_heads=getattr(config, "num_key_value_heads", None) or heads,
        head_dim=getattr(config, "head_dim", None) or config.hidden_size // heads,
        hidden=config.hidden_size,
        feed_forward=getattr(config, "intermediate_size", None) or 4 * config.hidden_size,
        vocabulary=config.vocab_size,
        max_context=getattr(config, "max_position_embeddings", 1 << 20),
    )


_current: list[Attention] = []


@contextmanager
def _attending(attention: Attention) -> Iterator[None]:
    _current.append(attention)
    try:
        yield
    finally:
        _current.pop()


def _attention_function(
    module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Any, scaling: float | None = None, **options: Any
) -> tuple[Tensor, None]:
    """The attention function that transformers' modules call: [1, heads, N, dim] in, [1, N, heads, dim] out."""
    for option in ("softcap", "s_aux", "sliding_window"):
        if options.get(option) is not None:
            raise user_error(f"{type(module).__name__} needs attention with {option}, which this engine does not compute.")
    scale = scaling if scaling is not None else query.shape[-1] ** -0.5
    flat = [x[0].transpose(0, 1) for x in (query, key, value)]
    out = _current[-1].attend(module.layer_idx, flat[0], flat[1], flat[2], scale)
    return out.view(1, query.shape[2], query.shape[1], -1), None


AttentionInterface.register("toolwise", _attention_function)
AttentionMaskInterface.register("toolwise", lambda *_, **__: None)


class Network:
    """Weights in compute precision, by their published names, and the pass through them. Weights are written in place, never rebound."""

    def __init__(self, model: Any, lora: Lora | None = None) -> None:
        self._model = model.eval()
        self._body = model.base_model
        self.lora = lora
        self._head: PackedLinear | None = None
        self.shape = shape_of(model.config)
        self.dtype: torch.dtype = model.dtype
        self.device: torch.device = model.device
        self.weights: dict[str, Tensor] = {published(name): p for name, p in model.named_parameters()}
        by_identity = {id(tensor): name for name, tensor in self.weights.items()}
        head = model.get_output_embeddings()
        plain_head = getattr(head, "base_layer", head)
        self.head = by_identity[id(plain_head.weight)]
        self.head_bias = by_identity[id(plain_head.bias)] if getattr(plain_head, "bias", None) is not None else None
        self.head_adapter: tuple[str, str] | None = None
        """Names of A and B of the head's adapter."""
        if plain_head is not head:
            self.head_adapter = tuple(by_identity[id(factors["default"].weight)] for factors in (head.lora_A, head.lora_B))  # type: ignore[assignment]
        self._unembed = {self.head, self.head_bias, by_identity[id(model.get_input_embeddings().weight)], *(self.head_adapter or ())}

    @property
    def adapter_scale(self) -> float:
        """What an adapter's B A is multiplied by; 0 without adapters."""
        return self.lora.alpha / self.lora.rank if self.lora else 0.0

    def hidden(self, ids: Tensor, positions: Tensor, attention: Attention) -> Tensor:
        """Final hidden states [N, hidden] of the stream `ids` [N] at `positions` [N], ready for the head."""
        with _attending(attention):
            return self._body(input_ids=ids[None], position_ids=positions[None], use_cache=False).last_hidden_state[0]

    def logits(self, hidden: Tensor) -> Tensor:
        """[M, hidden] -> [M, vocabulary], in compute precision."""
        if self._head is not None:
            return self._head(hidden)
        bias = self.weights[self.head_bias] if self.head_bias else None
        logits = torch.nn.functional.linear(hidden, self.weights[self.head], bias)
        if self.head_adapter is None:
            return logits
        down, up = (self.weights[name] for name in self.head_adapter)
        return logits.addmm_(hidden @ down.t(), up.t(), alpha=self.adapter_scale)

    def packed(self) -> Network:
        """This network, from now on for sampling alone: its matrices are laid out for it where that is faster, and given up."""
        fits = self.dtype == torch.bfloat16 and self.device.type == "cpu" and self._model.config.model_type in PACKED_MODELS
        if fits and self.lora is None and packs():
            gone = pack_layers(self._body)
            self._head = PackedLinear(self.weights[self.head], self.weights[self.head_bias] if self.head_bias else None)
            self.weights = {name: tensor for name, tensor in self.weights.items() if id(tensor) not in gone}
        return self

    def part(self, name: str) -> Part:
        """Which part of the model a weight belongs to."""
        if name in self._unembed:
            return "unembed"
        if "norm" in name or ".ln_" in name:
            return "norm"
        return layer_part(name)

    def copy(self) -> Network:
        """A frozen copy that shares no weight which may change: with adapters the base is shared, else nothing."""
        fixed = {id(p): p for n, p in self._model.named_parameters() if not is_adapter(n)} if self.lora else {}
        return Network(copy.deepcopy(self._model, fixed).requires_grad_(False), self.lora)


def _refuse_what_we_do_not_compute(config: Any) -> None:
    for option, off in (("final_logit_softcapping", None), ("logits_scaling", 1.0), ("logit_scale", 1.0)):
        if getattr(config, option, off) not in (None, off):
            raise user_error(f"{config.model_type} with {option} is not supported by this engine.")
    if getattr(config, "is_encoder_decoder", False):
        raise user_error(f"{config.model_type} is not a decoder-only language model.")


def load_network(
    folder: Path, dtype: torch.dtype, lora: Lora | None = None, device: str | torch.device = "cpu"
) -> tuple[Network, dict[str, Tensor]]:
    """The model of a Hugging Face folder on `device` in `dtype`, and float32 masters by name: of all weights, or of the adapters alone.

    In float32 weights and masters share memory.
    """
    config = AutoConfig.from_pretrained(folder)
    _refuse_what_we_do_not_compute(config)
    try:
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype if lora else torch.float32, attn_implementation="toolwise")
    except ValueError as error:
        raise user_error(f"{config.model_type} cannot run here: {error}") from error
    if lora is not None:
        add_adapters(model, lora)
        model = model.to(device)
        masters = {published(n): p.data if dtype == torch.float32 else p.data.float() for n, p in model.named_parameters() if is_adapter(n)}
    else:
        model = model.to(device)
        masters = {name: p.data for name, p in model.named_parameters()}
        if dtype != torch.float32:
            masters = {name: p.clone() for name, p in masters.items()}
            model = model.to(dtype)
    model.requires_grad_(False)
    return Network(model, lora), masters
