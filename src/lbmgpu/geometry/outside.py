"""What part of a geometry lies outside of a domain, where it has no cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .base import Geometry

_POINTS = {2: 96, 3: 24}
"""Along each axis, at which a geometry is looked at."""
_REST = 0.5
"""Cells beyond a periodic face that hold no centre of a cell."""
_MOST = {"no-slip": 1 / 3, "moving-wall": 1 / 3, "free-slip": 0.55}
"""Parts of a geometry that may be beyond a face, by the kind of its condition: bodies stand in walls, and on a plane of
symmetry half of one is meant."""
_MOST_OF_OTHERS = 0.1


def cut_off(geometry: Geometry, shape: tuple[int, ...], faces: Mapping[str, Any]) -> list[str]:
    """What is to say of the parts of a geometry at rest that faces cut off, in words; nothing of a little of it.

    Args:
        geometry: of the dimensions of the domain; of one without end, what is between its ends.
        shape: of the domain.
        faces: the condition on each face, by name.
    """
    beyond = _beyond(geometry, shape)
    texts = []
    for face, share in beyond.items():
        axis, n = "xyz".index(face[1]), shape["xyz".index(face[1])]
        if faces[face].kind != "periodic":
            if share > _MOST.get(faces[face].kind, _MOST_OF_OTHERS):
                texts.append(
                    f"{_percent(share)} of it is outside of the domain, beyond the face {face!r}, and cut off; to have "
                    "all of it move it with translate or scale, or fit it to a box"
                )
            continue
        opposite = ("+" if face[0] == "-" else "-") + face[1]
        if opposite not in beyond:  # else it takes the whole axis
            vector = [0] * len(shape)
            vector[axis] = n if face[0] == "-" else -n
            texts.append(
                f"{_percent(share)} of it is outside of the domain, beyond the periodic face {face!r}, and cut off: a "
                "body at rest does not go on at the other end; to have it there too add "
                f"geometry | geometry.translate({tuple(vector)})"
            )
    return texts


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else "all"


def _beyond(geometry: Geometry, shape: tuple[int, ...]) -> dict[str, float]:
    """The part of a geometry beyond each face that some is beyond, by points within its bounds."""
    low, high = geometry.bounds
    ends = np.array(shape, dtype=np.float64)
    low, high = np.where(np.isfinite(low), low, np.minimum(0.0, high)), np.where(np.isfinite(high), high, ends)
    names = "xyz"[: len(shape)]
    leaves = [("-" + name, d) for d, name in enumerate(names) if low[d] < -_REST]
    leaves += [("+" + name, d) for d, name in enumerate(names) if high[d] > ends[d] + _REST]
    if not leaves:
        return {}
    n = _POINTS[len(shape)]
    axes = [a + (np.arange(n) + 0.5) / n * (b - a) for a, b in zip(low, high, strict=True)]
    within: NDArray[np.bool_] = np.asarray(geometry.inside(*np.meshgrid(*axes, indexing="ij")))
    if not within.any():  # a sheet, or what is thinner than the distance of points
        within = np.ones_like(within)
    found = {}
    for face, d in leaves:
        outside = axes[d] < 0 if face[0] == "-" else axes[d] > ends[d]
        count = int(np.count_nonzero(within.compress(outside, axis=d)))
        found[face] = max(count, 1) / int(np.count_nonzero(within))
    return found
