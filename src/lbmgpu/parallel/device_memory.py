"""The free memory of a device, as reported by the GPU's driver, the kernel and the control group."""

from __future__ import annotations

import os
from pathlib import Path

from . import gpu

GIB = 2**30
MIB = 2**20
CONTROL_GROUP = Path("/sys/fs/cgroup")


def available_memory(device: str = "cpu") -> int:
    """The memory that this process can still take on a device, bytes.

    On a GPU it is the free memory, on the CPU the less of the kernel's estimate and what the control group's limit
    leaves.
    """
    if device != "cpu":
        return int(gpu.properties(device)["free_memory"])
    limits = []
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                limits.append(int(line.split()[1]) * 1024)
    except OSError:  # not Linux
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    group = _available_in_group(CONTROL_GROUP)
    return min(limits if group is None else [*limits, group])


def _available_in_group(group: Path) -> int | None:
    """The bytes that the limit of a control group of version 2 leaves; None if there is no limit or no such group.

    The kernel counts cached files as used, but frees the inactive ones when memory gets short: they count as free here.
    """
    try:
        limit = (group / "memory.max").read_text().strip()
        if limit == "max":
            return None
        used = int((group / "memory.current").read_text())
        for line in (group / "memory.stat").read_text().splitlines():
            if line.startswith("inactive_file "):
                used -= int(line.split()[1])
    except OSError:
        return None
    return max(0, int(limit) - max(0, used))
