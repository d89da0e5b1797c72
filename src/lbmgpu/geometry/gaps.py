"""Thin parts and narrow gaps of geometries in a domain, by cells, and gaps that no cell is in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .base import Geometry

Bools = NDArray[np.bool_]

NARROWEST = 3
"""Cells of a gap below which the flow in it has no room for a profile."""
THINNEST = 3
"""Cells of a solid part below which it is thin."""
_CREVICE = 4
"""Cells of a gap up to which it is followed to see whether it narrows to nothing, where what bounds it meets."""
_WALLS = ("no-slip", "moving-wall")
_SAMPLES = 8
"""Places on the way from one centre of a cell to the next, between which a gap is taken for a contact."""
_NEAR_CONTACT = 8
"""Cells from where a body touches another, within which it comes off that, if it is round, by less than a cell."""


class Domain(Protocol):
    """What is asked of a domain."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def faces(self) -> Mapping[str, Any]: ...
    @property
    def bodies(self) -> Mapping[str, Any]: ...


def _shifted(array: Bools, by: int, axis: int) -> Bools:
    """The array moved along an axis by cells, False coming in."""
    found = np.zeros_like(array)
    here, there = ([slice(None)] * array.ndim for _ in range(2))
    if abs(by) < array.shape[axis]:
        here[axis] = slice(max(by, 0), array.shape[axis] + min(by, 0))
        there[axis] = slice(max(-by, 0), array.shape[axis] - max(by, 0))
        found[tuple(here)] = array[tuple(there)]
    return found


def _starts(array: Bools, length: int, axis: int) -> Bools:
    """Where runs of True of a length, between two of False, begin along an axis; none at an end of the array."""
    start = array & _shifted(~array, 1, axis)
    for k in range(1, length):
        start &= _shifted(array, -k, axis)
    return start & _shifted(~array, -length, axis)


def _runs(array: Bools, length: int, axis: int) -> Bools:
    """The cells in the runs that `_starts` finds."""
    start = _starts(array, length, axis)
    found = start.copy()
    for k in range(1, length):
        found |= _shifted(start, k, axis)
    return found


def _narrow(array: Bools, most: int, axis: int) -> Bools:
    """The cells in runs of True of at most so many along an axis, with such cells alone next to them across it.

    So what is round is not narrow at its edges.
    """
    short = np.zeros_like(array)
    for length in range(1, most + 1):
        short |= _runs(array, length, axis)
    wide = array & ~short
    for other in range(array.ndim):
        if other != axis:
            wide = wide | _shifted(wide, 1, other) | _shifted(wide, -1, other)
    return short & ~wide


def _throat(fluid: Bools, axis: int) -> int | None:
    """Cells of the shortest run of fewer than `NARROWEST` in a throat along an axis, as between two round bodies.

    What bounds a throat comes apart on all sides across the axis. Where it meets on one, as at the edge of something
    round or where a round body touches a wall, there is a crevice, and all short runs beside each other are in it.
    """
    fluid = np.pad(fluid, 1, constant_values=True)  # what is beyond the array bounds nothing
    stride = [int(np.prod(fluid.shape[k + 1 :])) for k in range(fluid.ndim)]
    starts = [np.flatnonzero(_starts(fluid, length, axis)) for length in range(1, NARROWEST)]
    if not any(map(len, starts)):
        return None
    starts += [np.flatnonzero(_starts(fluid, length, axis)) for length in range(NARROWEST, _CREVICE + 1)]
    lengths = np.repeat(np.arange(1, _CREVICE + 1), [len(each) for each in starts])
    first = np.cumsum(lengths) - lengths
    run = np.repeat(np.arange(len(lengths)), lengths)
    cells = np.concatenate(starts)[run] + (np.arange(len(run)) - first[run]) * stride[axis]
    run_of = np.full(fluid.size, -1, np.int64)
    run_of[cells] = run
    is_crevice = np.zeros(len(lengths), np.bool_)
    pairs = []
    for side in (sign * stride[k] for k in range(fluid.ndim) if k != axis for sign in (-1, 1)):
        is_crevice |= ~np.logical_or.reduceat(fluid.ravel()[cells + side], first)
        neighbor = run_of[cells + side]
        pairs.append(np.stack([run, neighbor])[:, neighbor >= 0])
    one, other = np.concatenate(pairs, axis=1)
    count = -1
    while count != (count := int(np.count_nonzero(is_crevice))):
        is_crevice[other[is_crevice[one]]] = True
    short = lengths[~is_crevice & (lengths < NARROWEST)]
    return int(short.min()) if len(short) else None


def thin(solid: Bools) -> int:
    """The cells of plates and rods of fewer than `THINNEST` cells."""
    found = np.zeros_like(solid)
    for axis in range(solid.ndim):
        found |= _narrow(solid, THINNEST - 1, axis)
    return int(np.count_nonzero(found))


def narrowest(solid: Bools, domain: Domain, low: Sequence[int], high: Sequence[int]) -> int | None:
    """Cells of the narrowest gap of fewer than `NARROWEST` between solid cells, or between them and a wall."""
    padding = []
    for axis, name in enumerate("xyz"[: solid.ndim]):
        ends = []
        for sign, is_end in (("-", low[axis] == 0), ("+", high[axis] == domain.shape[axis])):
            ends.append(int(is_end and domain.faces[sign + name].kind in _WALLS))
        padding.append((ends[0], ends[1]))
    found = []
    for axis in range(solid.ndim):
        pads = [pad if k == axis else (0, 0) for k, pad in enumerate(padding)]
        fluid = ~np.pad(solid, pads, constant_values=True)
        found.append(_throat(fluid, axis))
        found.append(next((n for n in range(1, NARROWEST) if _narrow(fluid, n, axis).any()), None))
    return min((n for n in found if n is not None), default=None)


def has_closed_gap(
    geometry: Geometry, domain: Domain, solid: Bools, others: Bools, low: Sequence[int], high: Sequence[int]
) -> bool:
    """Whether the way from the geometry to another body, or to a wall on a face, has a gap that no centre of a cell is
    in, so that no fluid is there. Where they touch, and near that, there is none.

    Args:
        geometry: of a body.
        domain: with its faces and the other bodies.
        solid: the cells of the geometry from `low` to before `high`.
        others: those of other bodies.
        low, high: of a box of cells about it.
    """
    rest = others & ~solid
    for axis, name in enumerate("xyz"[: solid.ndim]):
        for sign, is_end in (("-", low[axis] == 0), ("+", high[axis] == domain.shape[axis])):
            toward = -1 if sign == "-" else 1
            facing = solid & _shifted(rest, -toward, axis)
            if is_end and domain.faces[sign + name].kind in _WALLS:
                at_end: list[Any] = [slice(None)] * solid.ndim
                at_end[axis] = slice(0, 1) if sign == "-" else slice(-1, None)
                facing[tuple(at_end)] = solid[tuple(at_end)]
            cells = np.argwhere(facing)
            closed = np.zeros_like(solid)
            if len(cells):
                closed[tuple(cells.T)] = _have_room(geometry, domain, others, cells, low, axis, toward)
            if closed.any():
                touching = _spread(facing & ~closed, axis, _NEAR_CONTACT)
                open_ = _spread(~(solid | others), axis, 1)
                if (closed & ~touching & ~open_).any():
                    return True
    return False


def _have_room(
    geometry: Geometry, domain: Domain, others: Bools, cells: NDArray[Any], low: Sequence[int], axis: int, toward: int
) -> Bools:
    """Whether there is something else than the geometry and other bodies on the way from the centres of its cells to
    those next to them along an axis, and before the faces of the domain."""
    found = np.zeros(len(cells), np.bool_)
    corner, shape = np.array(low), np.array(domain.shape)
    for sample in (np.arange(_SAMPLES) + 0.5) / _SAMPLES:
        points = cells + corner + 0.5
        points[:, axis] += toward * sample
        place = points % shape  # of a part that comes back at the other end
        room = ~geometry.inside(*points.T.copy())
        if domain.faces[("-" if toward < 0 else "+") + "xyz"[axis]].kind in _WALLS:
            room &= (points[:, axis] > 0) & (points[:, axis] < shape[axis])
        for body in domain.bodies.values():
            if body.geometry is not None and body.geometry is not geometry:
                room &= ~body.geometry.inside(*place.T.copy())
            elif body.geometry is None:  # by its cells
                at = np.clip(np.floor(points).astype(int) - corner, 0, np.array(others.shape) - 1)
                room &= ~others[tuple(at.T)]
        found |= room
    return found


def _spread(cells: Bools, axis: int, count: int) -> Bools:
    """The cells and those within so many steps of them across an axis."""
    for _ in range(count):
        for other in range(cells.ndim):
            if other != axis:
                cells = cells | _shifted(cells, 1, other) | _shifted(cells, -1, other)
    return cells
