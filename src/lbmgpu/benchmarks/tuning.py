"""Finds the fastest launches of update kernels on a GPU."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .. import _core
from ..collision_table import COLLISIONS
from ..parallel import gpu
from ..planning.configuration import Configuration


@dataclass(frozen=True)
class Launch:
    """A way to launch an update kernel, and its speed.

    Attributes:
        configuration: whose update it is.
        phase: of the streaming; with a turbulence model those updates that renew its eddy viscosity are named apart.
        cells_per_thread, threads, blocks: neighbouring cells that a thread updates, most threads of a block, and blocks
            that a multiprocessor must be able to run at once.
        registers, local_bytes: of a thread.
        mlups: million cell updates a second; None for a kernel that spills too much to be measured.
        best: whether it is the fastest of its phase, which later solvers use.
    """

    configuration: Configuration
    phase: str
    cells_per_thread: int
    threads: int
    blocks: int
    registers: int
    local_bytes: int
    mlups: float | None
    best: bool

    def line(self) -> str:
        """A line of the table."""
        speed = "spills" if self.mlups is None else f"{self.mlups:.1f}"
        return (
            f"{self.configuration!s:<54}{self.phase:<34}{self.cells_per_thread:>7}{self.threads:>9}{self.blocks:>8}"
            f"{self.registers:>11}{self.local_bytes:>7}{speed:>10}{'  best' if self.best else ''}"
        )


HEADER = (
    f"{'configuration':<54}{'phase':<34}{'cells':>7}{'threads':>9}{'blocks':>8}"
    f"{'registers':>11}{'stack':>7}{'MLUPS':>10}"
)


def tune(configuration: Configuration, *, device: str, seconds: float) -> list[Launch]:
    """Measure all launches of a configuration on a GPU, and remember the fastest of each phase for later solvers.

    Args:
        configuration: what is updated.
        device: the GPU.
        seconds: for each launch.

    Raises:
        ValueError: `device` is a CPU, cells keep moments, or the box is periodic along some axes only.
        CudaError: the GPU cannot be used.
    """
    if device == "cpu":
        raise ValueError("tuning is for GPUs: choose one, as in --device cuda")
    if configuration.state == "moments":
        raise ValueError("tuning is for cells that keep populations: those that keep moments have one launch")
    if configuration.flow == "sphere":
        raise ValueError(
            "tuning is for boxes that are periodic along all axes or none: choose another --flow than sphere"
        )
    shape = _slab(configuration)
    timings = _core.cuda_tune(
        configuration.stencil,
        shape,
        COLLISIONS[configuration.collision].kind,
        configuration.precision,
        configuration.storage,
        configuration.streaming,
        configuration.flow == "forced",
        configuration.flow == "channel",
        configuration.flow in ("periodic", "forced"),
        gpu.ordinal(device),
        seconds,
        configuration.has_temperature,
        configuration.turbulence,
        configuration.every,
    )
    return [_launch(configuration, math.prod(shape), timing) for timing in timings]


def _launch(configuration: Configuration, cells: int, timing: dict[str, Any]) -> Launch:
    figures = {name: timing[name] for name in ("cells_per_thread", "threads", "blocks", "registers", "local_bytes")}
    phase = timing["phase"] + (" with velocity gradients" if timing["renews_terms"] else "")
    mlups = cells / timing["seconds"] / 1e6 if timing["seconds"] > 0 else None
    return Launch(configuration, phase, mlups=mlups, best=timing["best"], **figures)


def _slab(configuration: Configuration) -> list[int]:
    """The box of a configuration, made less deep where that gives the same result in less time."""
    n, dimensions = configuration.size, _core.stencil(configuration.stencil).D
    deep = min(n, max(1, -(-(1 << 24) // n ** (dimensions - 1))))
    return [n] * (dimensions - 1) + [deep]
