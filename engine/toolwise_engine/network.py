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

    def __init__(self, model: Any) -> None:
        self._model = model.eval()
        self._body = model.base_model
        self.shape = shape_of(model.config)
        self.dtype: torch.dtype = model.dtype
        self.weights: dict[str, Tensor] = dict(model.named_parameters())
        by_identity = {id(tensor): name for name, tensor in self.weights.items()}
        head = model.get_output_embeddings()
        self.head = by_identity[id(head.weight)]
        self.head_bias = by_identity[id(head.bias)] if getattr(head, "bias", None) is not None else None
        self._unembed = {self.head, self.head_bias, by_identity[id(model.get_input_embeddings().weight)]}

    def hidden(self, ids: Tensor, positions: Tensor, attention: Attention) -> Tensor:
        """Final hidden states [N, hidden] of the stream `ids` [N] at `positions` [N], ready for the head."""
        with _attending(attention):
            return self._body(input_ids=ids[None], position_ids=positions[None], use_cache=False).last_hidden_state[0]

    def logits(self, hidden: Tensor) -> Tensor:
        """[M, hidden] -> [M, vocabulary], in compute precision."""
        bias = self.weights[self.head_bias] if self.head_bias else None
        return torch.nn.functional.linear(hidden, self.weights[self.head], bias)

    def part(self, name: str) -> Part:
        """Which part of the model a weight belongs to."""
        if name in self._unembed:
            return "unembed"
        if "norm" in name or ".ln_" in name:
            return "norm"
        return "attn" if "attn" in name or "attention" in name else "mlp"

    def copy(self) -> Network:
        """A frozen copy that shares no weight with this one."""
        return Network(copy.deepcopy(self._model).requires_grad_(False))


def _refuse_what_we_do_not_compute(config: Any) -> None:
    for option, off in (("final_logit_softcapping", None), ("logits_scaling", 1.0), ("logit_scale", 1.0)):
        if getattr(config, option, off) not in (None, off):
            raise user_error(f"{config.model_type} with {option} is not supported by this engine.")
    if getattr(config, "is_encoder_decoder", False):
        raise user_error(f"{config.model_type} is not a decoder-only language model.")


def load_network(folder: Path, dtype: torch.dtype) -> tuple[Network, dict[str, Tensor]]:
    """The model of a Hugging Face folder in `dtype`, and its float32 weights by name. In float32 the two share memory."""
    config = AutoConfig.from_pretrained(folder)
    _refuse_what_we_do_not_compute(config)
    try:
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="toolwise")
    except ValueError as error:
        raise user_error(f"{config.model_type} cannot run here: {error}") from error
    masters = {name: p.data for name, p in model.named_parameters()}
    if dtype != torch.float32:
        masters = {name: p.clone() for name, p in masters.items()}
        model = model.to(dtype)
    model.requires_grad_(False)
    return Network(model), masters
