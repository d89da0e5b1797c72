"""Linear (von Neumann) analysis of the reference collisions: how waves on a uniform stream grow or decay."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .collisions import Collision, collide, own_equilibrium
from .stencils import STENCILS

Array = NDArray[np.float64]


def jacobian(name: str, collision: Collision, velocity: Sequence[float]) -> Array:
    """The derivative of the collision at the equilibrium of density 1 and `velocity`, (Q, Q), by differences."""
    stencil, step = STENCILS[name], 1e-6
    rest = own_equilibrium(stencil, collision.kind, np.ones(1), np.array(velocity, float)[:, None])
    change, force = step * np.eye(stencil.Q), np.zeros((stencil.D, stencil.Q))
    ahead = collide(stencil, collision, rest + change, force)
    return (ahead - collide(stencil, collision, rest - change, force)) / (2 * step)


def growth(name: str, collision: Collision, velocity: Sequence[float], waves: int) -> float:
    """The largest growth a step of all waves of `waves` points an axis, and of long ones along axes and diagonals."""
    stencil = STENCILS[name]
    points = np.linspace(-np.pi, np.pi, waves, endpoint=False)
    k = np.stack(np.meshgrid(*[points] * stencil.D, indexing="ij"), -1).reshape(-1, stencil.D)
    long = np.linspace(0.05, np.pi, 20)
    k = np.vstack([k, *(length * c for length in long for c in stencil.c[1:, None, :])])
    factors = np.exp(-1j * (k @ stencil.c.T))[:, :, None] * jacobian(name, collision, velocity)
    return float(np.abs(np.linalg.eigvals(factors)).max() - 1)


def shear_viscosity(name: str, collision: Collision, speed: float, cells: int) -> float:
    """The viscosity by which a shear wave along x decays that a stream carries along x."""
    stencil, k = STENCILS[name], 2 * np.pi / cells
    velocity = speed * np.eye(stencil.D)[0]
    factors, modes = np.linalg.eig(np.exp(-1j * k * stencil.c[:, :1]) * jacobian(name, collision, velocity))
    carried = np.abs(np.angle(factors * np.exp(1j * k * speed))) < 0.02
    across = np.abs(stencil.c[:, 1] @ modes) / np.linalg.norm(modes, axis=0) * carried * (np.abs(factors) > 0.9)
    return float(-np.log(np.abs(factors[across.argmax()])) / k**2)
