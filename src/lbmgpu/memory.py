"""Whether a solver's memory fits the machine, asked before anything is allocated."""

from __future__ import annotations

import os
from pathlib import Path

from . import _core

GIB = 2**30


def available_memory() -> int:
    """Bytes that this process can still take, by the kernel's estimate and the control group's limit."""
    limits = []
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                limits.append(int(line.split()[1]) * 1024)
    except OSError:  # not Linux
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    group = Path("/sys/fs/cgroup")
    try:
        limit = (group / "memory.max").read_text().strip()
        if limit != "max":
            limits.append(max(0, int(limit) - int((group / "memory.current").read_text())))
    except OSError:  # no control group of version 2
        pass
    return min(limits)


def check_memory(stencil: str, shape: tuple[int, ...], precision: str, storage: str, streaming: str) -> None:
    """Raise ValueError if an engine of this kind does not fit, saying what would."""
    needed = _core.Engine.memory_needed(stencil, shape, precision, storage, streaming)
    available = available_memory()
    if needed <= available:
        return
    options = [f"shape {_largest(stencil, shape, precision, storage, streaming, available)}"]
    if streaming == "two-lattice":
        in_place = _core.Engine.memory_needed(stencil, shape, precision, storage, "in-place")
        if in_place <= available:
            options.append(f"streaming 'in-place' ({in_place / GIB:.2f} GiB)")
    for smaller in ("float32", "float16"):
        bytes_needed = _core.Engine.memory_needed(stencil, shape, precision, smaller, streaming)
        if bytes_needed < needed and bytes_needed <= available:
            options.append(f"storage {smaller!r} ({bytes_needed / GIB:.2f} GiB)")
    raise ValueError(
        f"shape: {shape} given needs {needed / GIB:.2f} GiB as {stencil} in {storage}, but "
        f"{available / GIB:.2f} GiB of memory is available; what would fit: {', or '.join(options)}"
    )


def _largest(
    stencil: str, shape: tuple[int, ...], precision: str, storage: str, streaming: str, available: int
) -> tuple[int, ...]:
    """The largest shape of about the same proportions that fits, to a few percent."""
    scale = 1.0
    scaled = shape
    while max(scaled) > 1:
        scaled = tuple(max(1, int(n * scale)) for n in shape)
        if _core.Engine.memory_needed(stencil, scaled, precision, storage, streaming) <= available:
            break
        scale *= 0.97
    return scaled
