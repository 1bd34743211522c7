"""Tiny random models in Hugging Face folders, for tests."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

VOCABULARY = 97
SIZES = dict(
    hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=48, vocab_size=VOCABULARY, max_position_embeddings=512
)


def write_model(folder: Path, kind: str = "llama", tied: bool = True) -> Path:
    """kind: llama, qwen2 (query biases, grouped heads), qwen3 (normed queries and keys) or neox (rotary on a part, parallel layers).

    Weights are large enough to matter.
    """
    torch.manual_seed(7)
    model = {
        "llama": lambda: LlamaForCausalLM(LlamaConfig(**SIZES, num_key_value_heads=2, tie_word_embeddings=tied)),
        "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**SIZES, num_key_value_heads=2, tie_word_embeddings=tied)),
        "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**SIZES, head_dim=16, num_key_value_heads=2, tie_word_embeddings=tied)),
        "neox": lambda: GPTNeoXForCausalLM(GPTNeoXConfig(**SIZES)),
    }[kind]()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.mul_(6)
    model.save_pretrained(folder)
    byte_level = Tokenizer(models.BPE({c: i for i, c in enumerate(_alphabet())}, []))
    byte_level.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    byte_level.decoder = decoders.ByteLevel()
    byte_level.save(str(folder / "tokenizer.json"))
    return folder


def _alphabet() -> list[str]:
    """One printable character for each id."""
    return sorted(pre_tokenizers.ByteLevel.alphabet())[:VOCABULARY]
