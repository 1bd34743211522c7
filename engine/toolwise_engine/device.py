"""Which device computes: this machine's CPU or its first NVIDIA GPU. One process uses one. Imports torch only where a GPU may be."""

from __future__ import annotations

from pathlib import Path

from toolwise_engine.errors import user_error

DEVICES = ("auto", "cpu", "cuda")

_DRIVER = (Path("/proc/driver/nvidia/version"), Path("/dev/nvidiactl"), Path("/dev/dxg"))
"""What a machine with a driver for NVIDIA GPUs has; the last one under WSL."""


def choose_device(asked: str) -> str:
    """`auto` is the GPU where torch can use one, else the CPU; `cuda` is refused where it cannot."""
    if asked == "cpu" or (asked == "auto" and not has_driver()):
        return "cpu"
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if asked == "auto":
        return "cpu"
    why = "it is a build without CUDA" if torch.version.cuda is None else "no GPU with a driver that fits is here"
    raise user_error(
        f"--device cuda: torch {torch.__version__} cannot use a GPU ({why}): install the plain build (TOOLWISE_TORCH=plain), or use cpu."
    )


def has_driver() -> bool:
    """Whether a driver for NVIDIA GPUs is loaded. Quick, and says nothing of whether torch can use it."""
    return any(path.exists() for path in _DRIVER)
