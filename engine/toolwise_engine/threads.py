"""How many threads torch may use: cores that are free, at least one."""

from __future__ import annotations

import os
import time
from pathlib import Path


def choose_threads(asked: str) -> int:
    """`auto` takes the free cores; a number is taken as it is."""
    return free_cores() if asked == "auto" else int(asked)


def free_cores(sample_seconds: float = 0.2) -> int:
    """Cores this process may use, less those that others keep busy.

    Busy is the smaller of the load average and what is measured for a moment: the first lags, the second jumps.
    """
    cores = usable_cores()
    busy = min(load_average(), measured_busy(sample_seconds))
    return max(1, min(cores, int(os.cpu_count() or 1) - round(busy)))


def usable_cores() -> int:
    """Cores allowed by affinity and by the control group's quota."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="utf-8").split()
        if quota != "max":
            cores = min(cores, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        pass
    return cores


def load_average() -> float:
    try:
        return os.getloadavg()[0]
    except OSError:
        return 0.0


def measured_busy(seconds: float) -> float:
    """Cores' worth of work on the whole machine during `seconds`; infinite where the system does not tell."""
    before = cpu_times()
    if before is None:
        return float("inf")
    time.sleep(seconds)
    after = cpu_times()
    if after is None or after[1] <= before[1]:
        return float("inf")
    busy = (after[0] - before[0]) / (after[1] - before[1])
    return busy * (os.cpu_count() or 1)


def cpu_times() -> tuple[int, int] | None:
    """(busy, total) ticks of all CPUs since boot."""
    try:
        first = Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()
    except OSError:
        return None
    ticks = [int(value) for value in first[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)
