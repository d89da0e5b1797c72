"""Measures the gain or loss of speed when the CPU takes a share of a domain from the GPUs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..layout import Block, Layout
from ..planning.planner import plan
from .device_group import DeviceGroup
from .flows import make_solver
from .scaling import Scaling, machine, speeds

PARTS = (128, 64, 32, 16)
"""The slow device gets one layer of every 128, 64 and so on."""

CHOICE: dict[str, Any] = {"channel": "auto", "schedule": "auto"}
"""Options of `Solver` that leave the choice to the engine, whatever the environment says."""


@dataclass(frozen=True)
class ShareMeasurement:
    """A domain of which a slow device takes a part; D3Q19 MRT in float32, in place, periodic.

    Attributes:
        shape: the shape of the domain.
        planned: whether the layout is that of ``layout="auto"``; else it has layers across the last axis.
        layout: the size and the device of each block.
        share: the part of the cells that the slow device has.
        mlups: million cell updates a second of all devices, the median of the repeats.
        all_mlups: the speed of each repeat.
        alone_mlups: the speed of the other devices without the slow one, in the same run.
    """

    shape: tuple[int, ...]
    planned: bool
    layout: list[tuple[tuple[int, ...], str]]
    share: float
    mlups: float
    all_mlups: list[float]
    alone_mlups: float

    @property
    def gain(self) -> float:
        """The fraction by which the slow device raises the speed of the others; negative where it lowers it."""
        return self.mlups / self.alone_mlups - 1

    def line(self) -> str:
        """A line of the table."""
        domain = "x".join(map(str, self.shape))
        blocks = " + ".join("x".join(map(str, size)) for size, _ in self.layout)
        how = "auto" if self.planned else "layers"
        return (
            f"{domain:<15}{how:<8}{blocks:<34}{self.share:>9.5f}{self.mlups:>11.1f} {self.alone_mlups:>10.1f}"
            f"{100 * self.gain:>9.2f}"
        )


HEADER = f"{'domain':<15}{'layout':<8}{'blocks':<34}{'share':>9}{'MLUPS':>11} {'without':>10}{'gain, %':>9}"


def is_mixed(group: DeviceGroup) -> bool:
    """Whether the group has both GPUs and the CPU."""
    return len({name == "cpu" for _, name in group.owners}) == 2


def measure_all(
    size: int, fast: Sequence[str], slow: str, *, threads: int | None, seconds: float, repeats: int
) -> Iterator[ShareMeasurement]:
    """Measure boxes of `size` and half as many cells a side, for each the fast devices alone first.

    Args:
        size: cells a side of the larger box.
        fast: the devices that get equal layers.
        slow: the device whose share is varied: none, those of `PARTS`, and the one that ``layout="auto"`` chooses.
        threads: CPU threads; None for the solver's choice.
        seconds: the duration of the steps of a repeat.
        repeats: the number of repeats of each layout.

    Raises:
        ValueError: memory does not suffice, or there are fewer layers than devices.
        CudaError: a GPU cannot be used.
    """
    for side in (size, size // 2):
        row = Scaling("strong", (side,) * 3, (1, 1, len(fast)))
        layouts = [(layers_of(row.shape, fast, slow, n), False) for n in share_layers(side)]
        alone: float | None = None
        layouts.append((_chosen(row, [*fast, slow], threads), True))
        for layout, planned in layouts:
            reached = speeds(make_solver(row, row.shape, layout=layout, threads=threads, **CHOICE), seconds, repeats)
            mlups = statistics.median(reached)
            alone = mlups if alone is None else alone
            blocks = [(block.size, block.device) for block in layout]
            yield ShareMeasurement(row.shape, planned, blocks, share_of(layout, slow), mlups, reached, alone)


def share_layers(layers: int) -> list[int]:
    """The numbers of layers that the slow device gets in turn: none, and the parts of `PARTS` that are not empty."""
    return [0, *(layers // part for part in PARTS if layers >= part)]


def layers_of(shape: tuple[int, ...], fast: Sequence[str], slow: str, layers: int) -> Layout:
    """A layout with the last `layers` across the last axis on the slow device, and the others cut equally for the fast.

    Raises:
        ValueError: there are too few layers for the fast devices.
    """
    *plane, deep = shape
    blocks = list(Layout.over((*plane, deep - layers), fast))
    if layers:
        offset = (*(0 for _ in plane), deep - layers)
        blocks.append(Block(offset, (*plane, layers), device=slow))
    return Layout(blocks)


def share_of(layout: Layout, slow: str) -> float:
    """The part of the cells that the slow device has."""
    cells = [(block.device == slow, math.prod(block.size)) for block in layout]
    return sum(n for own, n in cells if own) / sum(n for _, n in cells)


def to_json(measurements: Sequence[ShareMeasurement], group: DeviceGroup, threads: int | None) -> dict[str, Any]:
    """The measurements and the machine as JSON; rows hold their `gain` too."""
    return {"machine": machine(group, threads), "shares": [{**asdict(m), "gain": m.gain} for m in measurements]}


def _chosen(row: Scaling, names: list[str], threads: int | None) -> Layout:
    """The layout that a solver with ``layout="auto"`` has."""
    return plan(row.shape, row.stencil, names, collision="MRT", storage=row.storage, threads=threads, **CHOICE).chosen()
