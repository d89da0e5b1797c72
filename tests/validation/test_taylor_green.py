"""The vortex of Taylor and Green at a Reynolds number of 1600 against the spectral solution."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import lbmgpu as lbm

REYNOLDS, SPEED, CELLS = 1600, 0.1, 48


def spectral(data: Path) -> dict[str, NDArray[Any]]:
    """Times, energies and dissipations that docs/spectral_flows.py has computed."""
    with open(data / "taylor_green.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def test_the_spectral_solution(data: Path) -> None:
    """Its peak is the published one, and its energy falls as its dissipation says."""
    flow = spectral(data)
    k = int(np.argmax(flow["dissipation"]))
    assert flow["dissipation"][k] == pytest.approx(0.01286, rel=5e-3)
    assert flow["time"][k] == pytest.approx(8.97, abs=0.1)
    lost = np.cumsum(0.05 * (flow["dissipation"][1:] + flow["dissipation"][:-1]))
    np.testing.assert_allclose(flow["energy"][0] - flow["energy"][1:], lost, atol=2e-5)


@pytest.mark.parametrize(
    ("name", "stencil", "off"),
    [("Cumulant", "D3Q27", 2e-3), ("CentralMoments", "D3Q27", 2e-3), ("RecursiveRegularized", "D3Q19", 4e-3)],
)
def test_its_energy_while_the_cells_resolve_it(name: str, stencil: str, off: float, data: Path) -> None:
    """Up to a time of 3, when vortices of the first size are being stretched."""
    unit = CELLS / (2 * np.pi)
    collision = getattr(lbm, name)(SPEED * unit / REYNOLDS)
    solver = lbm.Solver(lbm.Domain((CELLS,) * 3, stencil), collision, precision="float32", device="cpu")
    x, y, z = np.meshgrid(*((np.arange(CELLS) + 0.5) / unit,) * 3, indexing="ij")
    velocity = SPEED * np.array([np.sin(x) * np.cos(y) * np.cos(z), -np.cos(x) * np.sin(y) * np.cos(z), 0 * x])
    density = 1 + 3 * SPEED**2 / 16 * (np.cos(2 * x) + np.cos(2 * y)) * (np.cos(2 * z) + 2)
    solver.initialize(density=density, velocity=velocity, nonequilibrium=True)
    first = solver.kinetic_energy()
    flow = spectral(data)
    for time in (1, 2, 3):
        solver.step(round(time * unit / SPEED) - solver.steps)
        exact = np.interp(solver.steps * SPEED / unit, flow["time"], flow["energy"]) / 0.125
        assert solver.kinetic_energy() / first == pytest.approx(exact, abs=off)
