"""Measures what layouts of memory cost: steps that only stream, in boxes that are periodic along all axes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .. import _core, models
from ..errors import TooLittleMemoryError
from ..parallel.device_memory import available_memory
from ..solver.report import measure_memory_bandwidth
from . import single
from .device_group import DeviceGroup
from .scaling import machine

STENCILS = ("D3Q19", "D2Q37")
"""Those whose layouts are measured where none is chosen: many short rows, and many populations."""


@dataclass(frozen=True)
class PropagationMeasurement:
    """A step that only streams.

    Attributes:
        device: the name of the device.
        stencil: whose populations stream.
        storage: the type that they are stored in.
        layout: ``"AoS"``, the populations of a cell side by side; ``"SoA"``, one population of all cells side by side;
            ``"rows"``, one population of a row of cells side by side, as solvers have it.
        shape: of the box.
        mlups: million cells a second.
        bandwidth: bytes a second that are read and written: each population of each cell once.
        memory_bandwidth: bytes a second of the in-place STREAM scale, on a GPU of a copy, before the row.
        bandwidth_fraction: `bandwidth` as a part of `memory_bandwidth`.
    """

    device: str
    stencil: str
    storage: str
    layout: str
    shape: tuple[int, ...]
    mlups: float
    bandwidth: float
    memory_bandwidth: float
    bandwidth_fraction: float

    def line(self) -> str:
        """A line of the table."""
        what = f"{self.stencil} {self.storage} {'x'.join(map(str, self.shape))}"
        return (
            f"{self.device:<9}{what:<34}{self.layout:<8}{self.mlups:>9.1f}{self.bandwidth / 1e9:>9.1f}"
            f"{self.memory_bandwidth / 1e9:>9.1f}{self.bandwidth_fraction:>10.3f}"
        )


HEADER = f"{'device':<9}{'populations':<34}{'layout':<8}{'MLUPS':>9}{'GB/s':>9}{'memory':>9}{'fraction':>10}"


def measure_all(
    group: DeviceGroup, chosen: Mapping[str, str], size: int | None, *, threads: int | None, seconds: float
) -> Iterator[PropagationMeasurement]:
    """Measure each layout on each device, in all types of numbers.

    Args:
        group: devices of one process.
        chosen: a stencil and a storage, or neither of them.
        size: cells a side; None for the device's default, less where memory does not suffice.
        threads: CPU threads; None for all cores.
        seconds: of the steps of a row.

    Raises:
        ValueError: several processes, something else that is chosen, or memory that does not suffice.
        CudaError: a GPU cannot be used.
    """
    if group.processes.size > 1:
        raise ValueError("menu: 'memory' is for one process")
    if wrong := sorted(chosen.keys() - {"stencil", "storage"}):
        raise ValueError(f"{wrong[0]}: given with the menu 'memory', which takes a stencil and a storage alone")
    for device in dict.fromkeys(name for _, name in group.owners):
        for stencil in (chosen["stencil"],) if "stencil" in chosen else STENCILS:
            for storage in (chosen["storage"],) if "storage" in chosen else models.STORAGES:
                shape = _shape(device, stencil, storage, size)
                for layout in _core.memory_layouts():
                    memory = measure_memory_bandwidth(device, threads or _core.default_threads(), seconds)
                    time = _core.propagation_seconds(device, stencil, layout, storage, shape, threads or 0, seconds)
                    speed = math.prod(shape) / time
                    moved = speed * 2 * _bytes(stencil, storage)
                    yield PropagationMeasurement(
                        device, stencil, storage, layout, shape, speed / 1e6, moved, memory, moved / memory
                    )


def _bytes(stencil: str, storage: str) -> int:
    return int(_core.stencil(stencil).Q * np.dtype(storage).itemsize)


def _shape(device: str, stencil: str, storage: str, size: int | None) -> tuple[int, ...]:
    dimensions, side = _core.stencil(stencil).D, size or single.default_size(stencil, device)
    while (needed := 2 * side**dimensions * _bytes(stencil, storage)) > 0.9 * available_memory(device):
        if size is not None:
            raise TooLittleMemoryError(
                f"size: {size} given, needs {needed / 2**30:.1f} GiB on {device} for {stencil} in {storage}, which has "
                f"{available_memory(device) / 2**30:.1f} GiB; give a smaller one"
            )
        side //= 2
    return (side,) * dimensions


def to_json(measurements: Sequence[PropagationMeasurement], group: DeviceGroup, threads: int | None) -> dict[str, Any]:
    """The measurements and the machine as JSON."""
    return {"machine": machine(group, threads), "propagation": [asdict(m) for m in measurements]}
