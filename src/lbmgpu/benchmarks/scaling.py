"""Measures how the speed grows with the number of devices: blocks over all of them compared with one block on one."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

from .. import models
from ..collision_table import of_stencil
from ..collisions import MRT
from ..errors import TooLittleMemoryError
from ..layout import Block, Layout
from ..parallel.processes import Processes
from ..solver import Solver, simulation_of
from . import d2q37_flow, prediction, single
from .device_group import DeviceGroup
from .flows import make_solver

SCHEDULES = ("overlap", "blocking")
"""The values of `Scaling.schedule`: the exchange is hidden behind the interior's update, or precedes the update."""

PLANE = 8
"""The side of the plane of D2Q37 as a multiple of that of the box: 4096 for 512."""


@dataclass(frozen=True)
class Scaling:
    """One row of a scaling menu, cut into blocks: MRT in float32, in place, unless it says else.

    Attributes:
        series: ``"weak"``: as many cells a device as the one alone has; ``"strong"``: as many in all.
        shape: cells of the whole domain along each axis.
        parts: blocks along each axis. They go to the devices in order, the last axis changing fastest.
        stencil, storage: as for `Solver`.
        flow: one of those of `flows.py`.
        channel: as for `Solver`; empty for the engine's choice.
        schedule: as for `Solver`, one of `SCHEDULES`; empty for the engine's choice.
        collision: name of its class; if empty MRT, of D2Q37 ThermalBGK.
        precision, streaming: as for `Solver`; if empty float32, float64 where that is stored, and the stencil's own.
        cpu_share: as for `Solver`.
        only: number of the devices that it is for, the first ones of all; 0 for all.
        state: what a cell keeps, as for `Solver`.
    """

    series: str
    shape: tuple[int, ...]
    parts: tuple[int, ...]
    stencil: str = "D3Q19"
    storage: str = "float32"
    flow: str = "periodic"
    channel: str = ""
    schedule: str = ""
    collision: str = ""
    precision: str = ""
    streaming: str = ""
    cpu_share: float | str = 0.0
    only: int = 0
    state: str = "populations"

    def __post_init__(self) -> None:
        of_gas = models.of(self.stencil).carries_temperature
        defaults = {
            "collision": of_stencil(self.stencil)[0].__name__ if of_gas else MRT.__name__,
            "precision": "float64" if self.storage == "float64" else "float32",
            "streaming": models.default_streaming(self.stencil),
        }
        for name, value in defaults.items():
            if not getattr(self, name):
                object.__setattr__(self, name, value)

    @property
    def kind(self) -> tuple[Any, ...]:
        """What one device alone is measured once for."""
        return (self.alone, *self.numbers, self.flow, self.state)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The stencil, the collision, the precision, the storage and the streaming."""
        return self.stencil, self.collision, self.precision, self.storage, self.streaming

    @property
    def alone(self) -> tuple[int, ...]:
        """Cells along each axis of the domain that one device has alone, for comparison."""
        if self.series == "strong":
            return self.shape
        return tuple(n // k for n, k in zip(self.shape, self.parts, strict=True))

    def __str__(self) -> str:
        kind = "" if self.storage == "float32" else f" {self.storage}"
        if self.state == "moments":
            kind += "" if self.collision == "Regularized" else f" {self.collision}"
            kind += " moments" if self.streaming == "two-lattice" else " moments in-place"
        flow = "" if self.flow == "periodic" else f" {self.flow}"
        share = f" cpu {self.cpu_share}" if self.cpu_share else ""
        return f"{self.series} {self.stencil}{kind}{flow} {_times(self.shape)} in {_times(self.parts)}{share}"


@dataclass(frozen=True)
class ScalingMeasurement:
    """The figures of a row.

    Attributes:
        row: the row that was measured.
        devices: the number of devices; a device with several blocks counts once.
        channels: the channels by which the blocks of all processes exchange, most bytes first.
        exchanged_bytes: the bytes that all links exchange in a step.
        overlaps: whether interiors are updated while the exchange goes on.
        hidden_fraction: the part of the exchange's time in which interiors are updated; None if no exchange was timed.
        mlups: million cell updates a second of all devices, the median of the repeats.
        all_mlups: the speed of each repeat.
        alone_mlups: the speed of one block of `Scaling.alone` on the first device in the same run; None where its
            memory does not suffice for that.
        bytes_per_update: bytes of populations, and of the temperature if any, read and written per cell and step.
        layout: offset, size, rank and device of each block.
        share: the part of the cells that CPUs beside GPUs have.
        seconds: of a step, the mean of all blocks: step, boundary, shell, interior, update, exchange while nothing is
            updated, and hidden exchange. All but step are 0 where they are not timed, as in one block on a GPU.
        link_bandwidth: bytes a second that arrive at a rank while its exchange goes on, the mean of all ranks; None
            without an exchange.
        predicted_mlups, predicted_alone_mlups: the speeds by the cost model; None where it was not asked, or has no
            answer.
    """

    row: Scaling
    devices: int
    channels: list[str]
    exchanged_bytes: float
    overlaps: bool
    hidden_fraction: float | None
    mlups: float
    all_mlups: list[float]
    alone_mlups: float | None
    bytes_per_update: int = 0
    layout: list[dict[str, Any]] = field(default_factory=list)
    share: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    link_bandwidth: float | None = None
    predicted_mlups: float | None = None
    predicted_alone_mlups: float | None = None

    @property
    def efficiency(self) -> float | None:
        """`mlups` as a part of what all devices would reach if each were as fast as the one alone."""
        return None if self.alone_mlups is None else self.mlups / (self.devices * self.alone_mlups)

    @property
    def predicted_efficiency(self) -> float | None:
        """The same by the cost model."""
        if self.predicted_mlups is None or self.predicted_alone_mlups is None:
            return None
        return self.predicted_mlups / (self.devices * self.predicted_alone_mlups)

    @property
    def schedule(self) -> str:
        """The schedule that the engine followed; it may be ``"blocking"`` where overlap was asked for."""
        return "overlap" if self.overlaps else "blocking"

    def line(self, *, predicted: bool) -> str:
        """A line of the table, with the efficiency by the cost model or without."""
        line = (
            f"{self.row!s:<64}{'+'.join(self.channels) or 'none':<15}{self.schedule:<10}"
            f"{'' if self.hidden_fraction is None else f'{100 * self.hidden_fraction:.0f} %':>7}"
            f"{self.mlups:>10.1f} {_or_none(self.alone_mlups, '.1f'):>9}{_or_none(self.efficiency, '.3f'):>8}"
        )
        return f"{line}{_or_none(self.predicted_efficiency, '.3f'):>8}" if predicted else line


HEADER = f"{'configuration':<64}{'links':<15}{'schedule':<10}{'hidden':>7}{'MLUPS':>10}{'alone':>10}{'effic.':>8}"
LEGEND = """\
weak: the box grows with the devices; strong: it is the same, cut into more blocks
links: how blocks exchange: direct, from memory to memory; staged, through the host's; mpi, in messages; none
schedule: the exchange goes on while the interior is updated (overlap), or before it (blocking)
hidden: part of the exchange's time in which the interior was updated
alone: MLUPS of the first device with one block, in weak rows its part of the box, in strong rows all of it
effic.: MLUPS over those alone times the number of devices, each counted once"""
"""What the columns of the table are."""


def menu(size: int, blocks: int, other_channel: str | None) -> list[Scaling]:
    """The rows of the benchmark over several devices.

    Args:
        size: cells a side of the box that a device has in the weak rows, and of the larger one in all in the strong
            rows; at least 8. Of D2Q37 the side is `PLANE` times that.
        blocks: one for each device.
        other_channel: the channel that the engine's choice is compared with, ``"staged"`` in one process or ``"mpi"``
            over several; None to leave these rows out, where there is no other.

    Raises:
        ValueError: `size` is too small for so many blocks.
    """
    check_size(size, blocks)
    slabs = [(1, 1, blocks), (1, blocks, 1), (blocks, 1, 1)]
    weak = list(slabs)
    if blocks in (4, 8):
        weak.append((blocks // 4, 2, 2))
    rows = [Scaling("weak", tuple(size * k for k in parts), parts) for parts in weak]
    deep = (size, size, size * blocks)
    if other_channel is not None:
        rows.append(Scaling("weak", deep, slabs[0], channel=other_channel))
    rows.append(Scaling("weak", deep, slabs[0], storage="float16"))
    rows.append(Scaling("weak", deep, slabs[0], flow="heated"))
    rows.append(Scaling("strong", (size,) * 3, slabs[2]))
    # Of the proportions of examples/cylinder_d3q27.py; with as many cells as the box it would take longer to list the
    # links of its walls than to measure it.
    unit = max(1, size // 12)
    channels = [""] if other_channel is None else ["", other_channel]
    forced = [(channel, schedule) for channel in channels for schedule in SCHEDULES]
    for channel, schedule in forced:
        rows.append(Scaling("strong", (size,) * 3, slabs[0], channel=channel, schedule=schedule))
    for channel, schedule in forced:
        rows.append(Scaling("strong", (size // 2,) * 3, slabs[0], channel=channel, schedule=schedule))
    if 8 % blocks == 0 and blocks < 8:  # several blocks a device, with edges and corners
        rows.append(Scaling("strong", (size // 2,) * 3, (2, 2, 2)))
    for channel in channels:
        shape = (21 * unit, 8 * unit, 3 * unit)
        rows.append(Scaling("strong", shape, slabs[2], "D3Q27", "float32", "channel", channel))
    return rows + _between_plates(PLANE * size, blocks, channels)


def check_size(size: int, blocks: int) -> None:
    """Raise ValueError for a size that is too small for so many blocks."""
    if size < max(8, 2 * blocks):
        raise ValueError(f"size: {size} given, must be at least {max(8, 2 * blocks)} to be cut into {blocks} blocks")


def _between_plates(size: int, blocks: int, channels: Sequence[str]) -> list[Scaling]:
    """Rows of D2Q37, cut along one axis and along both."""
    kind: dict[str, Any] = {"stencil": d2q37_flow.STENCIL, "storage": "float64", "flow": "plates"}
    layers, columns = (1, blocks), (blocks, 1)
    both = (2, blocks // 2) if blocks >= 4 and blocks % 2 == 0 else (2, 2) if blocks == 2 else None  # two a device
    rows = [Scaling("weak", (size, size * blocks), layers, **kind)]
    for channel in channels:
        rows.append(Scaling("strong", (size, size), layers, channel=channel, schedule="overlap", **kind))
    rows.append(Scaling("strong", (size, size), layers, schedule="blocking", **kind))
    rows.append(Scaling("strong", (size, size), columns, **kind))
    if both is not None:
        rows.append(Scaling("strong", (size, size), both, **kind))
    return list(dict.fromkeys(rows))


def default_size(group: DeviceGroup) -> int:
    """The default number of cells a side, the same as for one device."""
    return (single.SIZE if group.first_device == "cpu" else single.GPU_SIZE)[3]


def measure_all(
    rows: Sequence[Scaling],
    group: DeviceGroup,
    *,
    threads: int | None,
    seconds: float,
    repeats: int,
    predicted: bool = False,
) -> Iterator[ScalingMeasurement]:
    """Measure one after the other, and one device alone where a row is the first of its kind.

    Args:
        rows: what to measure.
        group: the devices, and the processes that they belong to, all of which call this together.
        threads: CPU threads of each process; None for all cores, or the process's share of them.
        seconds: the duration of the steps of a repeat.
        repeats: the number of repeats of each row.
        predicted: whether the cost model says its part too, for which the devices and links are measured first.

    Raises:
        ValueError: memory does not suffice, or a size cannot be cut.
        CudaError: a GPU cannot be used.
    """
    known: dict[tuple[Any, ...], float] = {}
    model = prediction.Model(group, threads) if predicted else None
    for row in rows:
        if row.kind not in known:
            known[row.kind] = group.alone(partial(_alone, row, group, threads, seconds, repeats))
        found = _measure(row, group, known[row.kind] or None, threads, seconds, repeats)
        if model is not None:
            mlups, alone = model.mlups(row, found.layout, found.overlaps), model.alone_mlups(row)
            found = replace(found, predicted_mlups=mlups, predicted_alone_mlups=alone)
        yield found


def _alone(row: Scaling, group: DeviceGroup, threads: int | None, seconds: float, repeats: int) -> float:
    """The speed of one device alone; 0 where its memory does not suffice."""
    where = {"device": group.first_device, "comm": Processes(), "threads": threads or group.threads}
    try:
        solver = make_solver(row, row.alone, **where)
    except TooLittleMemoryError:
        return 0.0
    return statistics.median(speeds(solver, seconds, repeats))


def _measure(
    row: Scaling, group: DeviceGroup, alone: float | None, threads: int | None, seconds: float, repeats: int
) -> ScalingMeasurement:
    how: dict[str, Any] = {"channel": row.channel or "auto", "schedule": row.schedule or "auto"}
    how["cpu_share"] = row.cpu_share
    solver = make_solver(row, row.shape, layout=layout_of(row, group), comm=group.processes, threads=threads, **how)
    reached = speeds(solver, seconds, repeats)
    links: dict[str, float] = {}
    engine = simulation_of(solver).engine
    blocks = engine.layout
    own = [link for link in engine.links if blocks[link["to"]]["rank"] == solver.rank]  # the imports
    for channel, size in group.all([(link["channel"], link["bytes"]) for link in own]):
        links[channel] = links.get(channel, 0.0) + size
    channels = sorted(links, key=lambda channel: -links[channel])
    times = {**engine.phase_seconds, **engine.update_seconds}
    arrived = sum(link["bytes"] for link in own) * solver.steps
    every = group.all([{"overlaps": engine.overlaps, "arrived": arrived, **times}])
    means = {name: statistics.fmean(rank[name] for rank in every) / solver.steps for name in times}
    exchanges = [(rank["arrived"], rank["exchange"] + rank["hidden exchange"]) for rank in every]
    rates = [size / time for size, time in exchanges if size > 0 and time > 0]
    exchange = means["exchange"] + means["hidden exchange"]
    mlups = statistics.median(reached)
    cells = sum(math.prod(block["size"]) for block in blocks if block["device"] == "cpu")
    shared = any(block["device"] != "cpu" for block in blocks)
    return ScalingMeasurement(
        row,
        group.different(row.only),
        channels,
        sum(links.values()),
        any(rank["overlaps"] for rank in every),
        means["hidden exchange"] / exchange if exchange > 0 else None,
        mlups,
        reached,
        alone,
        engine.bytes_per_update,
        blocks,
        cells / solver.domain.cells if shared else 0.0,
        {"step": solver.domain.cells / mlups / 1e6, **means},
        statistics.fmean(rates) if rates else None,
    )


def layout_of(row: Scaling, group: DeviceGroup) -> Layout:
    """The blocks of a row on the devices of a group: as many on each, consecutive ones on one device.

    Raises:
        ValueError: more parts than cells, or not as many for each device.
    """
    blocks, given = Layout.split(row.shape, row.parts), group.owners[: row.only or None]
    if len(blocks) % len(given):
        raise ValueError(
            f"parts: {row.parts} given, makes {len(blocks)} blocks, must be as many for each of {len(given)} devices"
        )
    owners = [given[k * len(given) // len(blocks)] for k in range(len(blocks))]
    return Layout(
        Block(block.offset, block.size, rank, device) for block, (rank, device) in zip(blocks, owners, strict=True)
    )


def speeds(solver: Solver, seconds: float, repeats: int) -> list[float]:
    """Million cell updates a second, `repeats` times in about `seconds` of steps; all ranks of the solver call it.

    Raises:
        DivergedError: the flow did not stay finite.
    """
    simulation = simulation_of(solver)
    with_cpu = any(block.device == "cpu" for block in simulation.layout)  # the same on all ranks
    simulation.advance(single.STEPS_OF_SWEEPS * (1 if with_cpu else 7))  # kernels are compiled
    steps = single.STEPS_OF_SWEEPS  # and no others: those of shorter sweeps would be compiled meanwhile
    while (elapsed := simulation.advance(steps)) < 0.1 * seconds:
        steps *= 2 if elapsed > 0.05 * seconds else 4
    steps = max(1, round(steps * seconds / elapsed / single.STEPS_OF_SWEEPS)) * single.STEPS_OF_SWEEPS
    found = [solver.domain.cells * steps / simulation.advance(steps) / 1e6 for _ in range(repeats)]
    solver.check()
    return found


def to_json(measurements: Sequence[ScalingMeasurement], group: DeviceGroup, threads: int | None) -> dict[str, Any]:
    """The measurements and the machine as JSON, on rank 0; rows hold their `efficiency` too."""
    rows = [
        {**asdict(m.row), **asdict(m), "efficiency": m.efficiency, "predicted_efficiency": m.predicted_efficiency}
        for m in measurements
    ]
    for row in rows:
        del row["row"]
    return {"machine": machine(group, threads), "scaling": rows}


def machine(group: DeviceGroup, threads: int | None) -> dict[str, Any]:
    """The devices that the figures were measured on and their software, as rank 0 knows them."""
    names = dict.fromkeys(name for rank, name in group.owners if rank == 0)
    kinds = {"cpu" if name == "cpu" else "gpu": name for name in reversed(names)}
    properties: dict[str, Any] = {}
    for name in kinds.values():
        properties |= single.machine(threads or group.threads, name)
    properties |= {"devices": [name for _, name in group.owners], "processes": group.processes.size}
    properties |= {"ranks": [rank for rank, _ in group.owners], "hosts": group.hosts}
    properties |= {"lbmgpu": version("lbmgpu"), "numpy": np.__version__}
    if group.processes.engine is not None:
        properties["mpi"] = group.processes.engine.library
    return properties


def _times(numbers: Sequence[int]) -> str:
    return "x".join(map(str, numbers))


def _or_none(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
