"""Checkpoint folders: float32 weights under published names, optionally the optimizer's moments, and a small state file.

A folder appears whole or not at all: written beside its place, flushed to disk, then renamed.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from toolwise_engine.errors import server_error, user_error

WEIGHTS = "model.safetensors"
MOMENTS = "optimizer.safetensors"
STATE = "state.json"


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder beside `folder` that takes its name when the block ends well, replacing what was there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        yield staging
        for path in staging.iterdir():
            _flush(path)
        _flush(staging)
        if folder.exists():
            old = staging.with_name(staging.name + ".old")
            os.rename(folder, old)
            os.rename(staging, folder)
            shutil.rmtree(old)
        else:
            os.rename(staging, folder)
        _flush(folder.parent)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_tensors(path: Path, tensors: dict[str, Tensor]) -> None:
    """One safetensors file, marked as PyTorch's."""
    save_file({name: t.detach().cpu().contiguous() for name, t in tensors.items()}, path, metadata={"format": "pt"})


def save_checkpoint(
    folder: Path, weights: dict[str, Tensor], moments: tuple[int, dict[str, Tensor], dict[str, Tensor]] | None, state: dict[str, Any]
) -> None:
    """Writes a checkpoint. moments: steps taken, first and second moments by published name."""
    with whole_folder(folder) as staging:
        write_tensors(staging / WEIGHTS, weights)
        if moments is not None:
            steps, first, second = moments
            state = {**state, "optimizer_steps": steps}
            write_tensors(
                staging / MOMENTS,
                {f"{kind}.{name}": t for kind, part in (("first", first), ("second", second)) for name, t in part.items()},
            )
        (staging / STATE).write_text(json.dumps(state) + "\n")


def load_weights(folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Weights by published name and the state file."""
    if not (folder / STATE).exists():
        raise user_error(f"no checkpoint in {folder}")
    return _tensors(folder / WEIGHTS), json.loads((folder / STATE).read_text())


def _tensors(path: Path) -> dict[str, Tensor]:
    """What a safetensors file holds. Nothing of another kind is read, so nothing in it is ever run."""
    try:
        return load_file(path)
    except SafetensorError as error:
        raise server_error(f"{path.parent.name}/{path.name} is damaged, or no safetensors file: {error}") from None


def load_moments(folder: Path, state: dict[str, Any]) -> tuple[int, dict[str, Tensor], dict[str, Tensor]]:
    """Optimizer steps and moments; refused where the checkpoint was saved without them."""
    if "optimizer_steps" not in state:
        raise user_error("the checkpoint holds no optimizer state: load it without, or save it with")
    parts: dict[str, dict[str, Tensor]] = {"first": {}, "second": {}}
    for name, tensor in _tensors(folder / MOMENTS).items():
        kind, _, rest = name.partition(".")
        parts[kind][rest] = tensor
    return state["optimizer_steps"], parts["first"], parts["second"]
