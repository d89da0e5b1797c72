"""What a solver is made of and how fast its last run was, beside what the machine's memory can do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from . import _core
from .memory import GIB, available_memory

if TYPE_CHECKING:
    from .solver import Solver


@dataclass(frozen=True)
class Report:
    """Numbers about a solver; `str` of it is a table. Speeds are None before the first run.

    Attributes:
        setup: what the solver is, by name.
        memory_bytes: held by the engine.
        bytes_per_update: bytes of populations read and written per cell and step.
        steps: steps of the last run.
        mlups: million updates of fluid cells a second in the last run.
        update_bandwidth: bytes a second of ``x <- a x`` on the same machine, None if not measured.
        phase_seconds: time in each phase of the steps since the solver was made.
    """

    setup: dict[str, str]
    memory_bytes: int
    bytes_per_update: int
    steps: int | None
    mlups: float | None
    update_bandwidth: float | None
    phase_seconds: dict[str, float]

    @property
    def bandwidth(self) -> float | None:
        """Bytes of populations a second that the last run moved."""
        return None if self.mlups is None else self.mlups * 1e6 * self.bytes_per_update

    @property
    def share(self) -> float | None:
        """`bandwidth` as a part of `update_bandwidth`."""
        if self.bandwidth is None or self.update_bandwidth is None:
            return None
        return self.bandwidth / self.update_bandwidth

    def __str__(self) -> str:
        rows = list(self.setup.items())
        rows.append(("memory", f"{self.memory_bytes / GIB:.3f} GiB"))
        rows.append(("bytes an update", f"{self.bytes_per_update} B"))
        if self.mlups is not None and self.bandwidth is not None:
            rows.append(("last run", f"{self.steps} steps, {self.mlups:.1f} MLUPS"))
            rows.append(("bandwidth", f"{self.bandwidth / 1e9:.1f} GB/s"))
        if self.update_bandwidth is not None:
            rows.append(("update bandwidth", f"{self.update_bandwidth / 1e9:.1f} GB/s (x <- a x, measured)"))
        if self.share is not None:
            rows.append(("share", f"{100 * self.share:.1f} %"))
        total = sum(self.phase_seconds.values())
        for phase, seconds in self.phase_seconds.items():
            rows.append((f"time in {phase}", f"{seconds:.2f} s ({100 * seconds / total if total else 0:.1f} %)"))
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def make_report(solver: Solver, bandwidth: bool) -> Report:
    """See `Solver.report`."""
    engine, domain = solver._engine, solver._domain
    size = " x ".join(map(str, domain.shape))
    setup = {
        "domain": f"{size} cells, {domain.stencil}",
        "collision": str(solver.collision),
        "arithmetic": f"{solver.precision}, stored as {solver.storage}",
        "streaming": solver.streaming,
        "device": f"cpu, {engine.isa}, {engine.threads} threads",
        "blocks": "; ".join(f"{tuple(b['size'])} at {tuple(b['offset'])} on {b['device']}" for b in engine.layout),
    }
    last = solver._last_run
    return Report(
        setup=setup,
        memory_bytes=engine.memory_bytes,
        bytes_per_update=engine.bytes_per_update,
        steps=last.steps if last else None,
        mlups=last.mlups if last and last.steps else None,
        update_bandwidth=update_bandwidth(engine.threads) if bandwidth else None,
        phase_seconds=dict(engine.phase_seconds),
    )


@cache
def update_bandwidth(threads: int) -> float:
    """Bytes a second of ``x <- a x`` with `threads`, measured once a process."""
    return measure_bandwidth(threads, repeats=5)


def measure_bandwidth(threads: int, repeats: int) -> float:
    """Bytes a second of ``x <- a x`` over an array much larger than the cache, the best of `repeats`."""
    size = max(2**20, min(GIB, available_memory() // 4))
    return _core.update_bandwidth(size, threads, repeats)
