"""What part of a geometry lies outside of a domain, where it has no cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .images import goes_on, periodic_axes

if TYPE_CHECKING:
    from .base import Geometry

_POINTS = {2: 96, 3: 24}
"""Along each axis, at which a geometry is looked at."""
_REST = 0.5
"""Cells beyond a periodic face that hold no centre of a cell."""
_MOST = {"periodic": 0.002, "no-slip": 1 / 3, "moving-wall": 1 / 3, "free-slip": 0.55}
"""Parts of a geometry that may be beyond a face, by the kind of its condition: bodies stand in walls, and on a plane of
symmetry half of one is meant. Beyond a periodic face rounding may tell points apart."""
_MOST_OF_OTHERS = 0.1


def cut_off(geometry: Geometry, shape: tuple[int, ...], faces: Mapping[str, Any]) -> list[str]:
    """What is to say of the parts of a geometry at rest that faces cut off, in words; nothing of a little of it, and
    nothing of what goes on at the other end of a periodic axis.

    Args:
        geometry: of the dimensions of the domain; of one without end, what is between its ends.
        shape: of the domain.
        faces: the condition on each face, by name.
    """
    texts = []
    for face, share in _beyond(geometry, shape, faces).items():
        axis, n = "xyz".index(face[1]), shape["xyz".index(face[1])]
        kind = faces[face].kind
        if share <= _MOST.get(kind, _MOST_OF_OTHERS):
            continue
        low, high = geometry.bounds[:, axis]
        if kind == "periodic" and (low >= n or high <= 0):
            texts.append(
                f"all of it is outside of the domain, beyond the periodic face {face!r}, where it has no cell: it is "
                f"from {low:.6g} to {high:.6g} along {face[1]}, the domain from 0 to {n}; translate it into the domain"
            )
        elif kind == "periodic":
            vector = [0] * len(shape)
            vector[axis] = n if face[0] == "-" else -n
            texts.append(
                f"{_percent(share)} of it is outside of the domain, beyond the periodic face {face!r}, and cut off: "
                "what is longer than the domain does not go on at the other end; to have it there too add "
                f"geometry | geometry.translate({tuple(vector)})"
            )
        else:
            texts.append(
                f"{_percent(share)} of it is outside of the domain, beyond the face {face!r}, and cut off; to have "
                "all of it move it with translate or scale, or fit it to a box"
            )
    return texts


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else "all"


def _beyond(geometry: Geometry, shape: tuple[int, ...], faces: Mapping[str, Any]) -> dict[str, float]:
    """The part of a geometry beyond each face that some is beyond, by points within its bounds; beyond a periodic face
    what it does not have at the other end too."""
    low, high = geometry.bounds
    ends = np.array(shape, dtype=np.float64)
    low, high = np.where(np.isfinite(low), low, np.minimum(0.0, high)), np.where(np.isfinite(high), high, ends)
    names = "xyz"[: len(shape)]
    leaves = [("-" + name, d) for d, name in enumerate(names) if low[d] < -_REST]
    leaves += [("+" + name, d) for d, name in enumerate(names) if high[d] > ends[d] + _REST]
    comes_back = goes_on(geometry, shape, periodic_axes(shape, faces))
    leaves = [(face, d) for face, d in leaves if not comes_back[d]]
    if not leaves:
        return {}
    n = _POINTS[len(shape)]
    axes = [a + (np.arange(n) + 0.5) / n * (b - a) for a, b in zip(low, high, strict=True)]
    points = np.stack([each.ravel() for each in np.meshgrid(*axes, indexing="ij")])
    within = np.asarray(geometry.inside(*points))
    is_solid = bool(within.any())  # else a sheet, or thinner than the distance of points: then the box about it counts
    points = points[:, within] if is_solid else points
    found = {}
    for face, d in leaves:
        outside = points[:, points[d] < 0 if face[0] == "-" else points[d] > ends[d]]
        count = outside.shape[1]
        if faces[face].kind == "periodic" and is_solid:
            outside[d] %= ends[d]
            count -= int(np.count_nonzero(geometry.inside(*outside)))
        elif faces[face].kind == "periodic" and [axis for _, axis in leaves].count(d) == 2:
            continue  # a sheet that takes the whole axis
        found[face] = count / points.shape[1]
    return found
