"""What recorders need of the memory of devices and of the host, asked before they allocate it."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..engine import memory
from ..engine.simulation import Simulation
from ..solver.gradients import TENSOR

DOUBLE = 8
"""Bytes of a float64 number."""


def cells_of_devices(simulation: Simulation) -> dict[str, int]:
    """The cells of this process's blocks by their device."""
    found: dict[str, int] = {}
    for block in simulation.layout:
        if block.rank == simulation.processes.rank:
            found[block.device] = found.get(block.device, 0) + math.prod(block.size)
    return found


def window_cells(simulation: Simulation) -> int:
    """The cells of the box of this process's blocks, which arrays on the host are of."""
    return math.prod(simulation.engine.window[1])


def components_of(name: str, dimensions: int) -> int:
    """The numbers that a field has in a cell."""
    if name == "strain_rate":
        return len(TENSOR[dimensions])
    if name == "vorticity":
        return 3 if dimensions == 3 else 1
    return dimensions if name == "velocity" else 1


def check(simulation: Simulation, name: str, needs: Mapping[str, int], hint: str) -> None:
    """Raise TooLittleMemoryError if a recorder's bytes by device do not fit; all ranks call it together."""
    needed = {device: size for device, size in needs.items() if size > 0}
    memory.check_further_memory(f"recorder {name!r}", needed, simulation.processes, hint)
