"""A model as one GGUF file, as llama.cpp reads it: dense models of the llama, qwen2 and qwen3 families with a byte-level BPE tokenizer.

Writes through llama.cpp's own package `gguf` (names of tensors and keys, special tokens, chat template are its). That package does not hold
llama.cpp's converter script, so which model is which, and what a tokenizer is called there, is decided here. Whatever does not fit is
refused by name before any weight is read. Writes float32, bfloat16 and float16; to quantise further is llama.cpp's own tool's work.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from toolwise_engine.errors import user_error

_FAMILIES = {"LlamaForCausalLM": "llama", "Qwen2ForCausalLM": "qwen2", "Qwen3ForCausalLM": "qwen3"}
_INSTEAD = "the format hf holds any model; llama.cpp's convert_hf_to_gguf.py reads such a folder"

_QWEN2 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_LLAMA3 = _QWEN2.replace(r"|\p{N}|", r"|\p{N}{1,3}|")


def check_fits(model: Path) -> str:
    """The family as llama.cpp names it. Refuses, by name, a model or tokenizer that this file cannot write."""
    try:
        import gguf  # noqa: F401
    except ImportError:
        raise user_error("GGUF needs llama.cpp's package gguf: pip install -r engine/requirements-convert.txt") from None
    config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    architecture = (config.get("architectures") or ["unknown"])[0]
    family = _FAMILIES.get(architecture)
    if family is None:
        raise user_error(f"{architecture} cannot be written as GGUF here, only {', '.join(_FAMILIES)}: {_INSTEAD}")
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    kind = rope.get("rope_type", rope.get("type", "default"))
    wrong = [
        f"rotary positions of kind {kind}" if kind != "default" else "",
        "a sliding window" if config.get("use_sliding_window") else "",
        f"the activation {config['hidden_act']}" if config.get("hidden_act", "silu") != "silu" else "",
    ]
    if any(wrong):
        raise user_error(f"{architecture} with {', '.join(filter(None, wrong))} cannot be written as GGUF here: {_INSTEAD}")
    pre_tokenizer(_tokenizer(model))
    return family


def _tokenizer(model: Path) -> dict[str, Any]:
    return json.loads((model / "tokenizer.json").read_text(encoding="utf-8"))


def pre_tokenizer(tokenizer: dict[str, Any]) -> str:
    """Name under which llama.cpp splits text as this tokenizer does."""
    model = tokenizer["model"]
    if model.get("type") != "BPE" or model.get("byte_fallback"):
        kind = "BPE with byte fallback" if model.get("byte_fallback") else model.get("type")
        raise user_error(f"a tokenizer of kind {kind} cannot be written as GGUF here: {_INSTEAD}")
    if model.get("continuing_subword_prefix") or model.get("end_of_word_suffix") or model.get("dropout"):
        raise user_error(f"a BPE tokenizer with prefixes, suffixes or dropout has no name in llama.cpp: {_INSTEAD}")
    if not model.get("merges"):
        raise user_error(f"a BPE tokenizer without merges is not read by llama.cpp: {_INSTEAD}")
    step = tokenizer.get("pre_tokenizer") or {}
    steps = step["pretokenizers"] if step.get("type") == "Sequence" else [step]
    plain = [tuple(sorted((key, str(value)) for key, value in one.items() if key != "trim_offsets")) for one in steps]
    name = next((name for name, (known, _) in _known().items() if known == plain), None)
    normaliser = (tokenizer.get("normalizer") or {}).get("type")
    if name is None or model.get("ignore_merges", False) != _known()[name][1] or normaliser not in (None, "NFC"):
        raise user_error(f"this tokenizer splits text in a way that llama.cpp has no name for: {_INSTEAD}")
    return name


def _known() -> dict[str, tuple[list[tuple[tuple[str, str], ...]], bool]]:
    """Steps of pre-tokenization, and whether whole words are looked up before merges, by llama.cpp's name."""

    def step(**fields: object) -> tuple[tuple[str, str], ...]:
        return tuple(sorted((key, str(value)) for key, value in fields.items()))

    def bytes_by(use_regex: bool) -> tuple[tuple[str, str], ...]:
        return step(type="ByteLevel", add_prefix_space=False, use_regex=use_regex)

    def split(pattern: str) -> list[tuple[tuple[str, str], ...]]:
        return [step(type="Split", pattern={"Regex": pattern}, behavior="Isolated", invert=False), bytes_by(False)]

    return {
        "gpt-2": ([bytes_by(True)], False),
        "smollm": ([step(type="Digits", individual_digits=True), bytes_by(True)], False),
        "qwen2": (split(_QWEN2), False),
        "llama-bpe": (split(_LLAMA3), True),
    }


def write_gguf(file: Path, model: Path, weights: dict[str, Tensor], config: dict[str, Any], dtype: str, name: str) -> None:
    """`weights` by published name in float32, `config` as it holds for them; tokenizer and template are those of the folder `model`.

    Matrices are written in `dtype`, vectors (norms, biases) in float32, as llama.cpp wants them.
    """
    import gguf

    family = check_fits(model)
    writer = gguf.GGUFWriter(file, family)
    try:
        writer.add_name(name)
        writer.add_file_type({"float32": 0, "float16": 1, "bfloat16": 32}[dtype])
        _add_sizes(writer, family, config)
        _add_tokenizer(writer, model, config["vocab_size"])
        names = gguf.get_tensor_name_map(getattr(gguf.MODEL_ARCH, family.upper()), config["num_hidden_layers"])
        for ours, tensor in weights.items():
            theirs = names.get_name(ours, try_suffixes=(".weight", ".bias"))
            if theirs is None:
                raise user_error(f"GGUF has no name for the weight {ours} of a {family} model")
            _add_tensor(writer, theirs, _in_their_order(tensor, ours, family, config), dtype)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


def _add_sizes(writer: Any, family: str, config: dict[str, Any]) -> None:
    heads = config["num_attention_heads"]
    head_dim = config.get("head_dim") or config["hidden_size"] // heads
    rope = config.get("rope_parameters") or {}
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(config.get("num_key_value_heads") or heads)
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(float(rope.get("rope_theta") or config.get("rope_theta") or 10000.0))
    writer.add_vocab_size(config["vocab_size"])
    if family == "llama":
        writer.add_rope_dimension_count(head_dim)


def _add_tokenizer(writer: Any, model: Path, vocabulary: int) -> None:
    import gguf

    tokenizer = _tokenizer(model)
    tokens = {index: (token, gguf.TokenType.NORMAL) for token, index in tokenizer["model"]["vocab"].items()}
    for added in tokenizer.get("added_tokens", []):
        kind = gguf.TokenType.CONTROL if added["special"] else gguf.TokenType.USER_DEFINED
        tokens[added["id"]] = (added["content"], kind)
    if max(tokens) >= vocabulary:
        raise user_error(f"the tokenizer has an id {max(tokens)}, the model only {vocabulary} embeddings")
    listed = [tokens.get(index, (f"[PAD{index}]", gguf.TokenType.UNUSED)) for index in range(vocabulary)]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre_tokenizer(tokenizer))
    writer.add_token_list([token for token, _ in listed])
    writer.add_token_types([kind for _, kind in listed])
    special = gguf.SpecialVocab(model, load_merges=True, n_vocab=vocabulary)
    special.add_special_token.setdefault("bos", False)
    special.add_to_gguf(writer, quiet=True)


def _in_their_order(tensor: Tensor, name: str, family: str, config: dict[str, Any]) -> np.ndarray:
    """Queries and keys of the llama family stand there with the two halves of each head's rotary pairs interleaved."""
    array = tensor.detach().to(torch.float32).cpu().numpy()
    heads = {"q_proj": config["num_attention_heads"], "k_proj": config.get("num_key_value_heads") or config["num_attention_heads"]}
    part = next((part for part in heads if f".{part}." in name), None)
    if family != "llama" or part is None:
        return array
    halves = array.reshape(heads[part], 2, array.shape[0] // heads[part] // 2, *array.shape[1:])
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(array.shape))


def _add_tensor(writer: Any, name: str, array: np.ndarray, dtype: str) -> None:
    import gguf

    kinds = gguf.GGMLQuantizationType
    kind = {"float32": kinds.F32, "float16": kinds.F16, "bfloat16": kinds.BF16}[dtype] if array.ndim > 1 else kinds.F32
    data = array if kind == kinds.F32 else gguf.quants.quantize(array, kind)
    writer.add_tensor(name, data, raw_dtype=kind)
