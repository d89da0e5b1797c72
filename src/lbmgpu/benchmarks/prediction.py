"""What the cost model says of the rows of a benchmark, by the speeds of devices and links in the same run."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from ..planning import cost_model, job, machine
from ..planning.configuration import Configuration, problem_of
from .device_group import DeviceGroup


class Row(Protocol):
    """What of a row the model asks."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along each axis."""

    @property
    def alone(self) -> tuple[int, ...]:
        """Those that one device has alone."""

    @property
    def numbers(self) -> tuple[str, ...]:
        """Stencil, collision, precision, storage, streaming."""

    @property
    def state(self) -> str:
        """What a cell keeps, as for `Solver`."""

    @property
    def flow(self) -> str:
        """The flow; the walls of each are those of `WALLS`."""


WALLS = {"cavity": "xyz", "heated": "xyz", "channel": "xyz", "sphere": "y", "plates": "y"}
"""The axes along which the domain of a flow is not periodic, but that the sides of the channel are."""


class Model:
    """The cost model of a group of devices; all ranks make it and call its methods together.

    Args:
        group: the devices.
        threads: CPU threads of each process; None for all cores, or the process's share of them.
    """

    def __init__(self, group: DeviceGroup, threads: int | None) -> None:
        self._group, self._threads = group, threads or group.threads

    def mlups(self, row: Row, blocks: Sequence[dict[str, Any]], overlaps: bool) -> float | None:
        """Million cell updates a second of a row whose blocks are given with offset, size, rank and device.

        None where the blocks are no grid.
        """
        tiling = tiling_of(blocks, row.shape)
        if tiling is None:
            return None
        configuration = self._configuration(row)
        found = self._machine(configuration, blocks)
        at = {tuple(block["offset"]): device for block, device in zip(blocks, found.devices, strict=True)}
        found = replace(found, devices=tuple(at[tiling.offset(place)] for place in tiling.places()))
        return cost_model.predict(found, _problem(row, row.shape, configuration), tiling, overlaps).mlups

    def alone_mlups(self, row: Row) -> float | None:
        """The same of one block on the first device."""
        rank, device = self._group.owners[0]
        configuration = self._configuration(row)
        first = [{"rank": rank, "device": device}]
        tiling = cost_model.Tiling(tuple((n,) for n in row.alone))
        found = self._machine(configuration, first)
        return cost_model.predict(found, _problem(row, row.alone, configuration), tiling).mlups

    def _configuration(self, row: Row) -> Configuration:
        stencil, collision, precision, storage, streaming = row.numbers
        flow = "heated" if row.flow == "heated" else "periodic"
        return Configuration(stencil, collision, precision, storage, streaming, flow=flow, state=row.state)

    def _machine(self, configuration: Configuration, blocks: Sequence[dict[str, Any]]) -> cost_model.Machine:
        """The measured machine with the device of each block, in the order of blocks, and the links between them."""
        processes = self._group.processes
        if processes.size == 1:
            names = [block["device"] for block in blocks]
            return machine.measure_machine(names, configuration, self._threads)
        own = [block["device"] for block in blocks if block["rank"] == processes.rank]
        found = job.measure_job(processes, own, configuration, self._threads)  # its devices are in the order of ranks
        order = sorted(range(len(blocks)), key=lambda number: int(blocks[number]["rank"]))
        at = dict(zip(order, found.devices, strict=True))
        return replace(found, devices=tuple(at[number] for number in range(len(blocks))))


def tiling_of(blocks: Sequence[dict[str, Any]], shape: tuple[int, ...]) -> cost_model.Tiling | None:
    """The tiling that blocks with offset and size are; None if they are no grid."""
    sizes = []
    for axis, cells in enumerate(shape):
        edges = [*sorted({block["offset"][axis] for block in blocks}), cells]
        sizes.append(tuple(b - a for a, b in itertools.pairwise(edges)))
    tiling = cost_model.Tiling(tuple(sizes))
    if math.prod(tiling.parts) != len(blocks):
        return None
    return tiling


def _problem(row: Row, shape: tuple[int, ...], configuration: Configuration) -> cost_model.Problem:
    around = tuple(axis not in WALLS.get(row.flow, "") for axis in "xyz"[: len(shape)])
    return problem_of(configuration, shape, around)
