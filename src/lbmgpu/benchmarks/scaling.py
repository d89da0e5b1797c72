"""Measures how the speed grows with the number of devices: blocks over all of them compared with one block on one."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from ..collisions import MRT
from ..conditions import FreeSlip, Isothermal, NoSlip, Outflow, VelocityInlet
from ..domain import Domain
from ..engine import digits
from ..layout import Block, Layout
from ..parallel.processes import Processes
from ..planning.configuration import HEAT, VISCOSITY
from ..solver import Solver, simulation_of
from . import flows, single
from .device_group import DeviceGroup

SPEED = 0.05
"""Velocity of the inlet of the channel."""

STREAM = (0.03, 0.02, 0.01)
"""Velocity of the periodic boxes."""

STIRRING = 10
"""Steps in which a force brings a box to its velocity: an array of velocities would take longer than the measurement,
and more memory than the lattice."""

SCHEDULES = ("overlap", "blocking")
"""The values of `Scaling.schedule`: the exchange is hidden behind the interior's update, or precedes the update."""

PLANE = 8
"""The side of the plane of D2Q37 as a multiple of that of the box: 4096 for 512."""


@dataclass(frozen=True)
class Scaling:
    """One row of a scaling menu, cut into blocks: MRT in float32, in place; of D2Q37 what goes with it, in float64.

    Attributes:
        series: ``"weak"``: as many cells a device as the one alone has; ``"strong"``: as many in all.
        shape: cells of the whole domain along each axis.
        parts: blocks along each axis. They go to the devices in order, the last axis changing fastest.
        stencil, storage: as for `Solver`.
        flow: ``"periodic"``, a uniform stream; ``"channel"``, from an inlet past a cylinder to an outflow, along x;
            ``"heated"``, in a box between a warm and a cold wall across x; ``"plates"``, of D2Q37, a gas between a warm
            and a cold plate across y.
        channel: as for `Solver`; empty for the engine's choice.
        schedule: as for `Solver`, one of `SCHEDULES`; empty for the engine's choice.
    """

    series: str
    shape: tuple[int, ...]
    parts: tuple[int, ...]
    stencil: str = "D3Q19"
    storage: str = "float32"
    flow: str = "periodic"
    channel: str = ""
    schedule: str = ""

    @property
    def precision(self) -> str:
        """The precision of the arithmetic."""
        return "float64" if self.storage == "float64" else "float32"

    @property
    def alone(self) -> tuple[int, ...]:
        """Cells along each axis of the domain that one device has alone, for comparison."""
        if self.series == "strong":
            return self.shape
        return tuple(n // k for n, k in zip(self.shape, self.parts, strict=True))

    def __str__(self) -> str:
        kind = "" if self.storage == "float32" else f" {self.storage}"
        flow = "" if self.flow == "periodic" else f" {self.flow}"
        return f"{self.series} {self.stencil}{kind}{flow} {_times(self.shape)} in {_times(self.parts)}"


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
        alone_mlups: the speed of one block of `Scaling.alone` on the first device in the same run.
    """

    row: Scaling
    devices: int
    channels: list[str]
    exchanged_bytes: float
    overlaps: bool
    hidden_fraction: float | None
    mlups: float
    all_mlups: list[float]
    alone_mlups: float

    @property
    def efficiency(self) -> float:
        """`mlups` as a part of what all devices would reach if each were as fast as the one alone."""
        return self.mlups / (self.devices * self.alone_mlups)

    @property
    def schedule(self) -> str:
        """The schedule that the engine followed; it may be ``"blocking"`` where overlap was asked for."""
        return "overlap" if self.overlaps else "blocking"

    def line(self) -> str:
        """A line of the table."""
        return (
            f"{self.row!s:<56}{'+'.join(self.channels) or 'none':<15}{self.schedule:<10}"
            f"{'' if self.hidden_fraction is None else f'{100 * self.hidden_fraction:.0f} %':>7}"
            f"{self.mlups:>10.1f} {self.alone_mlups:>9.1f}{self.efficiency:>8.3f}"
        )


HEADER = f"{'configuration':<56}{'links':<15}{'schedule':<10}{'hidden':>7}{'MLUPS':>10}{'alone':>10}{'effic.':>8}"


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
    if size < max(8, 2 * blocks):
        raise ValueError(f"size: {size} given, must be at least {max(8, 2 * blocks)} to be cut into {blocks} blocks")
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


def _between_plates(size: int, blocks: int, channels: Sequence[str]) -> list[Scaling]:
    """Rows of D2Q37, cut along one axis and along both. Only cuts along y leave rows whole and the exchange hidden."""
    kind = {"stencil": flows.STENCIL, "storage": "float64", "flow": "plates"}
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
    rows: Sequence[Scaling], group: DeviceGroup, *, threads: int | None, seconds: float, repeats: int
) -> Iterator[ScalingMeasurement]:
    """Measure one after the other, and one device alone where a row is the first of its kind.

    Args:
        rows: what to measure.
        group: the devices, and the processes that they belong to, all of which call this together.
        threads: CPU threads of each process; None for all cores, or the process's share of them.
        seconds: the duration of the steps of a repeat.
        repeats: the number of repeats of each row.

    Raises:
        ValueError: memory does not suffice, or a size cannot be cut.
        CudaError: a GPU cannot be used.
    """
    known: dict[tuple[Any, ...], float] = {}
    for row in rows:
        kind = (row.alone, row.stencil, row.storage, row.flow)
        if kind not in known:
            known[kind] = group.alone(partial(_alone, row, group, threads, seconds, repeats))
        yield _measure(row, group, known[kind], threads, seconds, repeats)


def _alone(row: Scaling, group: DeviceGroup, threads: int | None, seconds: float, repeats: int) -> float:
    solver = make_solver(row, row.alone, device=group.first_device, comm=Processes(), threads=threads or group.threads)
    return statistics.median(speeds(solver, seconds, repeats))


def _measure(
    row: Scaling, group: DeviceGroup, alone: float, threads: int | None, seconds: float, repeats: int
) -> ScalingMeasurement:
    how = {"channel": row.channel or "auto", "schedule": row.schedule or "auto"}
    solver = make_solver(row, row.shape, layout=layout_of(row, group), comm=group.processes, threads=threads, **how)
    reached = speeds(solver, seconds, repeats)
    links: dict[str, float] = {}
    engine = simulation_of(solver).engine
    blocks = engine.layout
    own = [link for link in engine.links if blocks[link["to"]]["rank"] == solver.rank]  # the imports
    for channel, size in group.all([(link["channel"], link["bytes"]) for link in own]):
        links[channel] = links.get(channel, 0.0) + size
    channels = sorted(links, key=lambda channel: -links[channel])
    phases = engine.phase_seconds
    times = group.all([(engine.overlaps, phases["hidden exchange"], phases["exchange"])])
    hidden, waited = (sum(values) for values in list(zip(*times, strict=True))[1:])
    return ScalingMeasurement(
        row,
        group.devices,
        channels,
        sum(links.values()),
        any(overlaps for overlaps, _, _ in times),
        hidden / (hidden + waited) if hidden + waited > 0 else None,
        statistics.median(reached),
        reached,
        alone,
    )


def layout_of(row: Scaling, group: DeviceGroup) -> Layout:
    """The blocks of a row on the devices of a group: as many on each, consecutive ones on one device.

    Raises:
        ValueError: more parts than cells.
    """
    blocks = Layout.split(row.shape, row.parts)
    owners = [group.owners[k * len(group.owners) // len(blocks)] for k in range(len(blocks))]
    return Layout(
        Block(block.offset, block.size, rank, device) for block, (rank, device) in zip(blocks, owners, strict=True)
    )


@digits.unwarned()
def make_solver(row: Scaling, shape: tuple[int, ...], **options: Any) -> Solver:
    """A solver of a row's kind for a domain of `shape`, in motion; `options` are those of `Solver`."""
    domain = Domain(shape, row.stencil)
    if row.flow == "plates":
        flows.add_plates(domain)
        solver = Solver(domain, flows.collision(), precision=row.precision, storage=row.storage, **options)
        flows.set_in_motion(solver, (STREAM[0], 0.0))
        return solver
    if row.flow == "channel":
        domain.faces["-x"], domain.faces["+x"] = VelocityInlet((SPEED, 0.0, 0.0)), Outflow()
        domain.faces["-y"] = domain.faces["+y"] = NoSlip()
        domain.faces["-z"] = domain.faces["+z"] = FreeSlip()
        x, y = (np.arange(n) + 0.5 for n in shape[:2])
        disc = np.hypot(x[:, None] - shape[0] * 5 / 21, y[None, :] - shape[1] / 2) < max(1.0, shape[1] / 16)
        domain.add_body(np.broadcast_to(disc[:, :, None], shape), "cylinder")
    if row.flow == "heated":
        for face in domain.faces:
            domain.faces[face] = NoSlip()
        domain.thermal["-x"], domain.thermal["+x"] = Isothermal(0.5), Isothermal(-0.5)
        options["thermal"] = HEAT
    velocity = (SPEED, 0.0, 0.0) if row.flow == "channel" else STREAM
    force = tuple(u / STIRRING for u in velocity)
    solver = Solver(domain, MRT(VISCOSITY), storage=row.storage, force=force, **options)
    solver.step(STIRRING)
    solver.force = None
    return solver


def speeds(solver: Solver, seconds: float, repeats: int) -> list[float]:
    """Million cell updates a second, `repeats` times in about `seconds` of steps; all ranks of the solver call it.

    Raises:
        DivergedError: the flow did not stay finite.
    """
    simulation = simulation_of(solver)
    simulation.advance(2 if solver.device == "cpu" else 40)  # kernels are compiled, steps recorded
    steps = 2
    while (elapsed := simulation.advance(steps)) < 0.1 * seconds:
        steps *= 2 if elapsed > 0.05 * seconds else 4
    steps = max(2, round(steps * seconds / elapsed / 2) * 2)
    found = [solver.domain.cells * steps / simulation.advance(steps) / 1e6 for _ in range(repeats)]
    solver.check()
    return found


def to_json(measurements: Sequence[ScalingMeasurement], group: DeviceGroup, threads: int | None) -> dict[str, Any]:
    """The measurements and the machine as JSON, on rank 0; rows hold their `efficiency` too."""
    rows = [{**asdict(m.row), **asdict(m), "efficiency": m.efficiency} for m in measurements]
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
    return {**properties, "devices": [name for _, name in group.owners], "processes": group.processes.size}


def _times(numbers: Sequence[int]) -> str:
    return "x".join(map(str, numbers))
