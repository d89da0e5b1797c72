"""Finds the share of the cells that the CPUs take from the GPUs: about what the cost model gives, the fastest of those
tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..conditions import NoSlip
from ..domain import Domain
from ..layout import Layout
from ..parallel.processes import Processes
from .configuration import Configuration
from .machine import measure_device, step_seconds

FRACTIONS = (1.0, 0.75, 0.5, 0.25)
"""The shares that are tried, as parts of that by which GPUs and CPUs would be done at the same time."""

SECONDS = 0.1
"""Duration of the steps of each, three times."""


def balanced_share(cpu_speed: float, gpu_speeds: Sequence[float]) -> float:
    """The share by which the CPU of a rank is done at the same time as its GPUs, by the speeds of their updates alone.

    Args:
        cpu_speed: bytes a second that the CPU's update moves, with the rank's threads.
        gpu_speeds: those of the rank's GPUs, which give the CPU equal parts.
    """
    return cpu_speed / (cpu_speed + sum(gpu_speeds)) if gpu_speeds else 0.0


def shares_to_try(layout: Layout, share: float) -> list[float]:
    """The parts of a `share` that give the CPU different numbers of layers, 0 first."""
    found: dict[Layout, float] = {layout.with_cpu_share(0.0): 0.0}
    for fraction in sorted(FRACTIONS):
        found.setdefault(layout.with_cpu_share(fraction * share), fraction * share)
    return list(found.values())


def best_share(
    shape: tuple[int, ...],
    periodic: Sequence[bool],
    configuration: Configuration,
    layout: Layout,
    processes: Processes,
    *,
    threads: int | None = None,
    **options: Any,
) -> float:
    """The fastest share of the CPUs in steps of the whole domain, 0 without GPUs; all ranks call this together.

    The speeds of the GPUs and the CPUs, all ranks measuring at the same time, give the largest share that is tried. The
    exchange between GPU and CPU, and their waits for each other, are in the steps that are then timed: 0 is tried too.
    One that does not fit the memory is passed over. Bodies are left out.

    Args:
        shape: of the domain.
        periodic: of each axis, whether the domain is.
        configuration: of the solver; its size is ignored, and of its flow all but the temperature.
        layout: the blocks without a share.
        processes: the processes that the layout is for.
        threads: CPU threads of each process; None for the solver's choice.
        options: channel and schedule, as for `Solver`.

    Raises:
        ValueError: none fits the memory, not even without a share.
        CudaError: a GPU cannot be used.
    """
    if all(block.device == "cpu" for block in layout):
        return 0.0
    own = list(dict.fromkeys(b.device for b in layout if b.rank == processes.rank and b.device != "cpu"))

    def balanced() -> float:
        gpus = [measure_device(name, configuration, threads).speed for name in own]
        return balanced_share(measure_device("cpu", configuration, threads).speed, gpus) if gpus else 1.0

    share = min(processes.shared(processes.each(balanced)))
    box = Domain(shape, configuration.stencil)
    for axis, around in zip("xyz", periodic, strict=False):
        if not around:
            box.faces["-" + axis] = box.faces["+" + axis] = NoSlip()
    times: dict[float, float] = {}
    refused: ValueError | None = None
    for tried in shares_to_try(layout, share):
        try:
            times[tried] = step_seconds(
                box,
                configuration,
                seconds=SECONDS,
                comm=processes,
                layout=layout.with_cpu_share(tried),
                threads=threads,
                **options,
            )
        except ValueError as error:
            refused = error
    if refused is not None and not times:
        raise refused
    return min(times, key=lambda tried: times[tried])
