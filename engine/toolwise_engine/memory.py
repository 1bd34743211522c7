"""How much memory the caches and the activations may take: a share of what the machine has. Reads no current use, so that runs repeat."""

from __future__ import annotations

import os
from pathlib import Path

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


def share() -> int:
    """What sampling's cache, and likewise the activations of a backward pass, may take: an eighth, at most 2 GiB."""
    return max(LEAST, min(MOST, total_memory() // 8))
