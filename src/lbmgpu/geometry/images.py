"""The images of a geometry beyond periodic faces: a body that leaves through one comes back at the other end."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .base import Geometry

_LINK = 1.0
"""Cells beyond the domain that its links reach, where the surface of an image may cut them."""
_CENTER = 0.5
"""Cells beyond the domain within which there is no centre of a cell."""


def periodic_axes(shape: Sequence[int], faces: Mapping[str, Any]) -> tuple[bool, ...]:
    """For each axis of a domain, whether its faces are periodic, by the condition on each."""
    return tuple(faces["-" + axis].kind == "periodic" for axis in "xyz"[: len(shape)])


def goes_on(geometry: Geometry, shape: Sequence[int], periodic: Sequence[bool]) -> tuple[bool, ...]:
    """For each axis, whether a geometry that leaves the domain along it comes back at the other end.

    So does one that is partly in the domain and at most as long as it. What is longer may be meant to be cut off, as a
    terrain of which the domain is a part, and what is beside the domain has been put there by mistake.
    """
    return tuple(
        bool(is_periodic and high - low <= n and low < n and high > 0)
        for low, high, n, is_periodic in zip(*geometry.bounds.tolist(), shape, periodic, strict=True)
    )


def images(geometry: Geometry, shape: Sequence[int], periodic: Sequence[bool]) -> list[tuple[int, ...]]:
    """By how much the images are shifted that have cells of the domain or cut its links; of the geometry itself 0."""
    along = []
    every = zip(*geometry.bounds.tolist(), shape, goes_on(geometry, shape, periodic), strict=True)
    for low, high, n, returns in every:
        along.append([0, *([n] if returns and low < _LINK else []), *([-n] if returns and high > n - _LINK else [])])
    return list(itertools.product(*along))


def crossed_faces(geometry: Geometry, shape: Sequence[int], periodic: Sequence[bool]) -> list[str]:
    """The periodic faces beyond which a geometry goes on at the other end of the domain, with centres of cells or as a
    sheet."""
    faces = []
    for d, continues in enumerate(goes_on(geometry, shape, periodic)):
        if continues and geometry.bounds[0, d] <= -_CENTER and _is_beyond(geometry, shape, d, last=False):
            faces.append("-" + "xyz"[d])
        if continues and geometry.bounds[1, d] >= shape[d] + _CENTER and _is_beyond(geometry, shape, d, last=True):
            faces.append("+" + "xyz"[d])
    return faces


def _is_beyond(geometry: Geometry, shape: Sequence[int], axis: int, *, last: bool) -> bool:
    """Whether a geometry whose bounds are beyond a face is there itself: bounds may be larger than what is in them."""
    if geometry.has_sheet:
        return True
    low, high = geometry.bounds
    first = np.floor(np.where(np.isfinite(low), low, 0.0)).astype(int)
    stop = np.ceil(np.where(np.isfinite(high), high, np.array(shape, np.float64))).astype(int)
    if last:
        first[axis] = shape[axis]
    else:
        stop[axis] = 0
    return bool(geometry.solid(first.tolist(), (stop - first).tolist()).any())
