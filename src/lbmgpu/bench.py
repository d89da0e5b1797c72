"""Measures the speed of configurations beside the memory bandwidth of the same machine in the same minutes."""

from __future__ import annotations

import platform
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from . import _core
from .collisions import BGK, MRT, TRT, Collision, Regularized
from .domain import Domain
from .report import measure_bandwidth, measure_copy_bandwidth
from .solver import Solver

COLLISIONS: dict[str, Callable[[float], Collision]] = {"BGK": BGK, "TRT": TRT, "MRT": MRT, "Regularized": Regularized}
VISCOSITY = 0.02
SIZE = {2: 4096, 3: 192}


@dataclass(frozen=True)
class Configuration:
    """One row of a benchmark: a periodic box of `size` cells a side."""

    stencil: str = "D3Q19"
    collision: str = "BGK"
    precision: str = "float32"
    storage: str = "float32"
    streaming: str = "in-place"
    size: int = 192

    def __str__(self) -> str:
        size = "^".join((str(self.size), self.stencil[1]))
        kind = self.precision if self.storage == self.precision else f"{self.precision}/{self.storage}"
        return f"{self.stencil} {self.collision} {kind} {self.streaming} {size}"


@dataclass(frozen=True)
class Measurement:
    """What a configuration reached.

    Attributes:
        configuration: what was measured.
        mlups: million cell updates a second, median of the repeats.
        all_mlups: of each repeat.
        bytes_per_update: bytes of populations read and written per cell and step.
        bandwidth: bytes a second of populations, from the median.
        update_bandwidth: bytes a second of ``x <- a x``, on a GPU of a copy; median of those between the repeats.
        share: `bandwidth` as a part of `update_bandwidth`.
    """

    configuration: Configuration
    mlups: float
    all_mlups: list[float]
    bytes_per_update: int
    bandwidth: float
    update_bandwidth: float
    share: float

    def row(self) -> str:
        """A line of the table."""
        return (
            f"{self.configuration!s:<54}{self.mlups:>8.1f}{self.bytes_per_update:>6}{self.bandwidth / 1e9:>8.1f}"
            f"{self.update_bandwidth / 1e9:>8.1f}{self.share:>7.3f}"
        )


HEADER = f"{'configuration':<54}{'MLUPS':>8}{'B':>6}{'GB/s':>8}{'update':>8}{'share':>7}"


def menu(size: int | None = None) -> list[Configuration]:
    """The configurations that the performance figures are about."""
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
    ]


def make_solver(configuration: Configuration, device: str, threads: int | None) -> Solver:
    """The solver of a configuration, in a flow that is neither at rest nor near its limits."""
    dimensions = _core.stencil(configuration.stencil).D
    solver = Solver(
        Domain((configuration.size,) * dimensions, configuration.stencil),
        COLLISIONS[configuration.collision](VISCOSITY),
        precision=configuration.precision,
        storage=configuration.storage,
        streaming=configuration.streaming,
        device=device,
        threads=threads,
    )
    solver.initialize(velocity=(0.03, 0.02, 0.01)[:dimensions])
    return solver


def measure(
    configuration: Configuration, *, device: str, threads: int | None, seconds: float, repeats: int
) -> Measurement:
    """Measure `configuration`: `repeats` times about `seconds` of steps, the bandwidth before each."""
    solver = make_solver(configuration, device, threads)
    solver._advance_chunk(50 if solver.device != "cpu" else 2)
    trial = 50 if solver.device != "cpu" else 2
    steps = max(2, int(trial * seconds / solver._advance_chunk(trial)))
    speeds, bandwidths = [], []
    for _ in range(repeats):
        if solver.device == "cpu":
            bandwidths.append(measure_bandwidth(solver.threads, repeats=2))
        else:
            bandwidths.append(measure_copy_bandwidth(solver.device, seconds=min(seconds, 1)))
        speeds.append(solver.domain.cells * steps / solver._advance_chunk(steps) / 1e6)
    solver.check()
    mlups, update = statistics.median(speeds), statistics.median(bandwidths)
    per_update = solver._engine.bytes_per_update
    bandwidth = mlups * 1e6 * per_update
    return Measurement(configuration, mlups, speeds, per_update, bandwidth, update, bandwidth / update)


def measure_all(
    configurations: Sequence[Configuration], *, device: str, threads: int | None, seconds: float, repeats: int
) -> Iterator[Measurement]:
    """Measure one after the other; each frees its memory before the next."""
    for configuration in configurations:
        yield measure(configuration, device=device, threads=threads, seconds=seconds, repeats=repeats)


def machine(threads: int | None) -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "processor": _processor(),
        "isa": _core.cpu_isas()[0],
        "threads": threads or _core.default_threads(),
        "python": platform.python_version(),
        "system": platform.platform(),
    }


def to_json(measurements: Sequence[Measurement], threads: int | None) -> dict[str, Any]:
    """The measurements and the machine as JSON."""
    return {"machine": machine(threads), "measurements": [asdict(m) for m in measurements]}


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
