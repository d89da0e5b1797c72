"""Linear stability of a collision in a uniform stream: how fast the fastest small disturbance grows.

A step takes the disturbance d_i exp(i k x) of the populations of a uniform stream to the product of d with the matrix
J_ij exp(-i k c_j), with the Jacobian J of the collision at the stream's populations; the stream is stable if no wave
vector k has an eigenvalue above 1 in magnitude (Sterling & Chen, J. Comput. Phys. 123 (1996) 196, sec. 3; Lallemand &
Luo, Phys. Rev. E 61 (2000) 6546, sec. III). J is that of the engine's own collision, by central differences, so that it
is right for every collision, custom ones too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..collisions import Collision, FlowCollision
from ..custom_collision import CustomCollision
from ..domain import Domain
from ..errors import LinearlyUnstableWarning, warn
from ..parallel.processes import Processes
from .precision_warnings import unwarned
from .settings import check_settings
from .simulation import Simulation

DIFFERENCE = 1e-5
"""The change of a population from which the Jacobian is computed."""

APART = 4
"""Cells between two changed populations: what one of them changes in a step is not what another does."""

SETTLING = 40
"""Steps after which a uniform state no longer changes, whatever equilibrium the collision has."""

LARGEST_TIME, SMALLEST_SPEED, FASTEST = 0.53, 1e-3, 0.17
"""Relaxation times above which no collision is unstable at speeds that a solver takes; slower and faster streams than
are analysed."""

MOST_GROWTH = 1e3
"""A growth of disturbances within a run that is warned of: of rounding in float32 to a thousandth of the speed."""

WAVES = {2: 24, 3: 8}
"""Wave numbers in a half period of the lattice along each axis, by the dimension."""


def jacobian(collision: Collision, stencil: str, velocity: Sequence[float]) -> NDArray[np.float64]:
    """The Jacobian of a collision at a uniform stream of density 1, ``(Q, Q)``: change of row by column.

    Raises:
        TypeError, ValueError: as for `Solver` and its `initialize`; a hybrid collision, which takes more than the
            populations of a cell.
    """
    if collision.takes_strain:
        given = getattr(collision, "hybrid", None)
        raise ValueError(f"hybrid: {given} given, must be None: linear analysis takes local collisions only")
    known = _core.stencil(stencil)
    shape = (APART * known.Q,) + (APART,) * (known.D - 1)
    options: dict[str, Any] = {"precision": "float64", "streaming": "two-lattice", "device": "cpu", "threads": 1}
    with unwarned():
        settings = check_settings(Domain(shape, stencil), collision, comm=Processes(), **options)
        simulation = Simulation(settings)
    simulation.initialize(None, tuple(velocity), False, None)
    engine = simulation.engine
    engine.step(SETTLING)
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
        changed.append(np.stack([populations.T[cell[::-1]] for cell in arrived], axis=1))
    found: NDArray[np.float64] = (changed[0] - changed[1]) / (2 * DIFFERENCE)
    return found


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


def warn_of_growth(simulation: Simulation, steps: int) -> None:
    """Warn where a small disturbance of a stream as fast as the flow would grow `MOST_GROWTH` times in so many steps.

    The speed is the largest that is prescribed now or was at the beginning. Only relaxation times near 1/2 are looked
    at. All processes call this together, and the first one computes and warns.
    """
    collision, stencil = simulation.collision, simulation.stencil
    if not isinstance(collision, FlowCollision) or isinstance(collision, CustomCollision) or collision.smagorinsky:
        return
    time = collision.viscosity / stencil.cs2 + 0.5
    if collision.takes_strain or time > LARGEST_TIME:
        return
    speed = simulation.prescribed_speed()
    if speed < SMALLEST_SPEED or not simulation.processes.first:
        return
    rounded = float(f"{min(speed, FASTEST):.2g}")
    rate = growth(collision, stencil.name, (rounded, *(0.0,) * (stencil.D - 1)))
    if rate * steps > math.log(MOST_GROWTH):
        warn(
            f"collision: {type(collision).__name__} with a relaxation time of {time:.5g} given, in which disturbances "
            f"of a stream of speed {rounded:g} grow by {math.expm1(rate):.1e} a step in the bulk; use another "
            "collision, a lower speed, or a larger viscosity (lbmgpu.advise tells of each)",
            LinearlyUnstableWarning,
        )


def _wave_vectors(dimensions: int) -> NDArray[np.float64]:
    """Wave vectors of the half of all directions that complex conjugates do not repeat, ``(n, D)``."""
    half = np.pi * np.arange(WAVES[dimensions] + 1) / WAVES[dimensions]
    around = np.concatenate([-half[1:], half])
    grids = np.meshgrid(half, *([around] * (dimensions - 1)), indexing="ij")
    return np.stack([grid.ravel() for grid in grids], axis=1)
