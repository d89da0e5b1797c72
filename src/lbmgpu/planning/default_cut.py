"""The cut of a domain over the ranks of a job where no layout is given, from speeds that are assumed: nothing is
measured, so that it is the same in every run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..parallel import cuts
from ..parallel.processes import Cut, Owner
from .configuration import Configuration, problem_of
from .cost_model import Device, Link, Machine, Problem, Tiling, Vector, block_seconds, has_interiors

GAIN = 0.95
"""Another cut than that of least surface with whole rows has to be predicted to take less than this part of its time,
as the speeds are assumed."""

PLACES = 16
"""Blocks whose step is predicted; those of a cut are about alike."""

SPEEDS = {"gpu": 4e12, "cpu": 1e11}
"""Bytes a second of an update. The fixed time of a step is left out: it would decide alone where blocks are small."""

LINKS = {
    ("gpu", "ranks"): Link("ranks", 2.8e11, 9e-6, 0.8),
    ("gpu", "network"): Link("network", 5e10, 5e-6, 0.8),
    ("cpu", "ranks"): Link("ranks", 1e10, 2e-6),
    ("cpu", "network"): Link("network", 1e10, 5e-6),
}
"""Between two GPUs or CPUs of the ranks of one host, and of two hosts; see docs/scaling.md."""


def cut_for(
    stencil: str, storage: str, streaming: str = "in-place", thermal: bool = False, state: str = "populations"
) -> Cut:
    """The function that cuts a domain over the devices of a job's ranks, given as rank, device and host of each block.

    It takes the blocks of least surface that keep rows along x whole, unless the model predicts of others that they
    are faster by more than `GAIN`; it raises ValueError where the domain cannot be cut into so many.

    Args:
        stencil, storage, streaming: their names.
        thermal: whether there is a hybrid thermal model.
        state: what a cell keeps.
    """
    flow = "heated" if thermal else "periodic"
    configuration = Configuration(stencil, storage=storage, streaming=streaming, flow=flow, state=state)

    def cut(shape: tuple[int, ...], owners: Sequence[Owner]) -> tuple[int, ...]:
        hosts = list(dict.fromkeys(host for _, _, host in owners))
        places = tuple((rank, name, hosts.index(host)) for rank, name, host in owners)
        return _cut(shape, configuration, places)

    return cut


@lru_cache(maxsize=32)
def _cut(shape: Vector, configuration: Configuration, owners: tuple[tuple[int, str, int], ...]) -> tuple[int, ...]:
    problem = problem_of(configuration, shape, (True,) * len(shape))
    best = cuts.least_surface(shape, len(owners), problem.radius)
    kind = "gpu" if any(name != "cpu" for _, name, _ in owners) else "cpu"
    devices = tuple(Device(name, SPEEDS[kind], host=host, rank=rank) for rank, name, host in owners)
    links = {way: LINKS[kind, way] for way in ("ranks", "network")}
    machine = Machine(devices, {**links, "peer": links["ranks"], "same": links["ranks"]})
    seconds = {parts: _seconds(machine, problem, parts) for parts in cuts.cuts(len(owners), shape, problem.radius)}
    fastest = min(seconds, key=lambda parts: (seconds[parts], parts), default=best)
    return fastest if fastest in seconds and seconds[fastest] < GAIN * seconds.get(best, 0.0) else best


def _seconds(machine: Machine, problem: Problem, parts: Vector) -> float:
    """The step of the slowest of some blocks, as predicted."""
    sizes = tuple(
        tuple(n * (j + 1) // k - n * j // k for j in range(k)) for n, k in zip(problem.shape, parts, strict=True)
    )
    tiling = Tiling(sizes)
    owners = dict(zip(tiling.places(), machine.devices, strict=True))
    every = list(owners)
    some = every[:: -(-len(every) // PLACES)]
    overlap = has_interiors(problem, parts, machine)
    return max(block_seconds(machine, problem, tiling, owners, place, overlap)[0] for place in some)
