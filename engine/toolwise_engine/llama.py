"""A lean forward pass for the llama family: query, key and value in one product, gate and up in another, no module calls.

Computes what transformers' `LlamaForCausalLM` computes; the tests hold the two equal. Covers no biases and no other activation.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from toolwise_engine.attention import Attention
from toolwise_engine.network import Network, Part, shape_of

_PARTS: dict[str, Part] = {"embed": "unembed", "head": "unembed", "qkv": "attn", "out": "attn", "gate_up": "mlp", "down": "mlp"}
_QKV = ("q_proj", "k_proj", "v_proj")
_GATE_UP = ("gate_proj", "up_proj")
_PLAIN = {
    "out": "self_attn.o_proj",
    "down": "mlp.down_proj",
    "norm1": "input_layernorm",
    "norm2": "post_attention_layernorm",
}
_TOP = {"embed": "model.embed_tokens.weight", "norm": "model.norm.weight", "head": "lm_head.weight"}


class LlamaNetwork(Network):
    """Weights: embed, norm, head (unless tied), and for each layer i: i.qkv, i.out, i.gate_up, i.down, i.norm1, i.norm2."""

    def __init__(self, config: Any, weights: dict[str, Tensor]) -> None:
        self._config = config
        self.shape = shape_of(config)
        self.weights = weights
        self.dtype = weights["embed"].dtype
        self.head = "head" if "head" in weights else "embed"
        self._eps = config.rms_norm_eps
        self._rotary = LlamaRotaryEmbedding(config)
        names = ("norm1", "qkv", "out", "norm2", "gate_up", "down")
        self._layers = [tuple(weights[f"{i}.{name}"] for name in names) for i in range(self.shape.layers)]

    @staticmethod
    def fits(config: Any) -> bool:
        """Whether this pass covers the model."""
        biased = getattr(config, "attention_bias", False) or getattr(config, "mlp_bias", False)
        return config.model_type == "llama" and not biased and config.hidden_act == "silu"

    @staticmethod
    def fuse(tensors: dict[str, Tensor], config: Any) -> dict[str, Tensor]:
        """Published names and matrices to ours. A layer's matrices are taken only where all of a product are there."""
        fused = {ours: tensors[theirs] for ours, theirs in _TOP.items() if theirs in tensors}
        if config.tie_word_embeddings:
            fused.pop("head", None)
        for i in range(config.num_hidden_layers):
            prefix = f"model.layers.{i}."
            for ours, folder, names in (("qkv", "self_attn", _QKV), ("gate_up", "mlp", _GATE_UP)):
                full = [f"{prefix}{folder}.{name}.weight" for name in names]
                if all(name in tensors for name in full):
                    fused[f"{i}.{ours}"] = torch.cat([tensors[name] for name in full])
            for ours, theirs in _PLAIN.items():
                if f"{prefix}{theirs}.weight" in tensors:
                    fused[f"{i}.{ours}"] = tensors[f"{prefix}{theirs}.weight"]
        return fused

    def hidden(self, ids: Tensor, positions: Tensor, attention: Attention) -> Tensor:
        s, eps = self.shape, self._eps
        width, rotated, scale, half = (s.hidden,), (s.heads + s.key_heads) * s.head_dim, s.head_dim**-0.5, s.head_dim // 2
        x = F.embedding(ids, self.weights["embed"])
        cos, sin = (table[0, :, None] for table in self._rotary(x, positions[None]))
        sin = torch.cat([-sin[..., :half], sin[..., half:]], -1)
        for i, (norm1, qkv, out, norm2, gate_up, down) in enumerate(self._layers):
            projected = F.linear(F.rms_norm(x, width, norm1, eps), qkv)
            both = projected[:, :rotated].view(-1, s.heads + s.key_heads, s.head_dim)
            both = torch.addcmul(both * cos, torch.cat([both[..., half:], both[..., :half]], -1), sin)
            value = projected[:, rotated:].view(-1, s.key_heads, s.head_dim)
            attended = attention.attend(i, both[:, : s.heads], both[:, s.heads :], value, scale)
            x = x + F.linear(attended, out)
            gate, up = F.linear(F.rms_norm(x, width, norm2, eps), gate_up).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, down)
        return F.rms_norm(x, width, self.weights["norm"], eps)

    def part(self, name: str) -> Part:
        return _PARTS.get(name.rpartition(".")[2], "norm")

    def to_public(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        s = self.shape
        public: dict[str, Tensor] = {}
        for name, tensor in tensors.items():
            layer, _, kind = name.rpartition(".")
            if not layer:
                public[_TOP[name]] = tensor
                continue
            prefix = f"model.layers.{layer}."
            if kind == "qkv":
                sizes = [s.heads * s.head_dim, s.key_heads * s.head_dim, s.key_heads * s.head_dim]
                for theirs, piece in zip(_QKV, tensor.split(sizes), strict=True):
                    public[f"{prefix}self_attn.{theirs}.weight"] = piece
            elif kind == "gate_up":
                for theirs, piece in zip(_GATE_UP, tensor.chunk(2), strict=True):
                    public[f"{prefix}mlp.{theirs}.weight"] = piece
            else:
                public[f"{prefix}{_PLAIN[kind]}.weight"] = tensor
        return public

    def from_public(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        return self.fuse(tensors, self._config)

    def copy(self) -> Network:
        return LlamaNetwork(self._config, {name: tensor.detach().clone() for name, tensor in self.weights.items()})
