"""Pressure and velocity gradient on the triangles of a surface, fitted to the fluid cells around each of them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..values import Floats

RADIUS = 2.5
"""Cells around the centre of a triangle whose values are used."""
RADIUS_CELLS = 2
"""Cells along each axis from that of the centre, among which all within `RADIUS` are."""
FEWEST = 4
"""Fluid cells in front of a triangle below which nothing is said of it."""
FACING = (1.25, 1.0)
"""Cells off a triangle's plane, and sideways of its centre, within which the centre of a fluid cell must be, or the
triangle is hidden: there is one beside any free surface, and others see the fluid round an edge only."""
_RIDGE = 1e-5
"""Of the trace of a fit's matrix, on the diagonal of its terms of second order: where cells are too few to tell them,
they are small."""
_CHUNK = 4096
"""Triangles at a time."""

_CUBE = np.array(list(itertools.product(range(-RADIUS_CELLS, RADIUS_CELLS + 1), repeat=3)), np.int64)


@dataclass(frozen=True)
class Around:
    """The cells of a box about a body.

    Attributes:
        offset: the number of its first cell along each axis.
        fluid: bool ``(nx, ny, nz)``.
        values: ``(nx, ny, nz, n)``: velocity relative to the wall's, pressure, and what else is wanted on the surface.
    """

    offset: NDArray[np.int64]
    fluid: NDArray[np.bool_]
    values: Floats


@dataclass(frozen=True)
class Fitted:
    """What is found of each triangle; NaN where it has too few fluid cells in front of it, or is hidden.

    Attributes:
        values: ``(m, n)``, those of `Around` on the surface but for the velocity.
        gradient: ``(m, 3)``, the derivative of the velocity along the normal at the wall.
        exposed: ``(m,)``, whether there are fluid cells enough, and one that the triangle faces.
    """

    values: Floats
    gradient: Floats
    exposed: NDArray[np.bool_]


def fit(around: Around, corners: Floats, centers: Floats, normals: Floats, hidden: NDArray[np.bool_]) -> Fitted:
    """Fit polynomials to the fluid cells within 2.5 cells of the centre of each triangle and in front of it.

    The velocity relative to the wall is ``a d + b d**2 + d (c s + e t)``, where d is the distance of a cell's centre to
    the surface, s and t its place along the triangle; a is the derivative that is wanted. Other values have all terms
    up to the second order. Both are weighted least squares, with weights ``(1 - r**2 / 2.5**2)**2`` at a distance r.

    Args:
        around: the cells.
        corners: of the triangles, ``(m, 3, 3)``.
        centers, normals: of the triangles, ``(m, 3)``; normals of length 1, into the fluid.
        hidden: ``(m,)``, the triangles of which nothing is said, as no fluid touches them.
    """
    distance = _distances(around, corners, centers)
    count, wanted = len(centers), around.values.shape[-1] - 3
    values, gradient = np.full((count, wanted), np.nan), np.full((count, 3), np.nan)
    for at in _chunks(count):
        cells, inside = _cells(around, centers[at])
        place = cells + 0.5 + around.offset - centers[at, None]
        height = np.einsum("mkc,mc->mk", place, normals[at])
        squared = np.einsum("mkc,mkc->mk", place, place) / RADIUS**2
        index = np.where(inside[..., None], cells, 0).transpose(2, 0, 1)
        used = inside & around.fluid[tuple(index)] & (height > 0) & (squared < 1)
        # Of the 125 cells of the cube some 30 are used: what follows has these alone, and so takes a third of the time.
        most = max(int(used.sum(axis=1).max()), 1)
        chosen = np.argsort(~used, axis=1, kind="stable")[:, :most]
        height, squared, used = (np.take_along_axis(each, chosen, axis=1) for each in (height, squared, used))
        place = np.take_along_axis(place, chosen[..., None], axis=1)
        index = np.take_along_axis(index, chosen[None], axis=2)
        weight = np.where(used, (1 - squared) ** 2, 0.0)
        found, d = around.values[tuple(index)], np.where(used, distance[tuple(index)], 0.0)
        first, second = _tangents(normals[at])
        s, t = np.einsum("mkc,mc->mk", place, first), np.einsum("mkc,mc->mk", place, second)
        # Triangles inside of another part of the body may have no cell at a distance from it, only some on it.
        enough = ~hidden[at] & (used.sum(axis=1) >= FEWEST) & (d > 0).any(axis=1)
        sideways = squared * RADIUS**2 - height**2
        enough &= (used & (height <= FACING[0]) & (sideways <= FACING[1] ** 2)).any(axis=1)
        of_velocity = np.stack([d, d * d, d * s, d * t], axis=-1)
        slopes = _solved(of_velocity, weight, found[..., :3], 1, enough)
        one, z = np.ones_like(s), height
        of_values = np.stack([one, s, t, z, s * s, t * t, z * z, s * t, s * z, t * z], axis=-1)
        heights = _solved(of_values, weight, found[..., 3:], 4, enough)
        gradient[at] = np.where(enough[:, None], slopes, np.nan)
        values[at] = np.where(enough[:, None], heights, np.nan)
    return Fitted(values, gradient, ~np.isnan(gradient[:, 0]))


def _solved(terms: Floats, weight: Floats, found: Floats, certain: int, enough: NDArray[np.bool_]) -> Floats:
    """The coefficients of the first term: of least squares, with a ridge on all terms but the first `certain` ones."""
    weighted = terms * weight[..., None]
    matrix = np.einsum("mki,mkj->mij", weighted, terms)
    right = np.einsum("mki,mkc->mic", weighted, found)
    trace = np.trace(matrix, axis1=1, axis2=2)
    for k in range(terms.shape[-1]):
        matrix[:, k, k] += (_RIDGE if k >= certain else 1e-9) * trace + np.where(enough, 0.0, 1.0)
    return np.linalg.solve(matrix, right)[:, 0]


def _chunks(count: int) -> list[slice]:
    return [slice(k, min(k + _CHUNK, count)) for k in range(0, count, _CHUNK)]


def _cells(around: Around, centers: Floats) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The cells about each center, counted from the first of the box, ``(m, k, 3)``, and whether they are in it."""
    own = np.floor(centers).astype(np.int64) - around.offset
    cells = own[:, None] + _CUBE
    return cells, np.asarray(((cells >= 0) & (cells < around.fluid.shape)).all(axis=-1))


def _tangents(normals: Floats) -> tuple[Floats, Floats]:
    """Two unit vectors along each triangle."""
    helper = np.eye(3)[np.argmin(np.abs(normals), axis=1)]
    first = np.cross(normals, helper)
    first /= np.linalg.norm(first, axis=1)[:, None]
    return first, np.cross(normals, first)


def _distances(around: Around, corners: Floats, centers: Floats) -> Floats:
    """The distance of each cell's centre to the nearest of the triangles that have it about them; else infinite."""
    found = np.full(around.fluid.shape, np.inf)
    flat = found.reshape(-1)
    for at in _chunks(len(centers)):
        cells, inside = _cells(around, centers[at])
        inside &= around.fluid[tuple(np.where(inside[..., None], cells, 0).transpose(2, 0, 1))]
        away = cells + 0.5 + around.offset - centers[at, None]  # cells further off are used of nearer triangles alone
        distance = RADIUS + np.linalg.norm(corners[at] - centers[at, None], axis=2).max(axis=1)
        inside &= np.einsum("mkc,mkc->mk", away, away) < np.square(distance)[:, None]
        triangle, place = np.nonzero(inside)
        which = cells[triangle, place]
        points = np.asarray(which + 0.5 + around.offset, np.float64)
        length = _to_triangles(points, corners[at][triangle])
        np.minimum.at(flat, np.ravel_multi_index(tuple(which.T), found.shape), length)
    return found


def _to_triangles(points: Floats, corners: Floats) -> Floats:
    """The distance of each point to a triangle of its own: to its plane where it is above the triangle, else to the
    nearest edge."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    normal = np.cross(b - a, c - a)
    squared = np.einsum("nc,nc->n", normal, normal)
    outside = np.zeros(len(points), np.bool_)
    nearest = np.full(len(points), np.inf)
    for start, end in ((a, b), (b, c), (c, a)):
        edge, to = end - start, points - start
        outside |= np.einsum("nc,nc->n", np.cross(edge, to), normal) < 0
        length = np.maximum(np.einsum("nc,nc->n", edge, edge), 1e-300)
        share = np.clip(np.einsum("nc,nc->n", edge, to) / length, 0, 1)
        away = to - share[:, None] * edge
        nearest = np.minimum(nearest, np.einsum("nc,nc->n", away, away))
    height = np.einsum("nc,nc->n", points - a, normal)
    above = ~outside & (squared > 0)
    plane = np.divide(height**2, squared, out=np.full(len(points), np.inf), where=above)
    return np.asarray(np.sqrt(np.minimum(nearest, plane)))
