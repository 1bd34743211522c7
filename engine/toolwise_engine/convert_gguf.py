"""De-quantises a GGUF file of a causal LM once into a plain Hugging Face folder: config.json, model.safetensors, tokenizer, chat template.

Used by the set-up for the packaged SmolLM2 weights. Does not download, and never leaves a half-written folder: everything is written
to a sibling folder first, which is then renamed.

Run: python -m toolwise_engine.convert_gguf FILE.gguf FOLDER. The last line on stdout is one JSON object that says what was made.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path


def pre_tokenizer_name(gguf: Path) -> str:
    """Name that the file gives to its pre-tokenizer; transformers does not read it."""
    from gguf import GGUFReader

    field = GGUFReader(gguf).fields.get("tokenizer.ggml.pre")
    return "default" if field is None else str(field.contents())


def restore_pre_tokenizer(tokenizer: object, name: str) -> None:
    """Split text as the model was trained to see it: SmolLM2 takes each digit, and the space before it, alone."""
    from tokenizers import pre_tokenizers

    if name == "smollm":
        digits = pre_tokenizers.Digits(individual_digits=True)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    elif name not in ("default", "gpt-2"):
        raise ValueError(f"pre-tokenizer {name!r} is not known here; use the original Hugging Face folder of this model")


def convert(gguf: Path, folder: Path) -> dict[str, object]:
    """Write the folder and return {"folder", "parameters", "dtype"}. Weights are kept in float32, as de-quantised."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from_file = {"gguf_file": gguf.name}
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, dtype=torch.float32, **from_file)
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, **from_file)
    restore_pre_tokenizer(tokenizer.backend_tokenizer, pre_tokenizer_name(gguf))
    tokenizer.model_max_length = model.config.max_position_embeddings
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    for flag in ("is_quantized", "quantization_method"):
        if hasattr(model, flag):
            setattr(model, flag, False if flag == "is_quantized" else None)
    model.hf_quantizer = None

    partial = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        model.save_pretrained(partial)
        tokenizer.save_pretrained(partial)
        if not (partial / "tokenizer.json").is_file():
            raise RuntimeError(f"{gguf.name} gave no tokenizer.json")
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists():
            shutil.rmtree(folder)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return {"folder": str(folder), "parameters": sum(p.numel() for p in model.parameters()), "dtype": "float32"}


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("usage: python -m toolwise_engine.convert_gguf FILE.gguf FOLDER", file=sys.stderr)
        return 2
    gguf, folder = (Path(argument).absolute() for argument in arguments)
    if not gguf.is_file():
        print(f"there is no file {gguf}", file=sys.stderr)
        return 2
    print(json.dumps(convert(gguf, folder)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
