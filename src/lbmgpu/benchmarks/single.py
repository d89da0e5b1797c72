"""Measures the speed of configurations together with the memory bandwidth of the same machine at the same time."""

from __future__ import annotations

import json
import platform
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import _core, checks, models
from ..collision_table import COLLISIONS, check_pair, of_stencil
from ..collisions import Collision
from ..conditions import Isothermal, MovingWall, NoSlip, PressureOutlet, VelocityInlet
from ..domain import Domain
from ..engine import precision_warnings
from ..engine.kept_state import check_moments, streaming_of
from ..engine.simulation import Simulation
from ..engine.together import Together
from ..files.atomic_write import write_text
from ..parallel import gpu
from ..parallel.processes import Processes
from ..planning.configuration import HEAT, VISCOSITY, Configuration
from ..solver import Solver, simulation_of
from ..solver.report import measure_memory_bandwidth
from ..turbulence import GRADIENT_MODELS, GradientModel
from . import d2q37_flow, power
from .flows import add_sphere

SIZE = {2: 4096, 3: 192}
GPU_SIZE = {2: 8192, 3: 512}
STEPS_OF_SWEEPS = 6
"""A number of steps that sweeps of cells that keep moments, of two or six steps, make without rest."""
PLATES_SIZE, PLATES_GPU_SIZE = 1024, 4096
"""The default sizes of D2Q37, whose cells have about four times as many populations as those of D2Q9."""
FLOWS = ("periodic", "forced", "cavity", "channel", "sphere", "heated", "plates")
"""The flows that can be measured: a uniform stream; the same with a body force; a lid-driven cavity; a channel from an
inlet past a cylinder to a pressure outlet; a stream past a sphere between two walls; a box with a warm and a cold wall;
with D2Q37, a gas between a warm and a cold plate."""
PLATES_FLOWS = ("periodic", "plates")
"""The flows that D2Q37 can be measured in."""


def completed(
    size: int | None, device: str, chosen: Mapping[str, str], members: int = 1, every: int = 1
) -> Configuration:
    """The configuration with the parts that were `chosen` and others that go with them.

    Args:
        size: cells a side; None for the device's default.
        device: the device that it is for.
        chosen: values of attributes of `Configuration`, by name.
        members: number of boxes that advance together.
        every: steps for which the eddy viscosity of a chosen turbulence model holds.

    Raises:
        ValueError: the chosen parts do not go together.
    """
    words = dict(chosen)
    if words.get("flow") == "plates":
        words.setdefault("stencil", d2q37_flow.STENCIL)
    others = [name for name in ("D3Q19", *_core.stencil_names()) if _goes_with(name, words.get("collision"))]
    stencil, state = words.setdefault("stencil", others[0]), words.setdefault("state", "populations")
    words.setdefault("collision", (of_stencil(stencil, state) or of_stencil(stencil))[0].__name__)
    words.setdefault("streaming", streaming_of(state, None, stencil))
    words.setdefault("storage", words.get("precision", "float32"))
    side = default_size(stencil, device) if size is None else size
    found = Configuration(**words, size=side, members=members, every=every)
    if found.every > 1 and not found.turbulence:
        raise ValueError(f"every: {every} given, must be 1 without a turbulence model")
    check_pair(stencil, COLLISIONS[found.collision])
    models.check_numbers(stencil, found.precision, found.storage, found.streaming)
    right = PLATES_FLOWS if models.of(stencil).carries_temperature else FLOWS[:-1]
    if found.flow not in right:
        raise ValueError(f"flow: {found.flow!r} given with {stencil}, must be one of {', '.join(right)}")
    if state == "moments":
        if members > 1:
            raise ValueError(f"members: {members} given with the state 'moments', must be 1")
        check_moments(
            make_domain(replace(found, size=8)),  # whose conditions are those of any size
            make_collision(found),
            *(found.precision, found.storage),
            HEAT if found.has_temperature else None,
            make_turbulence(found),
        )
    return found


def _goes_with(stencil: str, collision: str | None) -> bool:
    return collision is None or COLLISIONS[checks.choice("collision", collision, COLLISIONS)] in of_stencil(stencil)


def default_size(stencil: str, device: str) -> int:
    """The default number of cells a side of a stencil's box on a device."""
    if models.of(stencil).carries_temperature:
        return PLATES_SIZE if device == "cpu" else PLATES_GPU_SIZE
    return (SIZE if device == "cpu" else GPU_SIZE)[_core.stencil(stencil).D]


@dataclass(frozen=True)
class Measurement:
    """The figures of a configuration.

    Attributes:
        configuration: the configuration that was measured.
        mlups: million cell updates a second, the median of the repeats.
        all_mlups: the speed of each repeat.
        bytes_per_update: bytes of populations, and of the temperature if any, or of moments, read and written per cell
            and step.
        bandwidth: those bytes a second, from the median speed.
        memory_bandwidth: bytes a second of the in-place STREAM scale, ``x <- a x``, on a GPU of a copy; median of those
            between the repeats.
        bandwidth_fraction: `bandwidth` as a part of `memory_bandwidth`.
        kernels: on a GPU, for each phase's kernel, and each at walls of moments: cells_per_thread, threads a block,
            registers, bytes of stack (local_bytes), the part of a multiprocessor's threads at work (occupancy), and
            which cells it updates (part), empty for all or all others.
        watts: the mean power that a GPU drew while it updated cells; None where it is not known, see `power`.
        nanojoules: the energy of a cell update, which equals the joules of 10^9 updates: `watts` over the median speed.
        steps_per_update: steps that are advanced for each time that memory is read and written.
        operations: floating-point ones of a cell's update, as the update itself counts them; None with a temperature of
            its own or velocity gradients, whose operations are not known. What a tile of moments computes a second
            time is not among them.
        flops: those operations a second, from the median speed.
        boundary_seconds, update_seconds: of a step, by the device's own clock: filling in what comes from walls, faces
            and bodies, and updating the cells; None for several boxes, and on a GPU where steps differ as `every` says.
    """

    configuration: Configuration
    mlups: float
    all_mlups: list[float]
    bytes_per_update: int
    bandwidth: float
    memory_bandwidth: float
    bandwidth_fraction: float
    kernels: list[dict[str, Any]]
    watts: float | None = None
    nanojoules: float | None = None
    steps_per_update: int = 1
    operations: int | None = None
    flops: float | None = None
    boundary_seconds: float | None = None
    update_seconds: float | None = None

    def row(self) -> str:
        """A line of the table."""
        line = (
            f"{self.configuration!s:<54}{self.mlups:>8.1f}{self.bytes_per_update:>6}{self.steps_per_update:>6}"
            f"{self.bandwidth / 1e9:>8.1f}"
            f"{self.memory_bandwidth / 1e9:>8.1f}{self.bandwidth_fraction:>10.3f}"
        )
        counted = "" if self.operations is None else str(self.operations)
        line += f"{counted:>6}{'' if self.flops is None else f'{self.flops / 1e9:.0f}':>9}"
        for seconds in (self.boundary_seconds, self.update_seconds):
            line += f"{'' if seconds is None else f'{1e6 * seconds:.1f}':>11}"
        if self.watts is None or self.nanojoules is None:
            return line
        return f"{line}{self.watts:>8.1f} {self.nanojoules:>7.2f}"


HEADER = (
    f"{'configuration':<54}{'MLUPS':>8}{'B':>6}{'steps':>6}{'GB/s':>8}{'memory':>8}{'fraction':>10}"
    f"{'flop':>6}{'GFLOP/s':>9}{'boundary':>11}{'update':>11}"
)
ENERGY_HEADER = f"{'W':>8}{'nJ':>8}"
"""It follows `HEADER` where the power is measured."""


def menu(size: int | None = None, device: str = "cpu") -> list[Configuration]:
    """The configurations whose figures docs/performance.md has for a device."""
    if device != "cpu":
        return _gpu_menu(*(GPU_SIZE[3], GPU_SIZE[2], PLATES_GPU_SIZE) if size is None else (size, size, size))
    n = SIZE[3] if size is None else size
    single = [Configuration(collision=name, size=n) for name in ("BGK", "TRT", "MRT")]
    double = [
        Configuration(collision=name, precision="float64", storage="float64", size=n) for name in ("BGK", "TRT", "MRT")
    ]
    return [
        *single,
        *double,
        Configuration(stencil="D3Q27", size=n),
        Configuration(storage="float16", size=n),
        between_plates("float64", PLATES_SIZE if size is None else size),
    ]


def menu_of_moments(size: int | None = None, device: str = "cpu", streaming: str | None = None) -> list[Configuration]:
    """The configurations whose cells keep moments: every stencil and collision that goes with them, in both types.

    On a GPU, unless a size or a streaming is given, also other sizes, walls, and one lattice in place of two.
    """
    kept = {"state": "moments", "streaming": streaming_of("moments", streaming, "")}
    menu = [
        completed(size, device, {"stencil": stencil, "collision": kind.__name__, "precision": real, **kept})
        for stencil in _core.stencil_names()
        for kind in of_stencil(stencil, "moments")
        for real in models.PRECISIONS
    ]
    if size is None and streaming is None and device != "cpu":
        plain = completed(None, device, {"stencil": "D3Q19", "collision": "Regularized", **kept})
        menu += [replace(plain, size=other) for other in (500, 300, 256, 128)]
        menu += [replace(plain, flow=flow) for flow in ("cavity", "sphere", "channel")]
        menu += [replace(plain, streaming="in-place", size=other) for other in (plain.size, 500)]
    return menu


def between_plates(precision: str, size: int) -> Configuration:
    """The configuration of D2Q37 in the flow between plates."""
    stencil = d2q37_flow.STENCIL
    collision, streaming = of_stencil(stencil)[0].__name__, models.default_streaming(stencil)
    return Configuration(stencil, collision, precision, precision, streaming, size, "plates")


def _gpu_menu(n: int, n_plane: int, n_plates: int) -> list[Configuration]:
    both = ("two-lattice", "in-place")
    robust = ("Cumulant", "CentralMoments", "RecursiveRegularized")
    return [
        *(Configuration(streaming=s, size=n) for s in both),
        *(Configuration(storage="float16", streaming=s, size=n) for s in both),
        *(Configuration(precision="float64", storage="float64", streaming=s, size=n) for s in both),
        *(Configuration(collision=c, size=n, flow="forced") for c in ("TRT", "MRT")),
        *(Configuration(stencil="D3Q27", collision=c, size=n) for c in ("BGK", "MRT")),
        Configuration(stencil="D3Q27", storage="float16", size=n),
        *(Configuration(stencil="D3Q27", collision=c, size=n) for c in robust),
        *(Configuration(stencil="D3Q27", collision=c, storage="float16", size=n) for c in robust),
        *(Configuration(collision=c, size=n) for c in robust[1:]),
        *(Configuration(stencil="D2Q9", streaming=s, size=n_plane) for s in both),
        *(Configuration(collision="MRT", size=n, flow=flow) for flow in ("cavity", "channel")),
        *(
            Configuration(collision="MRT", precision=numbers, storage=numbers, streaming=s, size=n, flow="heated")
            for numbers in ("float32", "float64")
            for s in both
        ),
        *(between_plates(precision, n_plates) for precision in ("float64", "float32")),
        between_plates("float64", max(1, n_plates // 4)),
        *(Configuration(streaming=s, size=side) for side in (n // 8, n // 4, n // 2) for s in both),
        *(Configuration(streaming=s, size=max(1, n // 8), members=64) for s in both),
    ]


def make_domain(configuration: Configuration) -> Domain:
    """The box of a configuration with the conditions of its flow."""
    dimensions = _core.stencil(configuration.stencil).D
    domain = Domain((configuration.size,) * dimensions, configuration.stencil)
    if configuration.flow in ("cavity", "channel", "heated"):
        for face in domain.faces:
            domain.faces[face] = NoSlip()
    along = (0.05, 0.0, 0.0)[:dimensions]
    if configuration.flow == "cavity":
        domain.faces["+y"] = MovingWall(along)
    if configuration.has_temperature:
        domain.thermal["-x"], domain.thermal["+x"] = Isothermal(0.5), Isothermal(-0.5)
    if configuration.flow == "plates":
        d2q37_flow.add_plates(domain)
    if configuration.flow == "channel":
        domain.faces["-x"], domain.faces["+x"] = VelocityInlet(along), PressureOutlet()
        place = (np.arange(configuration.size) + 0.5) / configuration.size
        disc = (place[:, None] - 0.3) ** 2 + (place[None, :] - 0.5) ** 2 < 0.01
        domain.add_body(np.broadcast_to(disc.reshape(disc.shape + (1,) * (dimensions - 2)), domain.shape), "cylinder")
    if configuration.flow == "sphere":
        add_sphere(domain)
    return domain


def make_collision(configuration: Configuration) -> Collision:
    """The collision of a configuration, with gravity for the flow between plates."""
    if configuration.flow == "plates":
        return d2q37_flow.collision()
    return COLLISIONS[configuration.collision](VISCOSITY)


def operations_of(configuration: Configuration) -> int | None:
    """The floating-point operations of a cell's update; None where they are not known."""
    if configuration.has_temperature or configuration.turbulence:
        return None
    collision = make_collision(configuration)
    return sum(
        _core.cell_operations(
            configuration.stencil,
            collision.kind,
            forced=configuration.flow == "forced",
            moments=configuration.state == "moments",
            variable_prandtl=getattr(collision, "prandtl", 1.0) != 1,
        )
    )


def make_turbulence(configuration: Configuration) -> GradientModel | None:
    """The turbulence model of a configuration, with its default constant."""
    return GRADIENT_MODELS[configuration.turbulence](every=configuration.every) if configuration.turbulence else None


@precision_warnings.unwarned()
def make_solver(configuration: Configuration, device: str, threads: int | None) -> Solver:
    """The solver of a configuration, in a flow that is neither at rest nor near its limits."""
    dimensions = _core.stencil(configuration.stencil).D
    solver = Solver(
        make_domain(configuration),
        make_collision(configuration),
        precision=configuration.precision,
        storage=configuration.storage,
        streaming=configuration.streaming,
        force=(1e-7, 0.0, 0.0)[:dimensions] if configuration.flow == "forced" else None,
        device=device,
        comm=Processes(),  # of one process, however many there are
        threads=threads,
        thermal=HEAT if configuration.has_temperature else None,
        turbulence=make_turbulence(configuration),
        state=configuration.state,
    )
    stream = (0.03, 0.02, 0.01)[:dimensions]
    if configuration.flow in ("periodic", "forced", "sphere"):
        solver.initialize(velocity=_eddies(configuration, stream) if configuration.turbulence else stream)
    if configuration.has_temperature:
        solver.initialize(velocity=stream, temperature=lambda x, *others: 0.5 - x / configuration.size)
    if configuration.flow == "plates":
        d2q37_flow.set_in_motion(solver, (stream[0], 0.0))
    return solver


def _eddies(configuration: Configuration, stream: tuple[float, ...]) -> Callable[..., tuple[Any, ...]]:
    """The stream with waves of 32 cells: gradients that are 0 would take other branches of roots and quotients."""
    wavenumber = 2 * np.pi * max(1, configuration.size // 32) / configuration.size

    def velocity(*at: Any) -> tuple[Any, ...]:
        return tuple(u + 0.02 * np.sin(wavenumber * (at[axis - 1] + 0 * at[axis])) for axis, u in enumerate(stream))

    return velocity


def measure(
    configuration: Configuration,
    *,
    device: str,
    threads: int | None,
    seconds: float,
    repeats: int,
    meter: power.Meter | None = None,
) -> Measurement:
    """Measure `configuration`: `repeats` times about `seconds` of steps, the bandwidth before each.

    With a `meter` of the device also the power that it draws in those steps.
    """
    members, in_all = configuration.members, threads or _core.default_threads()
    each = threads if members == 1 else max(1, in_all // members)
    solvers = [make_solver(configuration, device, each) for _ in range(members)]
    solver = solvers[0]
    simulation: Simulation | Together = simulation_of(solver)
    if members > 1:
        simulation = Together([simulation_of(member) for member in solvers], in_all)
    trial = 2 if solver.device == "cpu" else 50
    simulation.advance(trial)
    steps = max(2, int(trial * seconds / simulation.advance(trial)))
    if configuration.state == "moments":  # full sweeps: the kernels of shorter ones would be compiled meanwhile
        steps += -steps % STEPS_OF_SWEEPS
    speeds, bandwidths = [], []
    before = phase_seconds(simulation)
    if meter is not None:
        meter.total = power.Draw()
    for _ in range(repeats):
        bandwidths.append(measure_memory_bandwidth(solver.device, solver.threads if members == 1 else in_all, seconds))
        with nullcontext() if meter is None else meter.measuring():
            speeds.append(members * solver.domain.cells * steps / simulation.advance(steps) / 1e6)
    if isinstance(simulation, Together) or (configuration.every > 1 and solver.device != "cpu"):
        phases: dict[str, float | None] = {"boundary": None, "update": None}
    elif solver.device == "cpu":
        phases = {name: (now - before[name]) / (repeats * steps) for name, now in phase_seconds(simulation).items()}
    else:
        phases = {**timed_phases(simulation)}
    simulation.check()
    mlups, memory = statistics.median(speeds), statistics.median(bandwidths)
    engine = simulation_of(solver).engine
    per_update = engine.bytes_per_update
    bandwidth = mlups * 1e6 * per_update
    kernels = engine.update_kernels()
    watts = None if meter is None else meter.total.watts
    operations = operations_of(configuration)
    return Measurement(
        configuration,
        mlups,
        speeds,
        per_update,
        bandwidth,
        memory,
        bandwidth / memory,
        kernels,
        watts,
        None if watts is None else power.nanojoules(watts, mlups),
        engine.steps_per_update,
        operations,
        None if operations is None else mlups * 1e6 * operations,
        phases["boundary"],
        phases["update"],
    )


def phase_seconds(simulation: Simulation | Together) -> dict[str, float]:
    """Seconds of the boundary and of the update of all steps so far."""
    return {name: simulation.phase_seconds[name] for name in ("boundary", "update")}


def timed_phases(simulation: Simulation) -> dict[str, float]:
    """The same of a step of one block on a GPU, of which the last step of each call is timed, in both phases."""
    runs = (24, 25, 24, 25) if simulation.engine.steps_per_update == 1 else (24, 24)
    simulation.engine.time_single_block(True)
    try:
        before = phase_seconds(simulation)
        for steps in runs:
            simulation.advance(steps)
        return {name: (now - before[name]) / sum(runs) for name, now in phase_seconds(simulation).items()}
    finally:
        simulation.engine.time_single_block(False)


def measure_all(
    configurations: Sequence[Configuration],
    *,
    device: str,
    threads: int | None,
    seconds: float,
    repeats: int,
    meter: power.Meter | None = None,
) -> Iterator[Measurement]:
    """Measure one after the other; each frees its memory before the next."""
    for configuration in configurations:
        yield measure(configuration, device=device, threads=threads, seconds=seconds, repeats=repeats, meter=meter)


def machine(threads: int | None, device: str = "cpu") -> dict[str, Any]:
    """The device that the figures were measured on, and its software; ``"cuda"`` is the first GPU."""
    if device != "cpu":
        device = "cuda:0" if device == "cuda" else device
        cuda, compiler = _core.cuda_driver_version(), _core.cuda_compiler()
        return {
            "gpu": gpu.properties(device)["name"],
            "cuda": f"{cuda // 1000}.{cuda % 1000 // 10}",
            "nvrtc": compiler["version"],
            "python": platform.python_version(),
            "system": platform.platform(),
        }
    return {
        "processor": _processor(),
        "isa": _core.cpu_isas()[0],
        "threads": threads or _core.default_threads(),
        "python": platform.python_version(),
        "system": platform.platform(),
    }


def to_json(
    measurements: Sequence[Measurement], threads: int | None, device: str = "cpu", power: str | None = None
) -> dict[str, Any]:
    """The measurements and the machine as JSON, with how the `power` was measured, or why not."""
    properties = machine(threads, device) | ({} if power is None else {"power": power})
    return {"machine": properties, "measurements": [asdict(m) for m in measurements]}


def find_meter(device: str) -> tuple[power.Meter | None, str | None]:
    """The meter of a GPU, if it has one, and a line about it; neither for a CPU."""
    if device == "cpu":
        return None, None
    try:
        meter = power.meter_of(device)
    except power.PowerUnknownError as error:
        return None, f"not measured; {error}"
    return meter, f"of the whole card, by NVML's {meter.kind}"


def write_json(file: str | None, document: dict[str, Any]) -> None:
    """Write a document to `file`, if there is one; after each row, so that a run that is cut short leaves its figures.

    Raises:
        OSError: it cannot be written.
    """
    if file is not None:
        write_text(Path(file), json.dumps(document, indent=1) + "\n")


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
