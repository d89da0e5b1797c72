"""What the cost model says of the rows of a benchmark, by the speeds of devices and links in the same run."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Protocol

import numpy as np

from .. import _core
from ..parallel import placement
from ..planning import cost_model, machine
from ..planning.configuration import Configuration
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
    def flow(self) -> str:
        """The flow; the walls of each are those of `WALLS`."""


WALLS = {"cavity": "xyz", "heated": "xyz", "channel": "xyz", "plates": "y"}
"""The axes along which the domain of a flow is not periodic, but that the sides of the channel are."""


class Model:
    """The cost model of a group of devices; all ranks make it and call its methods together.

    Args:
        group: the devices, of one host, whose ranks see the same GPUs; of others nothing is predicted.
        threads: CPU threads of each process; None for all cores, or the process's share of them.
    """

    def __init__(self, group: DeviceGroup, threads: int | None) -> None:
        self._group, self._threads = group, threads or group.threads
        seen = group.processes.shared(placement.visible_gpus())
        self._is_one_host = len(set(group.hosts)) == 1 and all(gpus == seen[0] for gpus in seen)
        self._devices: dict[tuple[str, ...], dict[str, cost_model.Device]] = {}
        self._links: dict[tuple[str, ...], dict[tuple[str, str], cost_model.Link]] = {}

    def mlups(self, row: Row, blocks: Sequence[dict[str, Any]], overlaps: bool) -> float | None:
        """Million cell updates a second of a row whose blocks are given with offset, size, rank and device.

        None where the blocks are no grid, lie on several hosts, or are of ranks that do not see the same GPUs.
        """
        tiling = tiling_of(blocks, row.shape)
        if tiling is None or not self._is_one_host:
            return None
        configuration = self._configuration(row)
        devices, links = self._measured(configuration, blocks)
        at = {tuple(block["offset"]): _key(block["rank"], block["device"]) for block in blocks}
        owners = [at[tiling.offset(place)] for place in tiling.places()]
        if any(name not in devices for name in owners):
            return None
        pairs = {
            (a, b): links[_device(a), _device(b)] for a in devices for b in devices if (_device(a), _device(b)) in links
        }
        found = cost_model.Machine(tuple(devices[name] for name in owners), pairs=pairs)
        return cost_model.predict(found, _problem(row, row.shape, configuration), tiling, overlaps).mlups

    def alone_mlups(self, row: Row) -> float | None:
        """The same of one block on the first device."""
        rank, device = self._group.owners[0]
        configuration = self._configuration(row)
        first = [{"offset": [0] * len(row.alone), "size": list(row.alone), "rank": rank, "device": device}]
        devices, _ = self._measured(configuration, first)
        tiling = cost_model.Tiling(tuple((n,) for n in row.alone))
        only = cost_model.Machine((devices[_key(rank, device)],))
        return cost_model.predict(only, _problem(row, row.alone, configuration), tiling).mlups

    def _configuration(self, row: Row) -> Configuration:
        stencil, collision, precision, storage, streaming = row.numbers
        flow = "heated" if row.flow == "heated" else "periodic"
        return Configuration(stencil, collision, precision, storage, streaming, flow=flow)

    def _measured(
        self, configuration: Configuration, blocks: Sequence[dict[str, Any]]
    ) -> tuple[dict[str, cost_model.Device], dict[tuple[str, str], cost_model.Link]]:
        """The devices of all ranks that the blocks are on, each measured by its rank, all at once; and the links, by
        rank 0."""
        processes = self._group.processes
        used = tuple(sorted({f"{block['rank']} {block['device']}" for block in blocks}))
        names = sorted({text.split(" ", 1)[1] for text in used})
        several = [name for name in names if sum(block["device"] == name for block in blocks) > 1]
        key = (str(configuration), str(several), *used)
        if key in self._devices:
            return self._devices[key], self._links[key]
        own = [name for rank, name in (text.split(" ", 1) for text in used) if int(rank) == processes.rank]
        speeds = processes.each(
            lambda: {
                _key(processes.rank, name): asdict(machine.measure_device(name, configuration, self._threads))
                for name in own
            }
        )
        devices = {
            name: cost_model.Device(**{**values, "name": name})
            for rank in processes.shared(speeds)
            for name, values in rank.items()
        }

        def ways() -> list[Any]:
            if len(blocks) == 1 or not processes.first:
                return []
            pairs = [(a, b) for a in names for b in names if a != b or a in several]
            found = [(a, b, machine.measure_way(a, b, configuration, self._threads)) for a, b in pairs]
            return [(a, b, asdict(link)) for a, b, link in found]

        links = {(a, b): cost_model.Link(**link) for a, b, link in processes.shared(processes.each(ways))[0]}
        self._devices[key], self._links[key] = devices, links
        return devices, links


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
    velocities = tuple(tuple(int(c) for c in velocity) for velocity in _core.stencil(configuration.stencil).c)
    around = tuple(axis not in WALLS.get(row.flow, "") for axis in "xyz"[: len(shape)])
    item = np.dtype(configuration.storage).itemsize
    return cost_model.Problem(shape, velocities, item, around, configuration.has_temperature)


def _key(rank: int, device: str) -> str:
    """The name of a device in the model: the CPUs of two ranks are two devices, a GPU of the host is one."""
    return f"cpu {rank}" if device == "cpu" else device


def _device(key: str) -> str:
    return key.split(" ", 1)[0]
