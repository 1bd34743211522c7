"""What comes out of training, as other programs read it: a Hugging Face folder, or a peft adapter folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import torch

from toolwise_engine.checkpoint import WEIGHTS, whole_folder, write_tensors
from toolwise_engine.errors import user_error
from toolwise_engine.lora import is_adapter, merged
from toolwise_engine.network import Network

_NOT_COPIED = (".safetensors", ".bin", ".gguf", ".pt", ".pth")


def write_model_folder(source: Path, folder: Path, network: Network) -> None:
    """The source folder's files (configuration, tokenizer) with the network's weights in its precision; adapters are merged into them."""
    weights = dict(network.weights)
    if network.lora is not None:
        weights = {name: tensor.to(network.dtype) for name, tensor in merged(network).items()}
    with whole_folder(folder) as staging:
        for path in source.iterdir():
            if path.is_file() and path.suffix not in _NOT_COPIED and not path.name.endswith(".index.json"):
                shutil.copyfile(path, staging / path.name)
        write_tensors(staging / WEIGHTS, weights)
        config = json.loads((staging / "config.json").read_text(encoding="utf-8"))
        config["dtype"] = str(network.dtype).removeprefix("torch.")
        config.pop("torch_dtype", None)
        if network.head_adapter is not None and config.get("tie_word_embeddings", True):
            config["tie_word_embeddings"] = False
        (staging / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def write_adapter_folder(folder: Path, network: Network, base_model: str) -> None:
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
        write_tensors(staging / "adapter_model.safetensors", {f"base_model.model.{n}": t.to(torch.float32) for n, t in adapters.items()})
        (staging / "adapter_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
