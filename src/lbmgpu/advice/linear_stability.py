r"""Linear stability of a collision in a uniform stream: how fast the fastest small disturbance grows.

A step of a disturbance :math:`\delta f_i \exp(i k x)` of a uniform stream is the matrix :math:`J \exp(-i k c_j)`, with
the Jacobian J of the collision at the stream's populations; the stream is stable if no wave vector has an eigenvalue
above 1 in magnitude (Sterling & Chen, J. Comput. Phys. 123 (1996) 196, sec. 3; Lallemand & Luo, Phys. Rev. E 61 (2000)
6546, sec. III). J is that of the engine's own collision, by central differences, so that it is right for every
collision, custom ones too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..collisions import Collision
from ..domain import Domain
from ..engine.precision_warnings import unwarned
from ..solver.solver import Solver, simulation_of

DIFFERENCE = 1e-5
"""The change of a population from which the Jacobian is computed."""

APART = 4
"""Cells between two changed populations: what one of them changes in a step is not what another does."""

SETTLING = 40
"""Steps after which a uniform state no longer changes, whatever equilibrium the collision has."""

WAVES = {2: 24, 3: 6}
"""Wave numbers in a half period of the lattice along each axis, by the dimension."""


def jacobian(collision: Collision, stencil: str, velocity: Sequence[float]) -> NDArray[np.float64]:
    """The Jacobian of a collision at a uniform stream of density 1, ``(Q, Q)``: change of row by column.

    Raises:
        TypeError, ValueError: as for `Solver`.
    """
    known = _core.stencil(stencil)
    shape = (APART * known.Q,) + (APART,) * (known.D - 1)
    with unwarned():
        solver = Solver(
            Domain(shape, stencil), collision, precision="float64", device="cpu", streaming="two-lattice", threads=1
        )
    solver.initialize(velocity=tuple(velocity))
    solver.step(SETTLING)
    engine = simulation_of(solver).engine
    rest = np.empty((known.Q, *shape[::-1]))
    engine.populations(rest)
    changed = []
    for sign in (1, -1):
        populations = rest.copy()
        for j in range(known.Q):
            populations[(j, *_cell(j, (0,) * known.D, shape))] += sign * DIFFERENCE
        engine.set_populations(populations)
        engine.step(1)
        engine.populations(populations)
        arrived = [_cell(j, known.c[j], shape) for j in range(known.Q)]
        changed.append(np.stack([populations[(slice(None), *cell)] for cell in arrived], axis=1))
    return (changed[0] - changed[1]) / (2 * DIFFERENCE)


def _cell(j: int, moved: Sequence[int], shape: Sequence[int]) -> tuple[int, ...]:
    """The cell that population `j` is changed in, moved on, as an index with the axes reversed."""
    start = (APART * j + 1,) + (1,) * (len(shape) - 1)
    return tuple((int(s) + int(m)) % n for s, m, n in zip(start, moved, shape, strict=True))[::-1]


@lru_cache(maxsize=256)
def growth(collision: Collision, stencil: str, velocity: tuple[float, ...]) -> float:
    """The logarithm of the factor by which the fastest growing disturbance grows in a step; 0 or less if stable.

    Of waves with `WAVES` wave numbers a half period along each axis.

    Raises:
        TypeError, ValueError: as for `Solver`.
    """
    known = _core.stencil(stencil)
    shift = np.exp(-1j * _wave_vectors(known.D) @ np.asarray(known.c, dtype=float).T)
    steps = jacobian(collision, stencil, velocity)[None] * shift[:, None, :]
    largest = float(np.abs(np.linalg.eigvals(steps)).max())
    return float(np.log(largest))


def _wave_vectors(dimensions: int) -> NDArray[np.float64]:
    """Wave vectors of the half of all directions that complex conjugates do not repeat, ``(n, D)``."""
    half = np.pi * np.arange(WAVES[dimensions] + 1) / WAVES[dimensions]
    around = np.concatenate([-half[1:], half])
    grids = np.meshgrid(half, *([around] * (dimensions - 1)), indexing="ij")
    return np.stack([grid.ravel() for grid in grids], axis=1)
