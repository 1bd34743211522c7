"""Which number format the compute copies have."""

from __future__ import annotations

from pathlib import Path

DTYPES = ("auto", "bfloat16", "float32")
LARGE_MODEL = 20_000_000
"""Below this many parameters a model fits in a CPU's cache, and bfloat16 gains nothing."""


def choose_dtype(asked: str, parameters: int, flags: frozenset[str] | None = None, device: str = "cpu") -> str:
    """`auto` is bfloat16 where the device multiplies it in hardware and the model is large, else float32."""
    if asked != "auto":
        return asked
    if parameters <= LARGE_MODEL:
        return "float32"
    if device == "cuda":
        import torch

        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    flags = cpu_flags() if flags is None else flags
    return "bfloat16" if flags & {"avx512_bf16", "amx_bf16"} else "float32"


def cpu_flags() -> frozenset[str]:
    """Feature flags of the first CPU; empty where the system does not tell."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "flags":
                return frozenset(value.split())
    except OSError:
        pass
    return frozenset()
