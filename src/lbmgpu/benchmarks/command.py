"""``lbmgpu bench`` over several devices or processes: runs the menu, prints its lines and writes the figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import checks
from . import scaling, sharing, single
from .device_group import DeviceGroup


def run(
    names: Sequence[str],
    comm: Any,
    *,
    size: int | None,
    threads: int | None,
    seconds: float,
    repeats: int,
    file: str | None,
) -> None:
    """Measure how the speed grows with the devices; for GPUs and the CPU, the gain of giving cells to the CPU.

    Args:
        names: the devices of this process, as `Solver` takes them.
        comm: an mpi4py communicator whose ranks call this together; None for one process.
        size: the number of cells a side; None for the device's default.
        threads: the number of CPU threads; None for all cores.
        seconds: the duration of the steps of a repeat.
        repeats: the number of repeats of each row.
        file: the file for the figures, as JSON; None for none.

    Raises:
        TypeError, ValueError: a device is not there, the size cannot be cut, or memory does not suffice.
        CudaError: a GPU cannot be used.
        OSError: the file cannot be written.
    """
    group = DeviceGroup(names, comm)
    mixed = sharing.is_mixed(group)
    if mixed and group.processes.size > 1:
        raise ValueError(f"device: {checks.shown(group.owners)}: GPUs and the CPU together are measured in one process")
    size = size or scaling.default_size(group)
    timing = {"threads": threads, "seconds": seconds, "repeats": repeats}
    if group.processes.first:
        for key, value in scaling.machine(group, threads).items():
            print(f"{key}: {value}")
    (_shares if mixed else _scaling)(group, size, timing, file if group.processes.first else None)


def _scaling(group: DeviceGroup, size: int, timing: dict[str, Any], file: str | None) -> None:
    rows = scaling.menu(size, len(group.owners), _other_channel(group))
    first = group.processes.first
    if first:
        print(
            f"alone: MLUPS of one block on the first device; effic.: MLUPS over {group.devices} x alone\n"
            f"{scaling.HEADER}",
            flush=True,
        )
    measurements = []
    for measurement in scaling.measure_all(rows, group, **timing):
        measurements.append(measurement)
        if first:
            print(measurement.line(), flush=True)
            single.write_json(file, scaling.to_json(measurements, group, timing["threads"]))


def _other_channel(group: DeviceGroup) -> str | None:
    """The channel that the engine's choice is compared with; None for CPUs of several ranks, which have only one."""
    if group.processes.size == 1:
        return "staged"
    return None if all(name == "cpu" for _, name in group.owners) else "mpi"


def _shares(group: DeviceGroup, size: int, timing: dict[str, Any], file: str | None) -> None:
    fast = [name for _, name in group.owners if name != "cpu"]
    print(
        f"share: part of the cells on the CPU; without: MLUPS of {', '.join(fast)} alone\n{sharing.HEADER}",
        flush=True,
    )
    measurements = []
    for measurement in sharing.measure_all(size, fast, "cpu", **timing):
        measurements.append(measurement)
        print(measurement.line(), flush=True)
        single.write_json(file, sharing.to_json(measurements, group, timing["threads"]))
