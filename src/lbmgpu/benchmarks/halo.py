"""Measures the exchange of halos between two devices against the size of its messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .. import _core
from ..layout import Layout
from ..planning.configuration import Configuration
from ..planning.machine import DEEP, exchange_of, make_exchanging
from . import single
from .device_group import DeviceGroup
from .scaling import machine

SIDES = {("cpu", 3): (8, 16, 32, 64, 128), ("cpu", 2): (64, 256, 1024, 4096)}
SIDES |= {("cuda", 3): (8, 16, 32, 64, 128, 256, 512), ("cuda", 2): (64, 256, 1024, 4096, 16384, 65536)}
"""Cells along each axis of the face between the blocks, by device and dimensions of the stencil."""


@dataclass(frozen=True)
class HaloMeasurement:
    """The exchange between two blocks, of which each gets the other's halo on both sides of it.

    Attributes:
        configuration: what cells keep; its size is that of the face, in cells along each axis.
        axis: the axis across which the blocks are neighbours.
        channels: the channels by which they exchange.
        bytes: those that each block gets.
        seconds: of an exchange while nothing is updated.
        bandwidth: bytes a second that arrive at a block.
    """

    configuration: Configuration
    axis: str
    channels: list[str]
    bytes: float
    seconds: float
    bandwidth: float

    def line(self) -> str:
        """A line of the table."""
        c = self.configuration
        face = f"{c.stencil} {c.storage}, {' x '.join([str(c.size)] * (_core.stencil(c.stencil).D - 1))} cells"
        return (
            f"{face:<40}{self.axis:>5}  {'+'.join(self.channels):<15}{self.bytes / 1024:>11.1f}"
            f"{1e6 * self.seconds:>10.1f}{self.bandwidth / 1e9:>8.2f}"
        )


HEADER = f"{'face':<40}{'axis':>5}  {'links':<15}{'KiB':>11}{'us':>10}{'GB/s':>8}"


def measure_all(
    group: DeviceGroup, chosen: Mapping[str, str], size: int | None, *, threads: int | None, channels: Sequence[str]
) -> Iterator[HaloMeasurement]:
    """Measure faces of all sizes across each axis, by each channel; all ranks of the group call it.

    Args:
        group: two devices, of one process or of two.
        chosen: stencil, collision, precision, storage, streaming and state, those that are given.
        size: cells along each axis of the face; None for `SIDES`.
        threads: CPU threads of each process; None for all cores, or the process's share of them.
        channels: as for `Solver`, the engine's choice first; one that proves to be that choice is not measured again.

    Raises:
        ValueError: not two devices, what does not go together, or memory that does not suffice.
        CudaError: a GPU cannot be used.
    """
    if len(group.owners) != 2:
        raise ValueError(f"devices: {len(group.owners)} given, must be two for the menu 'halo'")
    plain = single.completed(size or 1, group.first_device, chosen)
    if plain.flow not in ("periodic", "heated"):
        raise ValueError(f"flow: {plain.flow!r} given with the menu 'halo', must be periodic or heated")
    dimensions = _core.stencil(plain.stencil).D
    kind = "cpu" if any(name == "cpu" for _, name in group.owners) else "cuda"
    ranks = [rank for rank, _ in group.owners]
    known: list[list[str]] = []
    sides = SIDES[kind, dimensions] if size is None else (size,)
    for channel in channels:
        for axis in range(dimensions):
            for side in sides:
                shape, parts = [side] * dimensions, [1] * dimensions
                shape[axis], parts[axis] = 2 * DEEP, 2
                layout = Layout.split(shape, parts, [name for _, name in group.owners], ranks=ranks)
                configuration = single.completed(side, group.first_device, chosen)
                options = {"threads": threads or group.threads, "channel": channel, "comm": group.processes}
                simulation = make_exchanging(shape, layout, configuration, **options)
                moved, seconds = exchange_of(simulation)
                found = sorted({link["channel"] for link in simulation.engine.links})
                if axis == 0 and side == sides[0]:
                    if found in known:  # the engine's choice was this channel
                        return
                    known.append(found)
                yield HaloMeasurement(configuration, "xyz"[axis], found, moved, seconds, moved / seconds)


def to_json(measurements: Sequence[HaloMeasurement], group: DeviceGroup, threads: int | None) -> dict[str, Any]:
    """The measurements and the machine as JSON."""
    return {"machine": machine(group, threads), "halo": [asdict(m) for m in measurements]}
