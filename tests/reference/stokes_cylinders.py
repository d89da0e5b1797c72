"""Stokes drag of a square array of cylinders, by a series of stream functions about one of them.

Outside of a cylinder the stream function is a sum of solutions of the biharmonic equation in polar coordinates, odd in
the angle, that are at rest on it; their strengths meet the symmetry on the sides of the cell in the sense of least
squares. The drag is that of the term ``r log r sin(theta)``, a Stokeslet.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def _terms(m: int, radius: float) -> list[dict[tuple[float, bool], float]]:
    """Two functions of r for ``sin(m theta)`` that vanish with their derivatives at the radius: the factors of r to a
    power, and of that times its logarithm."""
    powers: list[tuple[float, bool]] = [(m, False), (-m, False), (m + 2, False), (2 - m, m == 1)]

    def at_radius(power: float, log: bool) -> tuple[float, float]:
        value = radius**power
        if log:
            return value * np.log(radius), power * radius ** (power - 1) * np.log(radius) + radius ** (power - 1)
        return value, power * radius ** (power - 1)

    matrix = np.array([at_radius(*power) for power in powers]).T
    found = []
    for free in (2, 3):
        others = np.linalg.solve(matrix[:, :2], -matrix[:, free])
        found.append(dict(zip((*powers[:2], powers[free]), (*others, 1.0), strict=True)))
    return found


def _fields(m: int, term: dict[tuple[float, bool], float], x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The stream function and its Laplacian at places."""
    r, angle = np.hypot(x, y), np.arctan2(y, x)
    value, laplacian = np.zeros_like(r), np.zeros_like(r)
    for (power, log), factor in term.items():
        factor_of_laplacian = power**2 - m**2
        value += factor * r**power * (np.log(r) if log else 1.0)
        laplacian += (
            factor * r ** (power - 2) * (factor_of_laplacian * np.log(r) + 2 * power if log else factor_of_laplacian)
        )
    return value * np.sin(m * angle), laplacian * np.sin(m * angle)


def drag_of_square_array(fraction: float, modes: int = 18, points: int = 60) -> float:
    """The drag on a unit of length over viscosity and superficial velocity, for a fraction of the area of the cell.

    The cell is a unit square with the cylinder in its middle, the flow is along x. On its upper side, at y = 1/2, the
    stream function is 1/2 and the vorticity 0; on x = 1/2 both are even in x.
    """
    radius = float(np.sqrt(fraction / np.pi))
    along = 0.5 * (np.arange(points) + 0.5) / points
    side, step = np.full(points, 0.5), 1e-4
    columns, stokeslet = [], -1
    for m in range(1, 2 * modes, 2):
        for term in _terms(m, radius):
            if (1, True) in term:
                stokeslet = len(columns)
            top, right = (
                _fields(m, term, along, side),
                [
                    (a - b) / (2 * step)
                    for a, b in zip(
                        _fields(m, term, side + step, along), _fields(m, term, side - step, along), strict=True
                    )
                ],
            )
            columns.append(np.concatenate([*top, *right]))
    wanted = np.concatenate([np.full(points, 0.5), np.zeros(3 * points)])
    matrix = np.stack(columns, axis=1)
    lengths = np.linalg.norm(matrix, axis=0)
    strengths, *_ = np.linalg.lstsq(matrix / lengths, wanted, rcond=1e-14)
    return float(4 * np.pi * abs(strengths[stokeslet] / lengths[stokeslet]))
