"""What a fluid cell finds behind an adiabatic surface that cuts its links, by least squares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def near(points: Array, center: Array) -> Array:
    """The weights of points by their distances from a center."""
    return np.asarray(1 / (1 + ((points - center) ** 2).sum(axis=1)) ** 2)


def plane_through(points: Array, center: Array) -> tuple[Array, Array] | None:
    """A point and the normal of the plane through points near a center; None where they lie on no plane."""
    if len(points) == 0:
        return None
    w = near(points, center)
    middle = w @ points / w.sum()
    variances, axes = np.linalg.eigh(((points - middle).T * w) @ (points - middle) / w.sum())
    if variances[1] < 0.01 or variances[0] > 0.05 * variances[1]:
        return None
    return middle, axes[:, 0]


def weights_behind(link: ArrayLike, q: float, cuts: Sequence[Array], cells: Sequence[Array]) -> Array | None:
    """The weights of `cells` in the temperature at the end of a link that an adiabatic surface cuts at q.

    All places are relative to the cell. The temperature is a polynomial of the second degree along the plane through
    the `cuts` plus a square of the distance from it. None where there is no such fit.
    """
    c, places = np.asarray(link, float), np.asarray(cells, float)
    plane = plane_through(np.reshape(cuts, (-1, c.size)), q * c)
    if plane is None or abs(plane[1] @ c) < 1e-6:
        return None
    point, normal = plane[0], plane[1] * np.sign(plane[1] @ c)
    depth = normal @ (c - point)
    if depth < -0.25:
        return None
    tangents = np.linalg.svd(normal[None])[2][1:]
    s = (places - c) @ tangents.T
    pairs = [s[:, a] * s[:, b] for a in range(c.size - 1) for b in range(a, c.size - 1)]
    terms = [np.ones(len(places)), *s.T, *pairs, ((places - point) @ normal) ** 2 - depth**2]
    matrix, w = np.stack(terms, axis=1), near(places, c - 2 * depth * normal)
    if len(places) < matrix.shape[1]:
        return None
    normal_equations = (matrix.T * w) @ matrix
    try:
        pivots = np.diag(np.linalg.cholesky(normal_equations)) ** 2
    except np.linalg.LinAlgError:
        return None
    if (pivots <= 1e-3 * np.diag(normal_equations)).any():
        return None
    weights = w * (matrix @ np.linalg.solve(normal_equations, np.eye(len(pivots))[0]))
    return weights if np.abs(weights).sum() <= 6 else None
