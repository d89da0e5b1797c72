"""Whether a solver's memory fits the machine, asked before anything is allocated."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np

from . import _core, gpu
from .layout import Layout, engine_blocks

GIB = 2**30
MIB = 2**20
CONTROL_GROUP = Path("/sys/fs/cgroup")


def available_memory(device: str = "cpu") -> int:
    """Bytes that this process can still take: what is free on a GPU; of the CPU's by the kernel's estimate and the
    control group's limit.
    """
    if device != "cpu":
        return int(gpu.described(device)["free_memory"])
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
    """Bytes left of the limit of a control group of version 2; None if there is no limit or no such group.

    The kernel counts cached files as used, and gives them back when memory gets short: the inactive ones are free.
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


def bytes_beside(dimensions: int, precision: str, *, force_field: bool = False, moving_bodies: bool = False) -> int:
    """Bytes a cell that making a solver takes beside its lattice; an estimate from above.

    The solid cells and the masks of bodies, a `force_field` in the engine's type and as given, the velocities of
    `moving_bodies`. An initial state and `Steady` take more in their time.
    """
    real, double = np.dtype(precision).itemsize, 8
    force = dimensions * (real + double) if force_field else 0
    velocity = 2 * dimensions * double if moving_bodies else 0
    return 3 + force + velocity


def check_memory(
    stencil: str,
    shape: tuple[int, ...],
    precision: str,
    storage: str,
    streaming: str,
    beside: int = 0,
    device: str = "cpu",
    layout: Layout | None = None,
    rank: int = 0,
) -> None:
    """Raise ValueError if a solver of this kind does not fit, saying what would, or if the layout does not tile it.

    Args:
        stencil, shape, precision, storage, streaming: of the engine.
        beside: bytes a cell that are needed beside the lattice, see `bytes_beside`.
        device: ``"cpu"``, or ``"cuda:0"`` and so on; without a layout.
        layout: the blocks of `shape`, which name their devices; None for one.
        rank: of this process, whose blocks are meant.
    """
    blocks = engine_blocks(layout) or [((0,) * len(shape), shape, 0, device)]
    cells: dict[str, int] = {}
    for _, size, owner, name in blocks:
        if owner == rank:
            cells[name] = cells.get(name, 0) + math.prod(size)
    for name in cells:
        _check_device_memory(stencil, shape, precision, storage, streaming, beside * cells[name], name, blocks, rank)


def _check_device_memory(
    stencil: str,
    shape: tuple[int, ...],
    precision: str,
    storage: str,
    streaming: str,
    beside: int,
    device: str,
    blocks: list[tuple[tuple[int, ...], tuple[int, ...], int, str]],
    rank: int,
) -> None:
    """The same for one device; `beside` are bytes in all."""
    one = len(blocks) == 1

    def needs(of: tuple[int, ...], storage: str, streaming: str) -> int:
        cut = blocks if of == shape else []
        lattice = _core.Engine.memory_needed(stencil, of, precision, storage, streaming, device, cut, rank)[device]
        return lattice + beside * math.prod(of) // math.prod(shape)

    needed = needs(shape, storage, streaming)
    available = available_memory(device)
    if needed <= available:
        return
    options = []
    if one:
        scale, scaled = 1.0, shape
        while max(scaled) > 1 and needs(scaled, storage, streaming) > available:  # to a few percent
            scale *= 0.97
            scaled = tuple(max(1, int(n * scale)) for n in shape)
        options.append(f"shape {scaled}")
    if streaming == "two-lattice":
        in_place = needs(shape, storage, "in-place")
        if in_place <= available:
            options.append(f"streaming 'in-place' ({in_place / GIB:.2f} GiB)")
    for smaller in ("float32", "float16"):
        bytes_needed = needs(shape, smaller, streaming)
        if bytes_needed < needed and bytes_needed <= available:
            options.append(f"storage {smaller!r} ({bytes_needed / GIB:.2f} GiB)")
    where = "" if one else f" on {device}"
    raise ValueError(
        f"shape: {shape} given needs {needed / GIB:.2f} GiB{where} as {stencil} in {storage}, but "
        f"{available / GIB:.2f} GiB of memory is available; what would fit: {', or '.join(options) or 'more blocks'}"
    )
