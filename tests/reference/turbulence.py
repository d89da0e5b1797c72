"""Eddy viscosities of velocity gradients as their papers print them, cell by cell, with what lies behind walls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Turbulence:
    """The engine's name of a model with its constant, and the steps for which an eddy viscosity holds."""

    kind: str
    constant: float
    every: int = 1


def wale(g: Array, constant: float) -> float:
    """Nicoud & Ducros, Flow Turbul. Combust. 62 (1999) 183, eqs. 10 and 13; ``g[i, j]`` is du_i/dx_j in 3-D."""
    strain = (g + g.T) / 2
    square = g @ g
    traceless = (square + square.T) / 2 - np.eye(3) * np.trace(square) / 3
    ss, dd = (strain**2).sum(), (traceless**2).sum()
    below = ss**2.5 + dd**1.25
    return float(constant**2 * dd**1.5 / below) if below > 0 else 0.0


def vreman(g: Array, constant: float) -> float:
    """Vreman, Phys. Fluids 16 (2004) 3670, eqs. 5 to 8."""
    alpha = g.T  # alpha_ij = du_j/dx_i
    beta = alpha.T @ alpha
    b = beta[0, 0] * beta[1, 1] - beta[0, 1] ** 2 + beta[0, 0] * beta[2, 2] - beta[0, 2] ** 2
    b += beta[1, 1] * beta[2, 2] - beta[1, 2] ** 2
    norm = (alpha**2).sum()
    return float(constant * np.sqrt(max(b, 0.0) / norm)) if norm > 0 else 0.0


FORMULAS = {"wale": wale, "vreman": vreman}
CONSTANTS = {"wale": 0.5, "vreman": 0.07}
"""Of the models, in tests that run over all of them."""
BEYOND = {
    "no-slip": "wall",
    "moving-wall": "wall",
    "velocity-inlet": "wall",
    "free-slip": "mirrored",
    "regularized-inlet": "extrapolated",
    "characteristic-inlet": "extrapolated",
    "nonequilibrium-inlet": "extrapolated",
    "pressure-outlet": "cell",
    "characteristic-outlet": "cell",
    "outflow": "cell",
    "local-outflow": "cell",
}
"""What gives the velocity behind a face of each condition: the wall half a cell away, up to which it is linear, the
cell mirrored or as it is, or a line through the cell, in whose centre the condition holds, and the one inwards."""


def beyond(
    reference: Any, velocity: Array, cell: tuple[int, ...], axis: int, step: int, *, extrapolates: bool = True
) -> Array:
    """The velocity that a fluid cell finds next to it: of its neighbour, or what goes with the face or body there."""
    own = velocity[(slice(None), *cell)]
    there = list(cell)
    there[axis] += step
    face = 2 * axis + (step > 0)
    if not 0 <= there[axis] < reference.shape[axis]:
        rule = BEYOND.get(reference.faces[face])
        if rule == "mirrored":
            return np.where(np.arange(len(own)) == axis, -own, own)
        if rule == "wall":
            values = np.asarray(reference.face_velocity.get(face, np.zeros(len(own))), float)
            wall = values[(slice(None), *np.delete(cell, axis))] if values.ndim > 1 else values
            return 2 * wall - own
        if rule == "extrapolated" and extrapolates:  # from both sides it would be the cell's own
            return 2 * own - beyond(reference, velocity, cell, axis, -step, extrapolates=False)
        if rule is not None:
            return own
        there[axis] %= reference.shape[axis]
    body = int(reference.body_of[tuple(there)])
    if body < 0:
        body = reference.sheets.get((cell, reference.stencil.index(step * np.eye(len(own), dtype=int)[axis])), -1)
    if body >= 0:
        return 2 * reference.wall_velocities[body][(slice(None), *there)] - own
    return velocity[(slice(None), *there)]


def gradient(reference: Any, velocity: Array, cell: tuple[int, ...]) -> Array:
    """``[i, j]`` is du_i/dx_j, in three dimensions whatever the stencil."""
    g = np.zeros((3, 3))
    dimensions = len(cell)
    for axis in range(dimensions):
        ahead, behind = (beyond(reference, velocity, cell, axis, step) for step in (1, -1))
        g[:dimensions, axis] = (ahead - behind) / 2
    return g


def strain_rate(reference: Any, velocity: Array) -> Array:
    """Of all cells, (D, D, nx, ny[, nz]); 0 in solid ones."""
    dimensions = len(velocity)
    found = np.zeros((dimensions, dimensions, *reference.shape))
    for cell in map(tuple, np.argwhere(~reference.solid).tolist()):
        g = gradient(reference, velocity, cell)[:dimensions, :dimensions]
        found[(slice(None), slice(None), *cell)] = (g + g.T) / 2
    return found


def eddy_viscosity(reference: Any, turbulence: Turbulence, velocity: Array) -> Array:
    """Of all cells; 0 in solid ones."""
    found = np.zeros(reference.shape)
    for cell in map(tuple, np.argwhere(~reference.solid).tolist()):
        found[cell] = FORMULAS[turbulence.kind](gradient(reference, velocity, cell), turbulence.constant)
    return found
