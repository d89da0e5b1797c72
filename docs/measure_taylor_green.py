"""The vortex of Taylor and Green by every collision for high Reynolds numbers, beside the spectral solution:

python docs/measure_taylor_green.py --device cuda

writes docs/measured/taylor_green.json: for each run the peak of the dissipation and its time, and how much of the
dissipation at the time 9 is numerical. On one GPU it takes a minute; `--largest 128` leaves out what is slow on a CPU.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import lbmgpu as lbm

MEASURED = Path(__file__).parent / "measured" / "taylor_green.json"
SPEED = 0.05
END = 10.0
SAMPLES = 10
"""Energies a unit of time."""

RUNS = [
    ("Cumulant", "D3Q27", 256, 1600),
    ("CentralMoments", "D3Q27", 256, 1600),
    ("RecursiveRegularized", "D3Q27", 256, 1600),
    *((name, "D3Q27", 128, 1600) for name in ("Cumulant", "CentralMoments", "RecursiveRegularized")),
    *((name, "D3Q19", 128, 1600) for name in ("CentralMoments", "RecursiveRegularized", "MRT", "Regularized", "TRT")),
    *((name, "D3Q27", 64, 1600) for name in ("Cumulant", "CentralMoments", "RecursiveRegularized")),
    *((name, "D3Q27", 64, 100_000) for name in ("Cumulant", "CentralMoments", "RecursiveRegularized")),
]
"""Collision, stencil, cells a side, Reynolds number."""


def vortex(name: str, stencil: str, n: int, reynolds: float, device: str) -> lbm.Solver:
    """A solver at time 0; the Reynolds number is of the largest speed and a side of the box over 2 pi."""
    viscosity = SPEED * n / (2 * np.pi) / reynolds
    solver = lbm.Solver(lbm.Domain((n, n, n), stencil), getattr(lbm, name)(viscosity), device=device)
    x, y, z = np.meshgrid(*(2 * np.pi / n * (np.arange(n) + 0.5),) * 3, indexing="ij", sparse=True)
    velocity = np.zeros((3, n, n, n))
    velocity[0] = SPEED * np.sin(x) * np.cos(y) * np.cos(z)
    velocity[1] = -SPEED * np.cos(x) * np.sin(y) * np.cos(z)
    density = 1 + 3 * SPEED**2 / 16 * (np.cos(2 * x) + np.cos(2 * y)) * (np.cos(2 * z) + 2)
    solver.initialize(density=density, velocity=velocity, nonequilibrium=True)
    return solver


def enstrophy(solver: lbm.Solver, xp: Any) -> float:
    """<w^2> / 2 in units of the speed and a side of the box over 2 pi, by Fourier transforms."""
    velocity = solver.velocity()
    n = velocity.shape[1]
    k = xp.fft.fftfreq(n, 1 / n)
    k2 = k[:, None, None] ** 2 + k[None, :, None] ** 2 + k[None, None, : n // 2 + 1] ** 2
    twice = xp.full(n // 2 + 1, 2.0)
    twice[0] = twice[-1] = 1
    found = 0.0
    for component in velocity:
        squares = abs(xp.fft.rfftn(xp.asarray(component / SPEED))) ** 2
        found += float((twice * k2 * squares).sum())
    return found / (2 * float(n) ** 6)


def peak(times: Any, values: Any) -> tuple[float, float]:
    """Time and value of the maximum of the parabola through the largest value and its neighbours."""
    k = min(max(int(np.argmax(values)), 1), len(values) - 2)
    a, b, c = values[k - 1 : k + 2]
    shift = 0.5 * (a - c) / (a - 2 * b + c)
    return float(times[k] + shift * (times[1] - times[0])), float(b - 0.25 * (a - c) * shift)


def run(name: str, stencil: str, n: int, reynolds: float, device: str, xp: Any) -> dict[str, Any]:
    """The figures of one run."""
    row: dict[str, Any] = {"collision": name, "stencil": stencil, "cells": n, "reynolds": reynolds}
    solver = vortex(name, stencil, n, reynolds, device)
    unit = n / (2 * np.pi) / SPEED  # steps of a unit of time
    times, energies, whole = [0.0], [solver.kinetic_energy()], 0.0
    for sample in range(1, round(END * SAMPLES) + 1):
        solver.step(round(sample * unit / SAMPLES) - solver.steps)
        energies.append(solver.kinetic_energy())
        if not energies[-1] < 1.1 * energies[0]:
            return row | {"lives_until": times[-1]}
        times.append(solver.steps / unit)
        if sample == 9 * SAMPLES:
            whole = enstrophy(solver, xp)
    energy = np.array(energies) / energies[0] * 0.125
    rate = -np.gradient(energy, np.array(times))
    at, most = peak(times, np.convolve(rate, [0.25, 0.5, 0.25], "same"))
    numerical = 1 - 2 / reynolds * whole / rate[9 * SAMPLES]
    return row | {"peak": most, "time": at, "numerical_part": float(numerical)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--largest", type=int, default=256)
    parser.add_argument("--output", type=Path, default=MEASURED)
    given = parser.parse_args()
    warnings.simplefilter("ignore", lbm.LinearlyUnstableWarning)
    xp = importlib.import_module("numpy" if given.device == "cpu" else "cupy")
    rows = []
    for name, stencil, n, reynolds in RUNS:
        if n <= given.largest:
            rows.append(run(name, stencil, n, reynolds, given.device, xp))
            print(rows[-1], flush=True)
    machine = {"device": given.device, "python": platform.python_version()}
    given.output.write_text(json.dumps({"machine": machine, "runs": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
