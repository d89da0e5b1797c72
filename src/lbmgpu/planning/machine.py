"""Measures the machine that a plan is made for: the update speed of its devices and the bandwidth of its links."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from .. import _core
from ..collision_table import COLLISIONS
from ..domain import Domain
from ..engine import precision_warnings
from ..engine.settings import check_settings
from ..engine.simulation import Simulation
from ..layout import Layout
from ..parallel import exchange, gpu
from ..parallel.device_memory import available_memory
from ..parallel.processes import Processes
from .configuration import HEAT, VISCOSITY, Configuration, problem_of
from .cost_model import Device, Link, Machine

SIZE = {("cpu", 2): 2048, ("cpu", 3): 128, ("cuda", 2): 4096, ("cuda", 3): 256}
"""Cells a side of the box whose update is timed: more than most caches hold, made in a moment."""

SMALL_SIZE = {2: 64, 3: 16}
"""Cells a side of the small box, whose step takes little more than its fixed costs."""

SECONDS = 0.1
"""Duration of the steps that are timed for one figure of a plan."""

COPY_BYTES = 2**26
ROW_FRACTION = 0.75
X_FRACTION = 0.8
"""The fraction of a plain copy's bandwidth that the exchange between GPUs reaches, since it copies rows; and the
fraction of that across x, where it copies columns. Both were measured on two H200 of one host, see docs/scaling.md."""

FACE = {"cpu": 2**12, "cuda": 2**16}
DEEP = 16
"""For a long-range stencil: cells along the face whose exchange is timed, and the depth of each of the two blocks."""

NOISE = 0.05
"""The part of an exchange's time within which two of them count as equally long."""

EXCHANGES = 7
"""The number of times that an exchange is timed."""


def measure_machine(
    devices: Sequence[str], configuration: Configuration, threads: int | None = None, channel: str | None = None
) -> Machine:
    """The machine of `devices`, one for each block; several seconds the first time in a process.

    GPUs of one model count as equally fast, and the first of them is measured.

    Args:
        devices: names as ``"cpu"`` or ``"cuda:0"``; one that is named several times gets several blocks.
        configuration: of the solvers that are timed; its size is ignored, and of its flow all but the temperature.
        threads: of the CPU; None for all.
        channel: as for `Solver`.

    Raises:
        CudaError: a GPU cannot be used.
        ValueError: memory that does not suffice for a small box.
    """
    kinds = {name: "cpu" if name == "cpu" else str(gpu.properties(name)["name"]) for name in devices}
    first = {kind: name for name, kind in reversed(list(kinds.items()))}
    found = {kind: measure_device(name, configuration, threads) for kind, name in first.items()}
    return Machine(
        devices=tuple(replace(found[kinds[name]], name=name) for name in devices),
        pairs={
            (a, b): measure_way(a, b, configuration, threads, channel)
            for a in kinds
            for b in kinds
            if a != b or devices.count(a) > 1
        },
    )


@cache
def measure_device(name: str, configuration: Configuration, threads: int | None) -> Device:
    """The update speed of a device and the fixed costs of a step and of a row, measured once in a process.

    They follow from three boxes: a small one, whose cells take almost no time; a large one; and one with as many cells
    in shorter rows.
    """
    stencil = _core.stencil(configuration.stencil)
    small, size = SMALL_SIZE[stencil.D], SIZE["cpu" if name == "cpu" else "cuda", stencil.D]
    while size > 2 * small and 4 * _bytes(configuration, size, name) > available_memory(name):
        size //= 2

    def seconds(*shape: int) -> float:
        return step_seconds(Domain(shape, stencil.name), configuration, threads=threads, seconds=SECONDS, device=name)

    cells = size**stencil.D
    whole = seconds(*[size] * stencil.D)
    fixed = min(seconds(*[small] * stencil.D), whole / 2)
    cut = seconds(size // 4, size * 4) if stencil.D == 2 else seconds(size // 4, size * 2, size * 2)
    moved = cells * problem_of(configuration, (size,) * stencil.D, (True,) * stencil.D).bytes_per_update
    rows = cells // size
    # The cut box has four times as many rows. The rows of the large box must not account for all of its time.
    a_row = min(max(0.0, cut - whole) / (3 * rows), (whole - fixed) / (2 * rows))
    return Device(name, speed=moved / (whole - fixed - rows * a_row), fixed=fixed, a_row=a_row)


def measure_way(
    source: str, target: str, configuration: Configuration, threads: int | None, channel: str | None = None
) -> Link:
    """The link from one device to another for the populations of a configuration's stencil.

    Across x the populations of a stencil that reaches several cells lie in runs of as many elements, so the exchange
    itself is measured then instead of a plain copy.
    """
    if _core.stencil(configuration.stencil).radius == 1:
        return measure_link(source, target, channel)
    return measure_exchange(source, target, configuration, threads, exchange.forced("channel", channel))


def measure_link(source: str, target: str, channel: str | None = None) -> Link:
    """The link from one device to another, or from a device to itself, by a channel as for `Solver`.

    Measured once a process.
    """
    if exchange.forced("channel", channel) == "staged":  # a copy into the host's memory, then one out of it
        first, second = _measured_link(source, "cpu"), _measured_link("cpu", target)
        bandwidth = 1 / (1 / first.bandwidth + 1 / second.bandwidth)
        return Link("host", bandwidth, first.latency + second.latency, min(first.x_fraction, second.x_fraction))
    return _measured_link(source, target)


@cache
def _measured_link(source: str, target: str) -> Link:
    latency, bandwidth = _core.link_bandwidth(source, target, COPY_BYTES, 5)
    if source == target == "cpu":
        return Link("same", bandwidth, latency)
    kind = "same" if source == target else "peer" if _core.device_can_access(target, source) else "host"
    return Link(kind, ROW_FRACTION * bandwidth, latency, X_FRACTION)


@cache
def measure_exchange(source: str, target: str, configuration: Configuration, threads: int | None, channel: str) -> Link:
    """The link, measured by the halo exchange of two blocks across y and across x.

    Both blocks import from each other, so this is the link in both directions at once. It is measured once in a process
    for each forced `channel`; an empty text stands for the engine's choice.
    """
    channel = channel or "auto"
    kind = measure_link(source, target, channel).kind
    size = FACE["cpu" if "cpu" in (source, target) else "cuda"]
    small = _bytes_and_seconds(source, target, configuration, threads, channel, 4 * DEEP, axis=1)
    along = _bytes_and_seconds(source, target, configuration, threads, channel, size, axis=1)
    across = _bytes_and_seconds(source, target, configuration, threads, channel, size, axis=0)
    return link_between(kind, small, along, across)


def link_between(
    kind: str, small: tuple[float, float], along: tuple[float, float], across: tuple[float, float]
) -> Link:
    """The link of a kind from the bytes and seconds of three exchanges: a small and a large one across y, one across x.

    The difference of the two across y gives the bandwidth, and the rest of the small one's time the latency. Noise must
    not make a figure negative or huge: the large one counts alone if it took not more than `NOISE` longer, and x is
    never faster than y.
    """
    (small_bytes, small_seconds), (along_bytes, along_seconds) = small, along
    longer = along_seconds - small_seconds
    bandwidth = (along_bytes - small_bytes) / longer if longer > NOISE * along_seconds else along_bytes / along_seconds
    latency = max(0.0, small_seconds - small_bytes / bandwidth)
    moved, seconds = across
    fraction = moved / max(seconds - latency, moved / bandwidth) / bandwidth
    return Link(kind, bandwidth, latency, min(1.0, fraction))


def _bytes_and_seconds(
    source: str,
    target: str,
    configuration: Configuration,
    threads: int | None,
    channel: str,
    size: int,
    axis: int,
) -> tuple[float, float]:
    """Bytes and seconds of the exchange between two blocks that are neighbours along an axis, with `size` cells along
    the face: the median over the last steps of several short runs."""
    shape, parts = [size, size], [1, 1]
    shape[axis], parts[axis] = 2 * DEEP, 2
    layout = Layout.split(shape, parts, [source, target])
    return bytes_and_seconds(shape, layout, configuration, threads=threads, channel=channel)


def bytes_and_seconds(
    shape: Sequence[int], layout: Layout, configuration: Configuration, **options: Any
) -> tuple[float, float]:
    """Bytes that each of two blocks gets in an exchange, and its seconds; see `make_simulation`."""
    return exchange_of(make_exchanging(shape, layout, configuration, **options))


def make_exchanging(shape: Sequence[int], layout: Layout, configuration: Configuration, **options: Any) -> Simulation:
    """A simulation of two blocks whose exchange can be timed alone; see `make_simulation`."""
    domain = Domain(shape, configuration.stencil)
    return make_simulation(domain, configuration, layout=layout, schedule="blocking", **options)


def exchange_of(simulation: Simulation) -> tuple[float, float]:
    """Bytes that each of two blocks gets in an exchange, and its seconds: the median over the last steps of short runs.

    Of two ranks the one that waits less is right, as the other's block was updated sooner.
    """
    steps = simulation.engine.steps_per_update
    simulation.advance(4 * steps)
    found = []
    for _ in range(EXCHANGES):
        before = simulation.engine.phase_seconds["exchange"]
        simulation.advance(4 * steps)
        found.append((simulation.engine.phase_seconds["exchange"] - before) / 4)
    seconds = -simulation.processes.agreed(-statistics.median(found))
    return steps * sum(link["bytes"] for link in simulation.engine.links) / 2, seconds  # links have those of a step


@precision_warnings.unwarned()
def make_simulation(domain: Domain, configuration: Configuration, **options: Any) -> Simulation:
    """A simulation of a configuration in a domain; `options` are more arguments of `Solver`.

    With processes as `comm` among them all ranks make it together; without, this one makes it alone.
    """
    settings = check_settings(
        domain,
        COLLISIONS[configuration.collision](VISCOSITY),
        precision=configuration.precision,
        storage=configuration.storage,
        streaming=configuration.streaming,
        thermal=HEAT if configuration.has_temperature else None,
        state=configuration.state,
        **{"comm": Processes(), **options},
    )
    return Simulation(settings)


def step_seconds(domain: Domain, configuration: Configuration, *, seconds: float, **options: Any) -> float:
    """Seconds of a step of a simulation, the best of three times about `seconds` of steps; see `make_simulation`.

    The best is taken since other work on the machine can only make a step slower.
    """
    simulation = make_simulation(domain, configuration, **options)
    trial = 2 if any(block.device == "cpu" for block in simulation.layout) else 50  # the same on all ranks
    simulation.advance(trial)
    steps = max(2, int(trial * seconds / simulation.advance(trial)))
    return min(simulation.advance(steps) for _ in range(3)) / steps


def _bytes(configuration: Configuration, size: int, device: str) -> int:
    shape = (size,) * _core.stencil(configuration.stencil).D
    numbers = (configuration.precision, configuration.storage, configuration.streaming)
    needed = _core.Engine.memory_needed(
        configuration.stencil,
        shape,
        *numbers,
        device,
        thermal=configuration.has_temperature,
        state=configuration.state,
    )
    return needed[device]
