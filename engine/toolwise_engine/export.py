"""What comes out of training, as other programs read it: a Hugging Face folder, a peft adapter folder, or a GGUF file in a folder.

Works on a model folder and a checkpoint folder directly; needs no server. Never leaves a half-written folder.

Run: python -m toolwise_engine.export --model FOLDER [--checkpoint FOLDER] --to FOLDER [--format hf|peft|gguf] [--dtype bfloat16|...].
Progress goes to stderr; the last line on stdout is one JSON object that says what was made. Exit code 2: the caller's mistake.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from toolwise_engine.checkpoint import STATE, WEIGHTS, whole_folder, write_tensors
from toolwise_engine.errors import EngineError, sentence_for, user_error
from toolwise_engine.gguf_file import check_fits, write_gguf
from toolwise_engine.lora import is_adapter, merged
from toolwise_engine.network import Network
from toolwise_engine.snapshot import Snapshot

FORMATS = ("hf", "peft", "gguf")
DTYPES = ("bfloat16", "float16", "float32")
_NOT_COPIED = (".safetensors", ".bin", ".gguf", ".pt", ".pth", ".md", ".jsonl")
_NOT_OURS = ("toolwise-source.json",)


def final_weights(network: Network, dtype: torch.dtype) -> dict[str, Tensor]:
    """All weights by published name in `dtype`; adapters are merged into them in float32."""
    weights = merged(network) if network.lora is not None else dict(network.weights)
    return {name: tensor.detach().to(dtype) for name, tensor in weights.items()}


def final_config(source: Path, network: Network, dtype: torch.dtype) -> dict[str, Any]:
    """The source's configuration, as it holds for the weights that are written; without folders of the machine it was made on."""
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    config["dtype"] = str(dtype).removeprefix("torch.")
    for key in ("torch_dtype", "_name_or_path", "_model_name_or_path"):
        config.pop(key, None)
    if network.head_adapter is not None and config.get("tie_word_embeddings", True):
        config["tie_word_embeddings"] = False
    rope = config.get("rope_parameters")
    if isinstance(rope, dict) and "rope_theta" in rope:
        # Where transformers before version 5, and programs built on it, look.
        config.setdefault("rope_theta", rope["rope_theta"])
        if rope.get("rope_type", "default") != "default":
            config.setdefault("rope_scaling", {key: value for key, value in rope.items() if key != "rope_theta"})
    return config


def write_model_folder(source: Path, folder: Path, network: Network, dtype: torch.dtype | None = None, beside: Sequence[Path] = ()) -> None:
    """The source folder's configuration and tokenizer with the network's weights, in `dtype` or the network's own precision.

    Adapters are merged into the weights. `beside`: files that are added under their own names.
    """
    dtype = dtype or network.dtype
    with whole_folder(folder) as staging:
        for path in source.iterdir():
            copied = path.is_file() and path.suffix not in _NOT_COPIED and not path.name.endswith(".index.json")
            if copied and path.name not in _NOT_OURS and not path.name.startswith("."):
                shutil.copyfile(path, staging / path.name)
        write_tensors(staging / WEIGHTS, final_weights(network, dtype))
        (staging / "config.json").write_text(json.dumps(final_config(source, network, dtype), indent=2) + "\n", encoding="utf-8")
        _add(staging, beside)


def write_adapter_folder(
    folder: Path, network: Network, base_model: str, dtype: torch.dtype = torch.float32, beside: Sequence[Path] = ()
) -> None:
    """An adapter folder as peft loads it over `base_model`, a folder or a name of the hub."""
    lora = network.lora
    if lora is None:
        raise user_error("this checkpoint holds all weights, no adapter: export it as a Hugging Face folder")
    adapters = {name: tensor for name, tensor in network.weights.items() if is_adapter(name)}
    modules = sorted({name.split(".lora_")[0] for name in adapters})
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base_model,
        "r": lora.rank,
        "lora_alpha": lora.alpha,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": modules,
        "inference_mode": True,
    }
    with whole_folder(folder) as staging:
        write_tensors(staging / "adapter_model.safetensors", {f"base_model.model.{n}": t.to(dtype) for n, t in adapters.items()})
        (staging / "adapter_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        _add(staging, beside)


def _add(staging: Path, files: Sequence[Path]) -> None:
    for path in files:
        shutil.copyfile(path, staging / path.name)


def export(
    model: Path,
    checkpoint: Path | None,
    folder: Path,
    form: str,
    dtype: str,
    base_name: str,
    beside: Sequence[Path] = (),
) -> dict[str, object]:
    """Writes the folder; returns {"folder", "format", "dtype", "bytes", "files"}."""
    if checkpoint is not None and not (checkpoint / STATE).is_file():
        raise user_error(f"there is no checkpoint in {checkpoint}")
    if form == "peft" and (checkpoint is None or not json.loads((checkpoint / STATE).read_text(encoding="utf-8")).get("lora")):
        raise user_error("there is no LoRA adapter here, all weights were trained: the formats hf and gguf hold them")
    if form == "gguf":
        check_fits(model)
    _say(f"reading {'the model' if checkpoint is None else 'the checkpoint'}")
    network = Snapshot.load(model, "float32", checkpoint).network
    _say(f"writing {form}")
    precision = getattr(torch, dtype)
    if form == "peft":
        write_adapter_folder(folder, network, base_name, precision, beside)
    elif form == "hf":
        write_model_folder(model, folder, network, precision, beside)
    else:
        weights = final_weights(network, torch.float32)
        with whole_folder(folder) as staging:
            write_gguf(staging / gguf_name(base_name, dtype), model, weights, final_config(model, network, precision), dtype, base_name)
            _add(staging, beside)
    files = sorted(folder.iterdir())
    return {
        "folder": str(folder),
        "format": form,
        "dtype": dtype,
        "bytes": sum(path.stat().st_size for path in files),
        "files": [path.name for path in files],
    }


def gguf_name(base_name: str, dtype: str) -> str:
    """As llama.cpp's own converter names files: model and precision."""
    short = {"bfloat16": "bf16", "float16": "f16", "float32": "f32"}[dtype]
    return f"{base_name.rstrip('/').rsplit('/', 1)[-1]}-toolwise-{short}.gguf"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m toolwise_engine.export", description="Write a checkpoint for other programs.")
    parser.add_argument("--model", type=Path, required=True, help="the Hugging Face folder that training began with")
    parser.add_argument("--checkpoint", type=Path, help="a checkpoint folder of the engine; without it the model itself is written")
    parser.add_argument("--to", type=Path, required=True, help="the folder to write; one that exists is replaced with --force alone")
    parser.add_argument("--format", choices=FORMATS, default="hf")
    parser.add_argument("--dtype", choices=DTYPES, help="default: float32 for an adapter, else as the model folder has it")
    parser.add_argument("--base-name", help="the base model's name for adapter and file (default: that of its folder)")
    parser.add_argument("--add", type=Path, action="append", default=[], help="a file to put beside the weights (repeatable)")
    parser.add_argument("--force", action="store_true", help="replace the folder")
    return parser.parse_args(arguments)


def _dtype_of(model: Path) -> str:
    config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    stated = config.get("dtype") or config.get("torch_dtype") or "float32"
    return stated if stated in DTYPES else "float32"


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    try:
        if not (options.model / "config.json").is_file():
            raise user_error(f"{options.model} is no Hugging Face folder: it has no config.json")
        if options.to.exists() and not options.to.is_dir():
            raise user_error(f"{options.to} is a file")
        if options.to.is_dir() and any(options.to.iterdir()) and not options.force:
            raise user_error(f"{options.to} is not empty: give another folder, or --force to replace it")
        if options.to.is_dir() and any(path.is_dir() for path in options.to.iterdir()):
            raise user_error(f"{options.to} holds folders, so it is no earlier export: give another folder")
        target = options.to.resolve()
        for taken in (options.model, options.checkpoint):
            if taken is not None and (taken.resolve() == target or target in taken.resolve().parents):
                raise user_error(f"{options.to} holds what is exported: give another folder")
        dtype = options.dtype or ("float32" if options.format == "peft" else _dtype_of(options.model))
        base_name = options.base_name or options.model.resolve().name
        made = export(options.model, options.checkpoint, target, options.format, dtype, base_name, options.add)
    except EngineError as error:
        _say(f"error: {error.message}")
        return 2 if error.category == "user" else 1
    except (MemoryError, OSError, RuntimeError) as error:
        _say(f"error: {sentence_for(error, 'export')[1]}")
        return 1
    print(json.dumps(made), flush=True)
    return 0


if __name__ == "__main__":
    # So that what is half written goes, as it does on Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    sys.exit(main())
