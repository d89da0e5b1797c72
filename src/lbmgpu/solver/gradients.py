"""First derivatives of a velocity on cells, of second order beside walls and open faces too."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Cells = tuple[NDArray[np.intp], ...]
"""The numbers of cells along each axis, without the margin."""

MARGIN = 2
"""Cells around those whose derivatives are wanted that the differences read."""

TENSOR = {2: ((0, 0), (1, 1), (0, 1)), 3: ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))}
"""The components of a symmetric tensor in the order of VTK, by the number of dimensions."""

FLUID, WALL, UNKNOWN = 0, 1, 2
"""What a place holds: a velocity at the cell's centre, that of a wall half-way to the next cell, or nothing."""


def derivative(velocity: NDArray[Any], kind: NDArray[np.uint8], axis: int) -> NDArray[Any]:
    """The derivative of all components along an axis, at the cells' centres; 0 where there is no fluid.

    Between fluid cells the difference is the central one. Beside a wall half-way between cell centres, whose velocity
    u_w is known, it is that of the parabola through the wall, the cell and the cell on the other side,
    ``u_1 / 3 + u_0 - 4 u_w / 3``. Beside an unknown place it is the one-sided one of three cells,
    ``(-3 u_0 + 4 u_1 - u_2) / 2``, or of what there is.

    Args:
        velocity: ``(D, x, y[, z])`` with `MARGIN` cells more on each side, of which only those are read that lie beside
            a cell along an axis.
        kind: `FLUID`, `WALL` or `UNKNOWN` of each place.
        axis: 0 for x and so on.
    """
    before, behind = _shifted(velocity, axis, -1), _shifted(velocity, axis, 1)
    found: NDArray[Any] = (behind - before) * velocity.dtype.type(0.5)
    here = _shifted(kind, axis, 0)
    found[:, here != FLUID] = 0
    is_next_to_other = (_shifted(kind, axis, -1) != FLUID) | (_shifted(kind, axis, 1) != FLUID)
    cells: Any = np.nonzero(is_next_to_other & (here == FLUID))
    if len(cells[0]) > 0:
        found[(slice(None), *cells)] = _beside_other(velocity, kind, axis, cells)
    return found


def at_wall(velocity: NDArray[Any], kind: NDArray[np.uint8], axis: int, side: int, cells: Cells) -> NDArray[Any]:
    """The derivative along an axis, at the half-way wall on the side -1 or 1 of some cells, ``(D, cells)``.

    It is that of the parabola through the wall and the two cells next to it, ``(9 u_1 - u_2 - 8 u_w) / 3`` away from
    the wall; in a gap of one cell of that through both walls, and else of the straight line through wall and cell.
    """
    wall, _ = _taken(velocity, kind, axis, side, cells)
    first, _ = _taken(velocity, kind, axis, 0, cells)
    second, behind = _taken(velocity, kind, axis, -side, cells)
    real = velocity.dtype.type
    curved = (real(9) * first - second - real(8) * wall) / real(3)
    in_gap = real(4) * first - real(3) * wall - second
    inwards = np.where(behind == FLUID, curved, np.where(behind == WALL, in_gap, real(2) * (first - wall)))
    return np.asarray(real(-side) * inwards)


def _beside_other(velocity: NDArray[Any], kind: NDArray[np.uint8], axis: int, cells: Cells) -> NDArray[Any]:
    """The derivatives at cells beside which at least one place is no fluid."""
    real = velocity.dtype.type
    own, _ = _taken(velocity, kind, axis, 0, cells)
    low, low_kind = _taken(velocity, kind, axis, -1, cells)
    high, high_kind = _taken(velocity, kind, axis, 1, cells)
    result = np.zeros_like(own)  # between two unknown places

    def one_sided(side: int) -> NDArray[Any]:
        """Away from an unknown place on the other side, towards a fluid cell."""
        near = high if side > 0 else low
        far, far_kind = _taken(velocity, kind, axis, 2 * side, cells)
        of_three = (real(4) * near - far - real(3) * own) / real(2)
        to_wall = (real(9) * near - real(4) * far - real(5) * own) / real(3)
        inwards = np.where(far_kind == FLUID, of_three, np.where(far_kind == WALL, to_wall, near - own))
        return np.asarray(real(side) * inwards)

    choices = [
        (WALL, WALL, high - low),
        (WALL, FLUID, (high + real(3) * own - real(4) * low) / real(3)),
        (FLUID, WALL, (real(4) * high - real(3) * own - low) / real(3)),
        (WALL, UNKNOWN, real(2) * (own - low)),
        (UNKNOWN, WALL, real(2) * (high - own)),
        (UNKNOWN, FLUID, one_sided(1)),
        (FLUID, UNKNOWN, one_sided(-1)),
    ]
    for before, behind, value in choices:
        result = np.where((low_kind == before) & (high_kind == behind), value, result)
    return result


def _shifted(array: NDArray[Any], axis: int, by: int) -> NDArray[Any]:
    """The cells without the margin, of an array moved by so many cells."""
    dimensions = array.ndim - (1 if array.dtype.kind == "f" else 0)  # velocities have components
    ends = [MARGIN + (by if d == axis else 0) for d in range(dimensions)]
    sizes = array.shape[-dimensions:]
    where: Any = [slice(a, a + n - 2 * MARGIN) for a, n in zip(ends, sizes, strict=True)]
    return array[(..., *where)]


def _taken(
    velocity: NDArray[Any], kind: NDArray[np.uint8], axis: int, by: int, cells: Cells
) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Velocities ``(D, cells)`` and kinds of the places so many cells away from some cells."""
    where: Any = tuple(at + MARGIN + (by if d == axis else 0) for d, at in enumerate(cells))
    return velocity[(slice(None), *where)], kind[where]
