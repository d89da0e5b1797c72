"""The lid-driven square cavity against a spectral solution at the points of Ghia, Ghia & Shin (1982)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, RectBivariateSpline

import lbmgpu as lbm
from validation.flows import table

DATA = Path(__file__).resolve().parent.parent / "data"
LID = {128: 0.12, 256: 0.06}
"""Speed of the lid: it falls as the cell size, so that the error of compressibility falls at second order too."""
STEADY = {100: 2e-5, 400: 1e-5, 1000: 1e-5}
"""Change of the velocity, in the time the lid takes to cross the cavity, at which the flow counts as steady."""


def cavity(n: int, reynolds: int, streaming: str, device: str) -> lbm.Solver:
    """The cavity at rest."""
    domain = lbm.Domain((n, n), "D2Q9")
    for face in ("-x", "+x", "-y"):
        domain.faces[face] = lbm.NoSlip()
    domain.faces["+y"] = lbm.MovingWall((LID[n], 0.0))
    model = lbm.TRT(LID[n] * n / reynolds)
    return lbm.Solver(domain, model, precision="float32", streaming=streaming, device=device)


@cache
def steady(n: int, reynolds: int, streaming: str, device: str) -> np.ndarray:
    """Velocity over that of the lid at the steady state; from half the cells up it starts from the coarser one."""
    solver = cavity(n, reynolds, streaming, device)
    if n > 128:
        coarse = steady(n // 2, reynolds, "in-place", device)
        solver.initialize(velocity=LID[n] * np.array([refined(c) for c in coarse]), nonequilibrium=True)
    every = round(n / LID[n])  # the lid's way through the cavity
    solver.run(150 * every, until=lbm.Steady(STEADY[reynolds], every=every))
    return np.asarray(solver.velocity(), float) / LID[n]


def refined(field: np.ndarray) -> np.ndarray:
    """A field on twice as many cells along each axis."""
    n = field.shape[0]
    coarse, fine = (np.arange(n) + 0.5) / n, (np.arange(2 * n) + 0.5) / (2 * n)
    return RectBivariateSpline(coarse, coarse, field, s=0)(fine, fine)


def on_centreline(field: np.ndarray, lid: float, points: np.ndarray) -> np.ndarray:
    """Values of `field` in the middle of its first axis at `points` of the second, between walls at 0 and `lid`."""
    n = field.shape[0]
    middle = (9 * (field[n // 2 - 1] + field[n // 2]) - field[n // 2 - 2] - field[n // 2 + 1]) / 16
    places = np.concatenate([[0.0], (np.arange(n) + 0.5) / n, [1.0]])
    return CubicSpline(places, np.concatenate([[0.0], middle, [lid]]))(points)


def errors(velocity: np.ndarray, reynolds: int) -> dict[str, np.ndarray]:
    """Departure from the spectral solution on both centrelines."""
    result = {}
    for name, field, lid in (("u", velocity[0], 1.0), ("v", velocity[1].T, 0.0)):
        points, exact = table(DATA / f"ghia1982_{name}_re{reynolds}.csv")
        result[name] = on_centreline(field, lid, points)[1:-1] - exact[1:-1]
    return result


def rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


@pytest.mark.slow
@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
@pytest.mark.parametrize("reynolds", [100, 400, 1000])
def test_centrelines(reynolds, streaming, device):
    """At 128 x 128: rms within 0.6 %, nowhere more than 1.5 % of the lid's speed."""
    for error in errors(steady(128, reynolds, streaming, device), reynolds).values():
        assert rms(error) <= 0.006
        assert np.abs(error).max() <= 0.015


@pytest.mark.slow
@pytest.mark.parametrize("reynolds", [100, 400, 1000])
def test_second_order(reynolds, device):
    """From 128 x 128 to 256 x 256 the error falls to a quarter."""
    coarse = errors(steady(128, reynolds, "in-place", device), reynolds)
    fine = errors(steady(256, reynolds, "in-place", device), reynolds)
    ratio = rms(np.concatenate(list(coarse.values()))) / rms(np.concatenate(list(fine.values())))
    assert 1.7 < np.log2(ratio) < 2.6
