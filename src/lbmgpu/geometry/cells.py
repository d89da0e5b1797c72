"""The cells of a part that are in a geometry, and the links between cells that its surface cuts, by NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks

if TYPE_CHECKING:
    from .base import Geometry

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]

LEAST = 2.0**-24
"""The least distance to a wall, in links: the centre of the cell is on it."""
HIDDEN = 0.5
"""The distance, in links, to a wall that rounding hides: as of a half-way wall."""
_PIECE = 2**20
"""Cells that are looked at together."""


def solid(
    inside: Callable[..., Bools], bounds: Floats, offset: tuple[int, ...], shape: tuple[int, ...]
) -> NDArray[np.bool_]:
    """The cells of a part whose centres `inside` finds; none is beyond `bounds`."""
    found = np.zeros(shape, dtype=np.bool_)
    low, high = _box(bounds, offset, shape, 1)
    for piece in _pieces(low, high):
        found[piece] = inside(*_centres(offset, piece))
    return found


def links(
    geometry: Geometry,
    offset: tuple[int, ...],
    shape: tuple[int, ...],
    velocities: Integers,
    own: Bools,
    taken: Bools,
) -> tuple[Integers, Integers, Floats]:
    """Cells, directions and distances of the cut links of a part, as `Geometry.links` has them.

    Args:
        geometry: that cuts them.
        offset, shape: the part.
        velocities: ``(Q, D)``.
        own: the cells in the geometry, with a rim of one about the part.
        taken: the cells of the part that are no fluid.
    """
    found: list[tuple[Integers, Integers, Floats]] = []
    low, high = _box(geometry.bounds, offset, shape, 2)
    distance = 1.01 * math.sqrt(len(shape))
    for piece in _pieces(low, high):
        x = [np.ascontiguousarray(a) for a in np.broadcast_arrays(*_centres(offset, piece))]
        fluid = np.argwhere(~taken[piece] & geometry.near(x, distance))
        if len(fluid) == 0:
            continue
        fluid = fluid + np.array([axis.start for axis in piece])
        centres = [fluid[:, k] + (offset[k] + 0.5) for k in range(len(shape))]
        for direction, velocity in enumerate(velocities):
            if not velocity.any():
                continue
            ends_solid = own[tuple((fluid + 1 + velocity).T)]
            starts_solid = own[tuple((fluid + 1).T)]
            q = geometry.first_cut(centres, [float(c) for c in velocity])
            hidden = ends_solid & ~starts_solid & np.isinf(q)
            q[hidden] = HIDDEN
            cut = np.flatnonzero(np.isfinite(q) & ~starts_solid)
            found.append((fluid[cut], np.full(len(cut), direction, np.int64), np.clip(q[cut], LEAST, 1.0)))
    return in_order(found, shape)


def in_order(
    found: Sequence[tuple[Integers, Integers, Floats]], shape: tuple[int, ...]
) -> tuple[Integers, Integers, Floats]:
    """Lists of links as one, sorted by cell and then by direction."""
    cells = np.concatenate([np.empty((0, len(shape)), np.int64), *(each[0] for each in found)])
    directions = np.concatenate([np.empty(0, np.int64), *(each[1] for each in found)])
    q = np.concatenate([np.empty(0), *(each[2] for each in found)])
    order = np.lexsort((directions, *cells.T[::-1]))
    return cells[order], directions[order], q[order]


def nearest(cells: Integers, directions: Integers, q: Floats) -> tuple[Integers, Integers, Floats]:
    """Sorted links, each once: of one that is there several times that with the least distance."""
    every = np.column_stack([cells, directions])
    first = np.flatnonzero(np.append(True, (every[1:] != every[:-1]).any(axis=1))[: len(q)])
    return cells[first], directions[first], np.minimum.reduceat(q, first) if len(q) else q


def checked_velocities(given: ArrayLike, dimensions: int) -> Integers:
    """Velocities ``(Q, D)`` of -1, 0 and 1."""
    array = checks.any_array("stencil_velocities", given, "integers (Q, D)")
    if array.ndim != 2 or array.shape[1] != dimensions or array.dtype.kind not in "iu":
        raise ValueError(f"stencil_velocities: {checks.shown(array)} given, must be integers (Q, {dimensions})")
    if array.size and (array.min() < -1 or array.max() > 1):
        raise ValueError(f"stencil_velocities: {checks.shown(array)} given, must be of -1, 0 and 1")
    return np.ascontiguousarray(array, dtype=np.int64)


def checked_mask(given: ArrayLike, size: tuple[int, ...]) -> Bools:
    """The cells of a part that are not fluid."""
    array = checks.any_array("solid", given, "a bool array")
    if array.dtype != np.bool_ or array.shape != size:
        raise ValueError(f"solid: {checks.shown(array)} given, must be bool of shape {size}")
    return np.ascontiguousarray(array)


def _box(bounds: Floats, offset: tuple[int, ...], shape: tuple[int, ...], rim: int) -> tuple[list[int], list[int]]:
    """The first cell of a part that is within bounds and a rim, and one beyond the last, along each axis."""
    low, high = [], []
    for first, last, start, n in zip(*bounds, offset, shape, strict=True):
        low.append(int(np.clip(np.floor(first) - rim - start, 0, n)))
        high.append(int(np.clip(np.ceil(last) + rim - start, 0, n)))
    return low, high


def _pieces(low: Sequence[int], high: Sequence[int]) -> list[tuple[slice, ...]]:
    """A box of cells in layers of about `_PIECE` cells, and lines of them if layers are larger."""
    if any(a >= b for a, b in zip(low, high, strict=True)):
        return []
    size = [b - a for a, b in zip(low, high, strict=True)]
    steps = [max(1, _PIECE // math.prod(size[k + 1 :])) for k in range(len(size))]
    pieces: list[tuple[slice, ...]] = [()]
    for first, last, step in zip(low, high, steps, strict=True):
        along = [slice(a, min(a + step, last)) for a in range(first, last, step)]
        pieces = [(*piece, each) for piece in pieces for each in along]
    return pieces


def _centres(offset: tuple[int, ...], piece: tuple[slice, ...]) -> tuple[Floats, ...]:
    """The coordinates of the centres of a piece's cells, arrays that broadcast to its shape."""
    along = [np.arange(axis.start + n, axis.stop + n) + 0.5 for axis, n in zip(piece, offset, strict=True)]
    return tuple(np.meshgrid(*along, indexing="ij", sparse=True))
