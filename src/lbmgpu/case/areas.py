"""The areas that heat from the bodies of a case is divided by, where their surfaces are known."""

from __future__ import annotations

import itertools

import numpy as np

from ..body import Body
from ..domain import FACES, Domain
from ..geometry.surface_area import surface_area

_MOST_CELLS = 2**24
"""Of a box about a body that is looked at for others that touch it; larger ones count as touched."""


def areas(domain: Domain, places: list[str]) -> dict[str, float | None]:
    """The area of each of some faces and bodies: of a geometry that touches no other body that of its surface; of all
    else None, which stands for the cells of a face and the steps of a body."""
    return {name: None if name in FACES else _area(domain, domain.bodies[name]) for name in places}


def _area(domain: Domain, body: Body) -> float | None:
    if body.geometry is None:
        return None
    area = surface_area(body.geometry, domain.shape, body.periodic)
    return None if area is None or _is_touched(domain, body) else area


def _is_touched(domain: Domain, body: Body) -> bool:
    """Whether a cell of another body is a neighbour of one of this body."""
    assert body.geometry is not None
    others = [other for other in domain.bodies.values() if other is not body]
    axes = []
    for low, high, n, is_periodic in zip(*body.geometry.bounds.tolist(), domain.shape, body.periodic, strict=True):
        first, last = (0, n) if np.isinf(high - low) else (int(np.floor(low)) - 2, int(np.ceil(high)) + 2)
        numbers = np.arange(first, min(last, first + n) if is_periodic else last)
        axes.append(numbers % n if is_periodic else numbers[(numbers >= 0) & (numbers < n)])
    if not others:
        return False
    if np.prod([float(len(axis)) for axis in axes]) > _MOST_CELLS:
        return True
    own = np.pad(body.within(axes), 1)
    nearby = np.zeros(tuple(len(axis) for axis in axes), np.bool_)
    for shift in itertools.product(range(3), repeat=len(axes)):
        nearby |= own[tuple(slice(k, k + n) for k, n in zip(shift, nearby.shape, strict=True))]
    return any((other.within(axes) & nearby).any() for other in others)
