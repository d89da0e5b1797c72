"""Bodies of a wind tunnel: loaded, brought to size, measured from the front, and put in their place."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import checks
from ..errors import GeometryError
from ..geometry import Geometry
from ..values import Floats

_POINTS = 2**23
"""Of the lattice that the frontal area is counted on, at most."""
_ACROSS = 400
"""Of them along the longer side of the front, at most."""


def loaded(body: Any) -> dict[str, Geometry]:
    """The bodies of an argument by name: a path, a `Geometry`, or a dict of these.

    Raises:
        TypeError, ValueError, GeometryError, OSError: something else, no body, or a file that holds none.
    """
    given = body if isinstance(body, Mapping) else {"body": body}
    if not given:
        raise ValueError("body: an empty dict given, must have one body at least")
    return {checks.label("name of a body", name): _geometry(name, shape) for name, shape in given.items()}


def _geometry(name: str, shape: Any) -> Geometry:
    if isinstance(shape, str | os.PathLike):
        shape = Geometry.load(shape)
    if not isinstance(shape, Geometry):
        raise TypeError(f"body {name!r}: {checks.shown(shape)} given, must be a Geometry or the path of a file of one")
    if shape.dimensions != 3 or not np.isfinite(shape.bounds).all() or (shape.bounds[1] <= shape.bounds[0]).any():
        raise GeometryError(f"body {name!r}: {shape!r} given, must be of three dimensions, with an end along each")
    return shape


def bounds(bodies: Mapping[str, Geometry]) -> Floats:
    """The lowest and the highest corner of all bodies, ``(2, 3)``."""
    all_bounds = np.stack([body.bounds for body in bodies.values()])
    return np.stack([all_bounds[:, 0].min(axis=0), all_bounds[:, 1].max(axis=0)])


def moved(bodies: Mapping[str, Geometry], factor: float, shift: Floats) -> dict[str, Geometry]:
    """All bodies with lengths by a factor, then shifted."""
    return {name: body.moved(np.eye(3), factor, np.asarray(shift, np.float64)) for name, body in bodies.items()}


def frontal_area(bodies: Mapping[str, Geometry]) -> float:
    """The area of the shadow of all bodies along x, counted on a lattice of some 400 points across it."""
    low, high = bounds(bodies)
    size = high - low
    spacing = max(float(size[1:].max()) / _ACROSS, (float(np.prod(size)) / _POINTS) ** (1 / 3))
    count = [max(1, int(np.ceil(float(n) / spacing))) for n in size]
    shadow = np.zeros(count[1:], np.bool_)
    for body in moved(bodies, 1 / spacing, -low / spacing).values():
        for start in range(0, count[0], 32):
            thickness = min(32, count[0] - start)
            shadow |= body.solid((start, 0, 0), (thickness, *count[1:])).any(axis=0)
    if not shadow.any():
        raise GeometryError("body: it has no frontal area, must enclose something")
    return float(np.count_nonzero(shadow) * spacing**2)
