"""A base model as the engine is given it: a name and a local Hugging Face folder. Reads its facts without loading its weights."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path

from toolwise_engine.errors import user_error
from toolwise_engine.precision import choose_dtype
from toolwise_engine.wire import Limits


@dataclass(frozen=True)
class BaseModel:
    """`weights_hash`: sha256 of the safetensors files in order of their names, hex. `parameters`: as stored, tied ones once."""

    name: str
    folder: Path
    architecture: str
    vocabulary: int
    context: int
    parameters: int
    weights_hash: str
    dtype: str
    device: str = "cpu"

    @property
    def limits(self) -> Limits:
        return Limits(self.name, self.vocabulary, self.context)


def read_base_model(name: str, folder: Path, dtype: str, device: str = "cpu") -> BaseModel:
    """The facts of a model folder; `dtype` may be `auto`, `device` is where it will compute."""
    config_file = folder / "config.json"
    if not config_file.is_file():
        raise user_error(f"Model {name}: {folder} has no config.json; expected a local Hugging Face folder of a causal language model.")
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise user_error(f"Model {name}: {folder} has no .safetensors file; the weights are missing.")
    try:
        config = json.loads(config_file.read_text(encoding="utf-8"))
        parameters = sum(count_parameters(file) for file in files)
    except ValueError as error:
        raise user_error(f"Model {name}: a file in {folder} cannot be read: {error}.") from None
    text = config.get("text_config", config)
    vocabulary, context = text.get("vocab_size"), text.get("max_position_embeddings")
    if type(vocabulary) is not int or type(context) is not int:
        raise user_error(f"Model {name}: {config_file} does not give vocab_size and max_position_embeddings as numbers.")
    architecture = (config.get("architectures") or ["unknown"])[0]
    chosen = choose_dtype(dtype, parameters, device=device)
    return BaseModel(name, folder, architecture, vocabulary, context, parameters, hash_files(files), chosen, device)


def count_parameters(file: Path) -> int:
    """Number of values in a safetensors file, from its header."""
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if length > 100 * 2**20:
            raise ValueError(f"{file.name} is not a safetensors file")
        header = json.loads(stream.read(length))
    return sum(math.prod(entry["shape"]) for key, entry in header.items() if key != "__metadata__")


def hash_files(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            while block := stream.read(2**22):
                digest.update(block)
    return digest.hexdigest()
