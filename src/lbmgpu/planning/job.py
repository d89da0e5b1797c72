"""Measures the devices of all ranks of an MPI job, and the links within and between ranks and hosts."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from .. import _core
from ..layout import Layout
from ..parallel import exchange, gpu, hosts
from ..parallel.processes import Processes
from .configuration import Configuration
from .cost_model import Device, Link, Machine
from .machine import DEEP, bytes_and_seconds, link_between, measure_device, measure_way

FACE = {("cpu", 2): 2**12, ("cuda", 2): 2**16, ("cpu", 3): 64, ("cuda", 3): 256}
"""Cells along each axis of the face through which two ranks exchange, and are timed."""

SMALL_FACE = {2: 4 * DEEP, 3: 8}
"""Those of the small face, whose exchange takes little more than its latency."""

Owner = tuple[int, str]
"""A rank and the name of its device."""

_known: dict[str, Machine] = {}
"""The machines that were measured in this process."""


def measure_job(
    processes: Processes,
    names: Sequence[str],
    configuration: Configuration,
    threads: int | None = None,
    channel: str | None = None,
) -> Machine:
    """The machine of the devices of all ranks, in the order of ranks; the same on all of them, which call it together.

    All ranks measure their devices at the same time, as they compute. Devices of one model count as equally fast, by
    the median of what was found. Of links between ranks one is measured for each two models, on one host and on two.

    Args:
        processes: of the job.
        names: the devices of this rank, one for each of its blocks.
        configuration, threads, channel: as for `machine.measure_machine`.

    Raises:
        CudaError: a GPU of any rank cannot be used.
        ValueError: memory that does not suffice for a small box.
    """
    threads = processes.threads if threads is None else threads
    models = processes.each(lambda: {name: _model(name, threads) for name in names})
    every: list[Any] = processes.shared([hosts.own_name(), [[name, models[name]] for name in names]])
    channel = exchange.forced("channel", channel) or "auto"
    key = repr((every, configuration, threads, channel))
    if processes.agreed(0.0 if key in _known else 1.0) == 0.0:
        return _known[key]

    def measured() -> dict[str, Any]:
        first = {model: name for name, model in reversed(models.items())}
        return {model: asdict(measure_device(name, configuration, threads)) for model, name in first.items()}

    found: list[dict[str, Any]] = processes.shared(processes.each(measured))
    pairs = processes.shared(processes.each(lambda: _own_links(names, configuration, threads, channel)))
    host_names = list(dict.fromkeys(host for host, _ in every))
    places = [(rank, host_names.index(host), *entry) for rank, (host, own) in enumerate(every) for entry in own]
    devices = tuple(replace(_median(model, found), name=n, host=h, rank=r, model=model) for r, h, n, model in places)
    ways: dict[tuple[str, str, str], Link] = {}
    for (kind, *ends), pair in representatives(devices).items():
        link = _link_of_ranks(processes, kind, pair, configuration, threads, channel)
        ways[kind, ends[0], ends[1]] = ways[kind, ends[1], ends[0]] = link
    within = {(a, b): Link(**link) for own in reversed(pairs) for a, b, link in own}
    _known[key] = Machine(devices, pairs=within, ways=ways, hosts=tuple(host_names))
    return _known[key]


def representatives(devices: Sequence[Device]) -> dict[tuple[str, str, str], tuple[Owner, Owner]]:
    """Two devices of different ranks, the lower rank first, for each way between them: ``"ranks"`` of one host or
    ``"network"`` between two, and the models of both."""
    groups: dict[tuple[int, str], list[Owner]] = {}
    for device in devices:
        groups.setdefault((device.host, device.model), []).append((device.process, device.name))
    found: dict[tuple[str, str, str], tuple[Owner, Owner]] = {}
    firsts: dict[str, list[tuple[int, Owner]]] = {}  # of each model, devices of at most two hosts
    for (host, model), owners in groups.items():
        if len(firsts.setdefault(model, [])) < 2:
            firsts[model].append((host, owners[0]))
    for host in dict.fromkeys(host for host, _ in groups):
        here = [model for h, model in groups if h == host]
        for one, other in itertools.combinations_with_replacement(sorted(here), 2):
            apart = [(a, b) for a in groups[host, one] for b in groups[host, other] if a[0] != b[0]]
            if apart:
                found.setdefault(("ranks", one, other), _in_order(*apart[0]))
    for one, other in itertools.combinations_with_replacement(sorted(firsts), 2):
        far = [(a, b) for h, a in firsts[one] for k, b in firsts[other] if h != k]
        if far:
            found["network", one, other] = _in_order(*far[0])
    return found


def _in_order(one: Owner, other: Owner) -> tuple[Owner, Owner]:
    return (one, other) if one[0] < other[0] else (other, one)


def _model(name: str, threads: int) -> str:
    return f"cpu, {threads} threads" if name == "cpu" else str(gpu.properties(name)["name"])


def _median(model: str, found: Sequence[Mapping[str, Any]]) -> Device:
    figures = [own[model] for own in found if model in own]
    middle = {k: statistics.median(f[k] for f in figures) for k in ("speed", "fixed", "a_row")}
    return Device(figures[0]["name"], **middle)


def _own_links(
    names: Sequence[str], configuration: Configuration, threads: int, channel: str
) -> list[tuple[str, str, dict[str, Any]]]:
    """The links between the devices of this rank."""
    own = list(dict.fromkeys(names))
    return [
        (a, b, asdict(measure_way(a, b, configuration, threads, channel)))
        for a in own
        for b in own
        if a != b or list(names).count(a) > 1
    ]


def _link_of_ranks(
    processes: Processes,
    kind: str,
    pair: tuple[Owner, Owner],
    configuration: Configuration,
    threads: int,
    channel: str,
) -> Link:
    """The link between devices of two ranks, by the exchange of two blocks on them; all ranks call it together."""
    from mpi4py import MPI  # loaded already, as there are several ranks

    members = [rank for rank, _ in pair]
    taken = processes.rank in members
    two = processes.comm.Split(0 if taken else MPI.UNDEFINED, processes.rank)
    try:
        figures = processes.each(
            lambda: _three_exchanges(two, [name for _, name in pair], configuration, threads, channel) if taken else []
        )
    finally:
        if taken:
            two.Free()
    small, along, across = processes.shared(figures)[members[0]]
    return link_between(kind, tuple(small), tuple(along), tuple(across))


def _three_exchanges(
    comm: Any, names: Sequence[str], configuration: Configuration, threads: int, channel: str
) -> list[tuple[float, float]]:
    """Bytes and seconds of a small and a large exchange across the last axis, and of a large one across x."""
    processes, dimensions = Processes(comm, "plan"), _core.stencil(configuration.stencil).D
    size = FACE["cpu" if "cpu" in names else "cuda", dimensions]
    found = []
    for face, axis in ((SMALL_FACE[dimensions], dimensions - 1), (size, dimensions - 1), (size, 0)):
        shape, parts = [face] * dimensions, [1] * dimensions
        shape[axis], parts[axis] = 2 * DEEP, 2
        layout = Layout.split(shape, parts, names, ranks=[0, 1])
        options = {"threads": threads, "channel": channel, "comm": processes}
        found.append(bytes_and_seconds(shape, layout, configuration, **options))
    return found
