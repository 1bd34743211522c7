"""How much memory the caches and the activations may take: a share of what the machine has, or of what is free on a GPU.

On the CPU no current use is read, so that runs repeat; a GPU has no memory to swap to, and is often shared with other programs.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

LEAST, MOST = 256 << 20, 2 << 30


def total_memory() -> int:
    """Bytes of this machine, or of the control group if that is less."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="utf-8").strip()
        if limit != "max":
            total = min(total, int(limit))
    except (OSError, ValueError):
        pass
    return total


def share(device: torch.device | None = None, reserved: int = 0) -> int:
    """What sampling's cache, and likewise the activations of a backward pass, may take, in bytes.

    On the CPU an eighth of the machine's memory, at most 2 GiB; on a GPU a quarter of what is free now less the `reserved` bytes that are
    yet to be allocated.
    """
    if device is None or device.type == "cpu":
        return max(LEAST, min(MOST, total_memory() // 8))
    return max(LEAST, (free_memory(device) - reserved) // 4)


def free_memory(device: torch.device) -> int:
    """Free bytes of a GPU; what torch holds without using it counts as free."""
    import torch

    free, _ = torch.cuda.mem_get_info(device)
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
